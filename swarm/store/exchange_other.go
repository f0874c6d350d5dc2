//go:build !linux

package store

import "errors"

// exchange is not there on this system.
func exchange(_, _ string) error { return errors.ErrUnsupported }
