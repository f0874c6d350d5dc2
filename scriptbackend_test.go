package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"agentswarm/worktree"
)

func scriptsDir() string { return filepath.Join("testdata", "script") }

// TestScriptsOverlay runs the scripts once more with what users have by
// default: walls, and workspaces in overlays. What a script has to say of that
// is behind [overlay]; one to which it makes no difference says so and skips.
func TestScriptsOverlay(t *testing.T) {
	t.Parallel()
	if ok, err := scriptCondition("mounts", worktree.Overlay); !ok || err != nil {
		t.Skip("no walls can be put up here", err)
	}
	params := scriptParams(worktree.Overlay)
	params.Dir = scriptsDir()
	testscript.Run(t, params)
}

// setupBackend says how workspaces are made. A linked worktree stands without
// walls, as everything did before there were any. Behind walls agents speak to
// their scripts by files in $SIGNALS, a folder that is open to all of them.
// $PLACE is a pattern of where a1 works, and $FILES the folder below its
// workspace in which its files lie on disk.
func setupBackend(env *testscript.Env, backend worktree.Backend) error {
	signals := filepath.Join(env.WorkDir, "signals")
	env.Setenv("SIGNALS", signals)
	env.Setenv("SWARM_BACKEND", string(backend))
	env.Setenv("SWARM_SANDBOX", "off")
	env.Setenv("PLACE", placeOf(env, backend))
	env.Setenv("FILES", map[worktree.Backend]string{
		worktree.Linked: ".", worktree.Overlay: "up", worktree.Reflink: "tree", worktree.Copied: "tree",
	}[backend])
	if err := os.MkdirAll(signals, 0o700); err != nil || backend == worktree.Linked {
		return err
	}
	env.Setenv("SWARM_SANDBOX", "auto")
	return openTo(filepath.Join(env.WorkDir, "home"), signals)
}

// openTo adds to the configuration in a HOME that agents may write to a folder.
func openTo(home, folder string) error {
	config := filepath.Join(home, ".config", "swarm", "config.toml")
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(config, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "\n[sandbox]\nwrite = [%q]\n", folder)
	return errors.Join(err, f.Close())
}

// placeOf is a pattern of where the first attempt of a1 finds itself.
func placeOf(env *testscript.Env, backend worktree.Backend) string {
	if backend != worktree.Linked {
		return regexp.QuoteMeta(filepath.Join(env.WorkDir, "repo"))
	}
	return regexp.QuoteMeta(env.WorkDir) + `/state/repo-[0-9a-f]+/trees/[a-z0-9]{6}/a1\.1`
}
