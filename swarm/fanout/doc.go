// Package fanout is the workflow behind `swarm run "PROMPT"`, --count and
// --each: it finds the items in the base, fills placeholders and turns one
// instruction into calls.
//
// It is pure. It starts nothing and reads nothing but the list of files it is
// given; whoever runs it hands the calls to the engine.
package fanout
