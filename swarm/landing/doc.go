// Package landing owns the rules about landing the patches of a run: which ones a
// merge takes, which command comes next, the messages, trailers and authors of the
// commits, and the [Gate] that merges and verifies sets of patches for the landing
// queue.
//
// It moves no branch and prints nothing. Package queue decides which patches pass
// together, and package lander carries landings out.
package landing
