// Package compare measures the landing queue beside other ways to land patches: one
// at a time, halving of batches, and speculation on chains.
//
// The verdicts are scripted: they follow from which patches are bad. Everything else
// is the code of package queue. Nothing runs, and equal seeds give equal figures.
package compare
