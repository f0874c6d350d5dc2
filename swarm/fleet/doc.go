// Package fleet owns scripted agents: a [script.Host] whose agents, checks and
// people answer from a test file, and the test of a script against them.
//
// It starts nothing, reads no file and waits for nothing: time is a count of
// ticks that moves to the next event. The same script and the same file always
// give the same report. swarm/script defines scripts and runs them.
package fleet
