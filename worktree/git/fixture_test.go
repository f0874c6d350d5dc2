package git

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fixture is a repository of a user with a HOME of its own.
type fixture struct {
	*testing.T
	home, root string
}

func newFixture(t *testing.T, initArgs ...string) *fixture {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g := &fixture{T: t, home: filepath.Join(dir, "home"), root: filepath.Join(dir, `a "repo": here`)}
	g.ok(os.MkdirAll(g.home, 0o755), os.MkdirAll(g.root, 0o755))
	g.in(g.root, append([]string{"init", "-q", "-b", "main", "--template="}, initArgs...)...)
	g.git("config", "user.name", "User")
	g.git("config", "user.email", "user@example.com")
	return g
}

func (g *fixture) environ() []string {
	return []string{
		"HOME=" + g.home, "PATH=" + os.Getenv("PATH"), "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_DATE=2024-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2024-01-02T03:04:05Z",
	}
}

func (g *fixture) ok(errs ...error) {
	g.Helper()
	if err := errors.Join(errs...); err != nil {
		g.Fatal(err)
	}
}

func (g *fixture) in(dir string, args ...string) string {
	g.Helper()
	cmd := exec.Command("git", args...)
	// Since 2.47 a commit leaves a process behind that tidies up, with a lock in
	// the repository until it is done.
	cmd.Dir, cmd.Env = dir, append(g.environ(),
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		g.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, exit.Stderr)
	}
	g.ok(err)
	return strings.TrimSuffix(string(out), "\n")
}

func (g *fixture) git(args ...string) string { g.Helper(); return g.in(g.root, args...) }

// write writes files of the checkout: name, content, name, content.
func (g *fixture) write(files ...string) {
	g.Helper()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(g.root, files[i])
		g.ok(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(files[i+1]), 0o644))
	}
}

func (g *fixture) commit(files ...string) Hash {
	g.Helper()
	g.write(files...)
	g.git("add", "-A")
	g.git("commit", "-q", "--allow-empty", "-m", "work")
	return Hash(g.git("rev-parse", "HEAD"))
}

func (g *fixture) repo() *Repo {
	g.Helper()
	r, err := New(g.environ()).Discover(g.Context(), g.root)
	g.ok(err)
	return r
}

func (g *fixture) frozen() *Frozen {
	g.Helper()
	f, err := g.repo().Freeze(g.Context(), filepath.Join(g.home, "frozen"))
	g.ok(err)
	return f
}

func (g *fixture) quarantine(f *Frozen) *Quarantine {
	g.Helper()
	q, err := f.Quarantine(filepath.Join(g.TempDir(), "objects"))
	g.ok(err)
	return q
}

// blob writes a blob into a quarantine and makes a commit of it.
func (g *fixture) newCommit(q *Quarantine, base Hash, name, text string) Hash {
	g.Helper()
	ctx := g.Context()
	id, err := q.Run(ctx, Cmd{Args: []string{"hash-object", "-w", "--stdin"}, Stdin: strings.NewReader(text)})
	g.ok(err)
	tree, err := q.Run(ctx, Cmd{
		Args:  []string{"mktree"},
		Stdin: strings.NewReader("100644 blob " + strings.TrimSpace(string(id)) + "\t" + name + "\n"),
	})
	g.ok(err)
	c, err := q.CommitTree(ctx, CommitRequest{
		Tree: Hash(strings.TrimSpace(string(tree))), Parents: []Hash{base}, Message: "m\n",
		Author: Person{Name: " <> ", Email: "a@b"}, Committer: Person{Name: "A\nB", Email: "c@d"},
	})
	g.ok(err)
	return c
}

// housekeeping removes all that git thinks is garbage.
func (g *fixture) housekeeping() {
	g.Helper()
	g.git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
	g.git("gc", "-q", "--prune=now")
	g.git("repack", "-q", "-a", "-d")
	g.git("prune", "--expire=now")
}
