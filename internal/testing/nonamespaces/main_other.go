//go:build !linux

// Command nonamespaces runs a command without user namespaces, which only
// Linux has.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "nonamespaces: this system has no seccomp filters")
	os.Exit(99)
}
