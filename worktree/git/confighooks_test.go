package git

import (
	"strings"
	"testing"
)

// TestConfiguredHooksAreOff: each hook that a configuration names, and each event, is
// switched off for every git that runs on the repository afterwards. The git of the
// test may be too old to run such hooks, so its configuration is read.
func TestConfiguredHooksAreOff(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	names := []string{"mine", "team.Guard", "lint staged", "a=b", "post-index-change"}
	for _, name := range names {
		g.git("config", "hook."+name+".event", "post-index-change")
		g.git("config", "hook."+name+".command", "true")
		g.git("config", "hook."+name+".enabled", "true")
	}
	r := g.repo()
	g.ok(r.Git.findHooks(t.Context(), r))
	for _, name := range append(names, hookEvents()...) {
		out, err := r.Run(t.Context(), Cmd{Args: []string{"config", "--type=bool", "hook." + name + ".enabled"}})
		if err != nil || strings.TrimSpace(string(out)) != "false" {
			t.Errorf("hook.%s.enabled is %q, %v; want false", name, out, err)
		}
	}
}

// TestDiscoverFindsHooks: a repository whose git runs configured hooks has them off
// from the first call on.
func TestDiscoverFindsHooks(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	g.git("config", "--global", "hook.mine.command", "true")
	r := g.repo()
	version, err := r.Git.Version(t.Context())
	g.ok(err)
	args := strings.Join(r.Git.arguments(Cmd{}), " ")
	if off := strings.Contains(args, "hook.mine.enabled"); off == older(version, configHooks) {
		t.Errorf("git %s: the hook is switched off: %t; the options are %s", version, off, args)
	}
}

// TestFindHooksBeforeARepository: a hook of the user's own configuration is off for the
// gits that make a repository.
func TestFindHooksBeforeARepository(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	g.git("config", "--global", "hook.mine.command", "true")
	made := New(g.environ())
	dir := t.TempDir()
	if args := strings.Join(made.arguments(Cmd{}), " "); strings.Contains(args, "hook.") {
		t.Fatalf("nothing was looked up, and the options are %s", args)
	}
	g.ok(made.findHooksAt(t.Context(), dir))
	if args := strings.Join(made.arguments(Cmd{}), " "); !strings.Contains(args, "hook.mine.enabled") {
		t.Errorf("the hook is not switched off: the options are %s", args)
	}
	version, err := made.Version(t.Context())
	g.ok(err)
	made = New(g.environ())
	g.ok(made.FindHooks(t.Context(), dir))
	if off := strings.Contains(strings.Join(made.arguments(Cmd{}), " "), "hook.mine.enabled"); off == older(version, configHooks) {
		t.Errorf("git %s: the hook is switched off: %t", version, off)
	}
}
