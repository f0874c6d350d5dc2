//go:build !linux

package worktree

import (
	"errors"
	"os"
)

// cloneFile fails: the content is copied.
func cloneFile(_, _ *os.File) error { return errors.ErrUnsupported }
