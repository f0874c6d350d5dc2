//go:build !linux

package git

import (
	"errors"
	"os"
)

// Reflink fails: the content is copied.
func Reflink(_, _ *os.File) error { return errors.ErrUnsupported }
