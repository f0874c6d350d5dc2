// Package terminal draws for people: what an output stream can do, styles, tables, and
// the modes that a program left a terminal in.
package terminal
