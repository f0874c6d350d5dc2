// Package configcmd has the commands that configure swarm and show what it found: config, init,
// setup, agents, models, roles, doctor.
package configcmd
