// Package cli is the command line of swarm: one file per command, and the
// ground they stand on.
//
// It owns how words are read (argv.go), how a command is found and run
// (app.go), what is said about errors and with which exit code (exit.go), help
// texts (help.go), and how text is made fit for a terminal (term.go,
// progress.go, table.go, human.go). Stdout is for results, stderr for people.
//
// It does not do the work. A command parses, asks the engine, the store or
// git, and prints; no rule about agents, patches or money lives here. It reads
// no global: arguments, environment, folders and streams come in with [Env].
package cli
