// Package landing says what the commits of a merge are called and who they are
// by.
//
// It merges nothing and moves no branch: package merge does.
package landing
