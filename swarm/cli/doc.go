// Package cli is the command line of swarm. Its folders have the commands, by the job
// that they do.
//
// It owns the list of commands and how a command is run (app.go), completion
// (complete.go), and help (help.go, man.go). Package argv reads the words. Stdout is for
// results, stderr for people.
//
// It does not do the work. A command parses, asks the engine, the store or
// git, and prints; no rule about agents, patches or money lives here. It reads
// no global: arguments, environment, folders and streams come in with [Env].
package cli
