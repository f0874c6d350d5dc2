// Package configcmd has the commands that configure swarm and show its
// findings: config, init, setup, agents, models, roles, doctor.
package configcmd
