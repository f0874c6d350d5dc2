// Package compare measures the landing queue beside other ways to land patches: in
// sequence, by halving of batches, and by speculation on chains.
//
// The verdicts are scripted: they follow from the set of bad patches. All other code
// is that of package queue. No check runs, and equal seeds give equal figures.
package compare
