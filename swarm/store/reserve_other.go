//go:build !linux

package store

import (
	"errors"
	"os"
)

// allocate has no portable form: without it a full disk stops the journal at
// the first record that finds no room, which is then an error.
func allocate(*os.File, int64, int64) error { return errors.ErrUnsupported }
