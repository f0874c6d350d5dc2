package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"agentswarm/internal/testing/campaign"
	"agentswarm/worktree"
)

func scriptsDir() string { return filepath.Join("testdata", "script") }

// workspaceScripts are scripts about the files of a workspace. The campaign
// backends runs them on each backend.
var workspaceScripts = []string{
	"gc_trash", "hook_derived", "resume_what", "retry_feedback", "run_each", "run_prompt", "run_setup_verify",
	"run_with_changes", "run_worktreeinclude", "script_api", "script_shared", "tools_private",
}

// gateWorkspaceScripts are those of workspaceScripts that the gate runs on each
// backend: files carried into a workspace, captured from it, and kept after it.
var gateWorkspaceScripts = []string{"gc_trash", "resume_what", "run_prompt", "run_with_changes", "run_worktreeinclude"}

// TestScriptsOverlay runs scripts once more with the sandbox and with
// workspaces in overlays, which is the default of users. A script has its lines
// for them behind [overlay]; a script on which they have no effect skips.
func TestScriptsOverlay(t *testing.T) {
	t.Parallel()
	if ok, err := scriptCondition("overlays", worktree.Overlay); !ok || err != nil {
		t.Skip("no sandbox with overlays can be set up here", err)
	}
	params := scriptParams(worktree.Overlay)
	params.Files = overlayScripts(t)
	testscript.Run(t, params)
}

// overlayScripts returns the paths of all scripts in a campaign. In the gate it
// returns those about workspaces, and those that mention overlays.
func overlayScripts(t *testing.T) []string {
	all, err := filepath.Glob(filepath.Join(scriptsDir(), "*.txtar"))
	if err != nil || len(all) == 0 {
		t.Fatalf("no scripts in %s: %v", scriptsDir(), err)
	}
	if campaign.Running(t) {
		return all
	}
	return slices.DeleteFunc(all, func(path string) bool {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		about := slices.Contains(gateWorkspaceScripts, name) || bytes.Contains(text, []byte("overlay]"))
		return !about || bytes.Contains(text, []byte("[!worktree] skip"))
	})
}

// setupBackend says how workspaces are made. A linked worktree has no
// sandbox, as in early versions. In a sandbox agents speak to
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
