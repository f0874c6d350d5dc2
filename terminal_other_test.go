//go:build !linux

package main

import "errors"

// onTerminal is what scripts skip on systems other than Linux.
func onTerminal(string, []string, []string) ([]byte, error) {
	return nil, errors.New("no terminal can be had here")
}

// hasLandlock reports that Landlock is a part of Linux.
func hasLandlock() bool { return false }
