// Package takeback finds the lines of a change that a later change takes back,
// such as a whole file that was written from an older version.
//
// It compares texts. It knows no commit, no patch and no path.
package takeback
