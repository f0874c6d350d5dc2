// Package riskcmd has the commands of `swarm risk`, which show the reading of a
// command line, the rules and grants in force, and past decisions.
package riskcmd
