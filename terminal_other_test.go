//go:build !linux

package main

import "errors"

// onTerminal has no implementation on systems other than Linux, where scripts
// skip it.
func onTerminal(string, []string, []string) ([]byte, error) {
	return nil, errors.New("no terminal can be had here")
}

// hasLandlock reports that Landlock is a part of Linux.
func hasLandlock() bool { return false }
