// Package argv reads the words of a command line: it finds the command, checks its flags and their
// values, and proposes the nearest name for an unknown word. It runs no command.
package argv
