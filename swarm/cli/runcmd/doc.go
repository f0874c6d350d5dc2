// Package runcmd has the commands that start agents: run, resume, retry. It drives a run from
// its plan to its end, tells a person about it, and merges it where that was asked for.
package runcmd
