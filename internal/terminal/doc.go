// Package terminal draws for people: the abilities of an output stream, styles,
// tables, and the modes that a program left a terminal in.
package terminal
