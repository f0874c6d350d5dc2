// Package takeback finds the lines of one change that a later change takes back,
// as a whole file does that was written from an older version.
//
// It compares texts. It knows no commit, no patch and no path.
package takeback
