// Package landing owns the rules about landing the patches of a run: which ones a
// merge takes, which command comes next, and the messages, trailers and authors of
// the commits.
//
// It merges nothing, moves no branch and prints nothing: package merge merges, and
// swarm/cli words the outcome.
package landing
