//go:build !linux

package worktree

import (
	"errors"
	"testing"

	"agentswarm/worktree/precheck"
)

// apart skips a backend that needs mounts: this system has none.
func apart(t *testing.T, b Backend) bool {
	t.Helper()
	if err := precheck.Refuses(b, precheck.Surroundings{At: t.TempDir(), State: t.TempDir()}); b != Linked && err != nil {
		t.Skip(err)
	}
	return false
}

// overlays reports that no overlay can be had.
func overlays(*testing.T) bool { return false }

func mountAll([]Mount) error { return errors.New("nothing can be mounted here") }

func unmountAll(all []Mount) error {
	if len(all) == 0 {
		return nil
	}
	return mountAll(all)
}
