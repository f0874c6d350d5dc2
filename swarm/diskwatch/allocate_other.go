//go:build !linux

package diskwatch

import (
	"errors"
	"os"
)

// allocate fails: nothing here takes space without writing it.
func allocate(*os.File, int64) error { return errors.ErrUnsupported }
