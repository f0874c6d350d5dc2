// Package lab measures the effect of the variants. It has agents do the tasks
// of a failure mode with and without the variant, records their actions as
// transcripts, and compares the measures of both.
//
// It owns the choice of the agents to run, the form of a transcript, and the
// report. It starts agents only as a user would, by commands of its caller, and
// knows nothing of the engine. The measures, and the comparison of numbers, are
// in the packages below it.
package lab
