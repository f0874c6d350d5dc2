// Package landing owns the messages, trailers and authors of the commits of a
// merge.
//
// It merges nothing and moves no branch: package merge does.
package landing
