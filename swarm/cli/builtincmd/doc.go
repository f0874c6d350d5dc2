// Package builtincmd has the command builtin, which runs the built-in agent outside of a run: its
// model, its prompt, and the gate that asks a person about its actions.
package builtincmd
