package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestToolsOnClones runs the script about tools with workspaces that are clones,
// on a disk that makes them.
func TestToolsOnClones(t *testing.T) {
	t.Parallel()
	mkfs, err := exec.LookPath("mkfs.btrfs")
	if err != nil || os.Getuid() != 0 {
		t.Skipf("it needs root and mkfs.btrfs: %v", err)
	}
	p := scriptParams()
	p.Files = []string{filepath.Join("testdata", "script", "tools_private.txtar")}
	p.Setup = func(env *testscript.Env) error {
		if err := setupScript(env); err != nil {
			return err
		}
		env.Setenv("TOOLS_BACKEND", "reflink")
		image, state := filepath.Join(env.WorkDir, "image"), env.Getenv("SWARM_STATE_DIR")
		if err := errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, 1<<30), os.Mkdir(state, 0o700)); err != nil {
			return err
		}
		if out, err := exec.CommandContext(t.Context(), mkfs, "-q", image).CombinedOutput(); err != nil {
			return fmt.Errorf("mkfs: %w: %s", err, out)
		}
		if out, err := exec.CommandContext(t.Context(), "mount", "-o", "loop", image, state).CombinedOutput(); err != nil {
			env.T().Skip("no disk can be mounted from a file here:", string(out))
		}
		env.Defer(func() {
			endBelow(env.WorkDir)
			if err := syscall.Unmount(state, 0); err != nil {
				t.Errorf("unmount the disk that clones: %v", err)
			}
		})
		return nil
	}
	testscript.Run(t, p)
}
