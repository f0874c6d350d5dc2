// Package handback gives the patches that a merge left out back: once to the conversation
// in which they were made, then once to a neutral agent of the role slow, then to the
// person. It decides who gets a patch, writes the brief, and merges the results.
//
// It starts no process: package lander merges and verifies, and a [Runner] runs attempts.
package handback
