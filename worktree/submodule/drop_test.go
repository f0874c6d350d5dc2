package submodule

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentswarm/worktree/git"
)

// TestDrop: the refs of a run in submodules go, but for those that alone hold a
// commit which the repository records.
func TestDrop(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, env := filepath.Join(top, "repo"), []string{"PATH=" + os.Getenv("PATH"), "HOME=" + top, "GIT_CONFIG_NOSYSTEM=1"}
	run := func(in string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=u", "-c", "user.email=u", "-c", "protocol.file.allow=always"}, args...)...)
		cmd.Dir, cmd.Env = in, env
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	for _, name := range []string{"lib", "repo"} {
		run(top, "init", "-q", "-b", "main", name)
		run(filepath.Join(top, name), "commit", "-q", "--allow-empty", "-m", "first")
	}
	run(dir, "submodule", "--quiet", "add", filepath.Join(top, "lib"), "a/sub")
	run(dir, "submodule", "--quiet", "add", filepath.Join(top, "lib"), "old")
	run(dir, "commit", "-qm", "subs")
	// A submodule of an old git has its git dir in the checkout.
	old, a := filepath.Join(dir, "old"), filepath.Join(dir, "a/sub")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Remove(filepath.Join(old, ".git")))
	must(os.Rename(filepath.Join(dir, ".git/modules/old"), filepath.Join(old, ".git")))
	run(dir, "config", "-f", filepath.Join(old, ".git/config"), "--unset", "core.worktree")

	// made is a commit that only a ref of a run holds.
	made := func(in, name string) string {
		commit := run(in, "commit-tree", "-p", "HEAD", "-m", name, "HEAD^{tree}")
		run(in, "update-ref", "refs/swarm/k3x9q2/landed/"+name, commit)
		return commit
	}
	record := func(path, commit, ref string) {
		run(dir, "update-index", "--cacheinfo", "160000,"+commit+","+path)
		run(dir, "update-ref", ref, run(dir, "commit-tree", "-p", "HEAD", "-m", "links", run(dir, "write-tree")))
		run(dir, "read-tree", "HEAD")
	}
	made(a, "free")
	made(old, "free")
	run(a, "update-ref", "refs/heads/kept", made(a, "branch"))
	record("a/sub", run(a, "rev-parse", "kept"), "refs/heads/one")
	record("a/sub", made(a, "needed"), "refs/heads/two")
	record("old", made(old, "needed"), "refs/heads/three")
	record("a/sub", made(a, "own"), "refs/swarm/k3x9q2/a/a1/1")
	run(a, "update-ref", "refs/swarm/other0/landed/x", made(a, "other"))

	repo, err := git.New(env).Discover(t.Context(), dir)
	must(err)
	names := func(all []Held) string {
		var text []string
		for _, h := range all {
			text = append(text, filepath.Base(h.GitDir)+":"+strings.TrimPrefix(h.Ref, "refs/swarm/k3x9q2/landed/"))
		}
		return strings.Join(text, " ")
	}
	const gone, stay = "sub:branch sub:free sub:other sub:own .git:free", "sub:needed .git:needed"
	modules, failed, err := All(t.Context(), repo)
	if err != nil || len(failed) > 0 {
		t.Fatalf("All: failed %v, %v", failed, err)
	}
	r := DropRequest{Repo: repo, Modules: modules, Run: "refs/swarm/k3x9q2/", Message: "drop", DryRun: true, Since: time.Now().Add(-time.Hour)}
	for range 2 { // a dry run changes nothing
		all, err := Drop(t.Context(), r)
		if err != nil || names(all.Dropped) != gone || names(all.Kept) != stay || len(all.Failed) > 0 {
			t.Fatalf("Drop = %+v, %v; want %q, kept %q", all, err, gone, stay)
		}
		r.DryRun = false
	}
	if got := run(a, "for-each-ref", "--format=%(refname)", "refs/swarm"); got != "refs/swarm/k3x9q2/landed/needed\nrefs/swarm/other0/landed/x" {
		t.Errorf("a/sub has %q", got)
	}
	r.Since = time.Now().Add(time.Hour)
	if all, err := Drop(t.Context(), r); err != nil || names(all.Dropped) != stay || len(all.Kept)+len(all.Failed) > 0 {
		t.Errorf("with a run that began later: %+v, %v", all, err)
	}
}

// TestDropGoesOn: a damaged submodule and a ref to a missing object stay, and are
// named. The other refs go.
func TestDropGoesOn(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + top, "GIT_CONFIG_NOSYSTEM=1"}
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=u", "-c", "user.email=u"}, args...)...)
		cmd.Dir, cmd.Env = top, env
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	write := func(text string, path ...string) {
		t.Helper()
		at := filepath.Join(append([]string{top}, path...)...)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	const modules, ref = "repo/.git/modules", "refs/swarm/k3x9q2/landed/x"
	run("init", "-q", "repo")
	for _, name := range []string{"a-lost", "b-whole", "c-damaged"} {
		git := "--git-dir=" + filepath.Join(top, modules, name)
		run("init", "-q", "--bare", filepath.Join(top, modules, name))
		commit := run(git, "commit-tree", "-m", "x", run(git, "hash-object", "-w", "-t", "tree", os.DevNull))
		run(git, "update-ref", ref, commit)
	}
	write(strings.Repeat("1", 40)+"\n", modules, "a-lost", "refs/swarm/k3x9q2/landed/lost")
	repo, err := git.New(env).Discover(t.Context(), filepath.Join(top, "repo"))
	if err != nil {
		t.Fatal(err)
	}
	names := func(held []Held, failed []Failed) string {
		var text []string
		for _, h := range held {
			text = append(text, filepath.Base(h.GitDir)+":"+filepath.Base(h.Ref))
		}
		for _, f := range failed {
			text = append(text, filepath.Base(f.GitDir)+" failed")
		}
		return strings.Join(text, " ")
	}
	drop := func() string {
		t.Helper()
		all, unread, err := All(t.Context(), repo)
		if err != nil {
			t.Fatal(err)
		}
		d, err := Drop(t.Context(), DropRequest{Repo: repo, Modules: all, Run: "refs/swarm/k3x9q2/", Message: "drop"})
		if err != nil {
			t.Fatal(err)
		}
		return names(d.Dropped, append(d.Failed, unread...))
	}
	if got, want := drop(), "a-lost:x b-whole:x c-damaged:x a-lost failed"; got != want {
		t.Errorf("with a ref to a missing object: %q, want %q", got, want)
	}
	// A damaged submodule could record the commits of its own submodules only: their
	// refs stay.
	write("ref: refs/heads/main\n", modules, "d-damaged/HEAD")
	for _, name := range []string{"b-whole", "d-damaged/modules/inner"} {
		git := "--git-dir=" + filepath.Join(top, modules, name)
		run("init", "-q", "--bare", filepath.Join(top, modules, name))
		run(git, "update-ref", ref, run(git, "commit-tree", "-m", "y", run(git, "hash-object", "-w", "-t", "tree", os.DevNull)))
	}
	if got, want := drop(), "b-whole:x a-lost failed d-damaged failed inner failed"; got != want {
		t.Errorf("with a damaged submodule: %q, want %q", got, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := All(ctx, repo); !errors.Is(err, context.Canceled) {
		t.Errorf("All with a cancelled context: %v", err)
	}
	if _, err := Drop(ctx, DropRequest{Repo: repo, Modules: []*git.Repo{repo}, Run: "refs/swarm/k3x9q2/", Message: "drop"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Drop with a cancelled context: %v", err)
	}
}
