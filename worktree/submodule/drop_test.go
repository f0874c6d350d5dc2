package submodule

import (
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
	r := DropRequest{Repo: repo, Run: "refs/swarm/k3x9q2/", Message: "drop", DryRun: true, Since: time.Now().Add(-time.Hour)}
	for range 2 { // a dry run changes nothing
		dropped, kept, err := Drop(t.Context(), r)
		if err != nil || names(dropped) != gone || names(kept) != stay {
			t.Fatalf("Drop = %q, kept %q, %v; want %q, kept %q", names(dropped), names(kept), err, gone, stay)
		}
		r.DryRun = false
	}
	if got := run(a, "for-each-ref", "--format=%(refname)", "refs/swarm"); got != "refs/swarm/k3x9q2/landed/needed\nrefs/swarm/other0/landed/x" {
		t.Errorf("a/sub has %q", got)
	}
	r.Since = time.Now().Add(time.Hour)
	if dropped, kept, err := Drop(t.Context(), r); err != nil || names(dropped) != stay || len(kept) > 0 {
		t.Errorf("with a run that began later: %q, kept %q, %v", names(dropped), names(kept), err)
	}
}
