// Package fleet owns scripted agents: a [script.Host] whose agents, checks and
// people answer as a test file says, and the test of a script against them.
//
// It starts nothing, reads no file and waits for nothing: time is a count of
// ticks that moves to the next thing that is due. The same script and the same
// file always give the same report. What a script is, and how it is run, is
// for swarm/script to say.
package fleet
