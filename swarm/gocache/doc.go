// Package gocache serves a build cache to the go command by the protocol of
// GOCACHEPROG (go doc cmd/go/internal/cacheprog, Go 1.24 and later).
//
// Entries are looked up in a folder of their own, and then in further ones that
// are only read, such as the GOCACHE of the user. New entries go into the own
// folder. All folders have the layout of the go command, so that programs which
// read GOCACHE themselves share them. Many processes may use a folder at once.
//
// The package does not decide who gets which folders, and it removes no entries.
// A damaged entry is a miss: the go command makes it again.
package gocache
