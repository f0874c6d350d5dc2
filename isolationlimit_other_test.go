//go:build !linux

package main

import "errors"

// relimit needs prlimit, which only Linux has.
func relimit(int) error { return errors.ErrUnsupported }
