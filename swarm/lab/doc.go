// Package lab finds out what the variants are good for: it has agents do the
// tasks of a failure mode with and without the variant, records what they did
// as transcripts, and compares the measures of both.
//
// It owns which agents are to be run, the form of a transcript, and the report.
// It starts agents only as a user would, by commands that it is handed, and
// knows nothing of the engine. What is measured, and how numbers are compared,
// is in the packages below it.
package lab
