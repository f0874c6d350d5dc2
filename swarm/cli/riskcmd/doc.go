// Package riskcmd has the commands of `swarm risk`: what a command line means, which rules
// and grants hold, and what was decided.
package riskcmd
