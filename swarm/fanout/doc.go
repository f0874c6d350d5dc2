// Package fanout is the workflow behind `swarm run "PROMPT"`, --count, --each
// and lists of tasks: it finds the items in the base, reads tasks, fills
// placeholders and turns an instruction, or each of many, into calls.
//
// It is pure. It starts nothing and reads nothing but the list of files and the
// text it is given; the caller hands the calls to the engine.
package fanout
