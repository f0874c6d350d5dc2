package isolation

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"agentswarm/swarm/box"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/project"
	"agentswarm/swarm/store"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

// TestMountedAt checks that no agent works in the user's checkout where its
// workspace cannot be mounted over that.
func TestMountedAt(t *testing.T) {
	t.Parallel()
	const root = "/home/u/repo"
	for level, want := range map[box.Level]string{
		box.None: "", box.Landlock: "", box.NoOverlayOldProc: root, box.NoOverlay: root, box.OldProc: root, box.Full: root,
	} {
		e := &Executor{Project: &project.Project{Repo: &git.Repo{TopLevel: root}}, Found: Found{Level: level}}
		if got := e.MountedAt(); got != want {
			t.Errorf("MountedAt() on %s = %q, want %q", level, got, want)
		}
	}
}

// TestSandboxWithoutMounts checks a workspace that was leased where it could be
// mounted, as before a restart of the machine.
func TestSandboxWithoutMounts(t *testing.T) {
	t.Parallel()
	for _, level := range []box.Level{box.None, box.Landlock} {
		for _, sandbox := range []string{"", SandboxOff} {
			e := &Executor{Found: Found{Level: level}, Settings: Settings{Sandbox: sandbox}}
			w := worktree.Workspace{Name: "a1.1", Backend: worktree.Reflink, At: "/home/u/repo"}
			if got, err := e.Sandbox(engine.SandboxRequest{Workspace: w, Private: t.TempDir()}); err == nil {
				t.Errorf("walls(%s, sandbox %q) = %s, want an error", level, sandbox, got.Sandbox)
			}
		}
	}
}

// TestPossibleByCaches: an overlay would hide a cache that lies in the checkout.
func TestPossibleByCaches(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, cache := filepath.Join(dir, "repo"), filepath.Join(dir, "repo/.cache/go")
	if err := os.MkdirAll(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{cache: true, dir: false, "": false, filepath.Join(root, "missing"): false} {
		p := &project.Project{
			Repo: &git.Repo{TopLevel: root}, State: &store.State{Dir: filepath.Join(dir, "state")},
			Getenv: func(key string) string { return map[string]string{"GOCACHE": name}[key] },
		}
		if err := Possible(p, box.Full, worktree.Overlay); (err != nil) != want {
			t.Errorf("Possible(overlay) with a cache at %q: %v, want an error: %t", name, err, want)
		}
	}
}

// TestSandboxSealed: a sealed mount of any kind cannot be written to.
func TestSandboxSealed(t *testing.T) {
	t.Parallel()
	for _, m := range []worktree.Mount{{At: "/r", From: "/w", Write: true}, {At: "/r", Lower: []string{"/b"}, Upper: "/u", Work: "/k"}} {
		for _, sealed := range []bool{false, true} {
			p := pieceOf(m, sealed)
			if writes := p.Write || len(p.Lower) > 0 && !p.Sealed; writes == sealed {
				t.Errorf("pieceOf(%+v, %t) = %+v", m, sealed, p)
			}
		}
	}
}

// TestClosed: agents write neither to objects that the repository borrows nor to the
// configuration of the user, of which swarm runs the commands without a question.
func TestClosed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, common, lender := filepath.Join(dir, "repo"), filepath.Join(dir, "common"), filepath.Join(dir, "lender", "objects")
	for _, path := range []string{filepath.Join(common, "objects", "info"), filepath.Join(lender, "info"), filepath.Join(lender, "pack")} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(common, "objects", "info", "alternates"), []byte(lender+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"XDG_CONFIG_HOME": filepath.Join(dir, "config")}
	e := &Executor{Project: &project.Project{
		Repo: &git.Repo{TopLevel: root, CommonDir: common}, Getenv: func(key string) string { return env[key] },
	}}
	all := closed(e.Project)
	for _, want := range []string{root, common, lender, filepath.Join(dir, "config", "swarm")} {
		if !slices.Contains(all, want) {
			t.Errorf("closed are %q, without %s", all, want)
		}
	}
}

// TestHomeApart checks that agents have a separate HOME where the sandbox
// cannot mount over the user's, as with a file system that is mounted in it. A
// later mount takes the files of earlier steps from no attempt.
func TestHomeApart(t *testing.T) {
	t.Parallel()
	state := store.Open(t.TempDir(), "repo", "/repo/.git")
	const id = "abc234"
	if err := os.MkdirAll(filepath.Join(state.Dir, "runs", id), 0o700); err != nil {
		t.Fatal(err)
	}
	run, err := state.Run(id)
	if err != nil {
		t.Fatal(err)
	}
	const mounted = "/dev" // other file systems are mounted below it
	private := func(folders ...string) string {
		dir := t.TempDir()
		for _, name := range folders {
			if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	scratched := private()
	if _, err := run.MakeScratch(scratched); err != nil {
		t.Fatal(err)
	}
	bySetup, byAgent := private(SetupLayers+"/home"), private("home")
	refused := errors.Join(&box.ViewRefusal{Err: errors.New("another file system is mounted at /h/m")})
	for _, tt := range []struct {
		level   box.Level
		why     error
		home    string
		step    engine.Step
		private string
		want    bool
		later   bool
	}{
		{box.Full, nil, private(), engine.AgentStep, private(), false, false},
		{box.OldProc, errors.New("no new /proc"), private(), engine.AgentStep, private(), false, false},
		{box.Full, refused, private(), engine.AgentStep, private(), true, false},
		{box.NoOverlay, nil, private(), engine.AgentStep, private(), true, false},
		{box.NoOverlayOldProc, nil, private(), engine.AgentStep, private(), true, false},
		{box.Landlock, nil, mounted, engine.AgentStep, private(), true, false},
		{box.None, nil, mounted, engine.AgentStep, private(), false, false},
		{box.Full, nil, mounted, engine.SetupStep, private(), true, true},
		{box.Full, nil, mounted, engine.AgentStep, private(), true, true},
		{box.Full, nil, private(), engine.AgentStep, scratched, true, false},
		{box.Full, nil, mounted, engine.AgentStep, bySetup, false, false},
		{box.Full, nil, mounted, engine.CheckStep, bySetup, false, false},
		{box.Full, nil, mounted, engine.AgentStep, byAgent, false, false},
		{box.Full, nil, mounted, engine.CheckStep, byAgent, true, true},
	} {
		e := &Executor{
			Found: Found{Level: tt.level, Why: tt.why}, Run: run,
			Project: &project.Project{State: state, Getenv: func(string) string { return tt.home }},
		}
		got, later := e.homeApart(engine.SandboxRequest{Step: tt.step, Private: tt.private})
		if got != tt.want || (later != nil) != tt.later {
			t.Errorf("%v, %v: %t, %v, want %t", tt, e.Why, got, later, tt.want)
		}
	}
}
