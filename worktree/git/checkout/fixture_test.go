package checkout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"agentswarm/worktree/git"
)

// fixture is a repository of a user, with a HOME and records of its own.
type fixture struct {
	testing.TB
	dir     string // holds all of it
	root    string // the checkout
	records string
	old     git.Hash // where main is
	new     git.Hash // where it is to go
}

// newFixture makes a repository whose main can move to a commit that changes so
// many files, and does a bit of everything. It is a copy of one that is made
// once for the process.
func newFixture(t testing.TB, files int) *fixture {
	t.Helper()
	first, _ := templates.LoadOrStore(files, sync.OnceValue(func() *fixture { return makeGround(t, files) }))
	g := first.(func() *fixture)().copyTo(t)
	g.git("update-index", "-q", "--refresh")
	return g
}

var (
	templates      sync.Map // number of files → func() *ground
	templateFolder string   // holds them until the process ends
)

// makeGround makes the template of newGround.
func makeGround(t testing.TB, files int) *fixture {
	t.Helper()
	dir, err := filepath.EvalSymlinks(templateFolder)
	dir = filepath.Join(dir, strconv.Itoa(files))
	g := groundIn(t, dir)
	g.must(err, os.MkdirAll(filepath.Join(dir, "home"), 0o755), os.MkdirAll(g.root, 0o755))
	g.git("init", "-q", "-b", "main", "--template=")
	g.git("config", "user.name", "User")
	g.git("config", "user.email", "user@example.com")
	g.git("config", "filter.up.smudge", "tr a-z A-Z")
	g.git("config", "filter.up.clean", "tr A-Z a-z")
	g.write(before(files))
	g.git("add", "-A")
	g.git("commit", "-q", "-m", "old")
	g.old = git.Hash(g.git("rev-parse", "HEAD"))
	g.git("checkout", "-q", "--detach")
	g.write(after(files))
	g.git("add", "-A")
	g.git("update-index", "--add", "--cacheinfo", "160000,"+string(g.old)+",module")
	g.git("commit", "-q", "-m", "new")
	g.new = git.Hash(g.git("rev-parse", "HEAD"))
	g.git("update-ref", "refs/keep", "HEAD")
	g.must(os.RemoveAll(filepath.Join(g.root, "module")))
	g.git("checkout", "-q", "-f", "main")
	g.git("clean", "-q", "-fd")
	g.git("repack", "-q", "-a", "-d")
	return g
}

func groundIn(t testing.TB, dir string) *fixture {
	return &fixture{TB: t, dir: dir, root: filepath.Join(dir, "a repo"), records: filepath.Join(dir, "checkouts")}
}

// before are the files of the old commit: "x:" makes a program, "l:" a link.
func before(files int) map[string]string {
	all := map[string]string{
		".gitattributes": "*.up filter=up\n", ".gitignore": "ignored*\n",
		"mine/changed": "1\n", "mine/staged": "1\n", "mine/gone": "1\n", "mine/flagged": "1\n", "mine/skipped": "1\n",
		"bit": "1\n", "link": "l:bit", "to-link": "1\n", "folder/x": "1\n", "folder/y/z": "1\n", "file": "1\n",
		"gone/deep/a": "1\n", "name\xff": "1\n", "loud.up": "QUIET\n",
	}
	for i := range files - changesBeside {
		all[fmt.Sprintf("d%d/f%d", i%5, i)] = fmt.Sprintf("old %d\n", i)
	}
	return all
}

// changesBeside is how many paths change beside the plain files.
const changesBeside = 14

// after are the files that the new commit changes; an empty one goes.
func after(files int) map[string]string {
	all := map[string]string{
		".gitattributes": "*.up filter=up\n*.txt eol=crlf\n",
		"bit":            "x:1\n", "link": "l:file", "to-link": "l:bit", "folder": "a file\n", "file": "", "file/in": "new\n",
		"gone/deep/a": "", "name\xff": "2\n", "loud.up": "LOUD\n", "made/deep/b": "new\n", "ends.txt": "1\r\n2\r\n",
	}
	for i := range files - changesBeside {
		all[fmt.Sprintf("d%d/f%d", i%5, i)] = fmt.Sprintf("new %d\n", i)
	}
	return all
}

// dirty gives the user work of a kind that no transaction may touch.
func (g *fixture) dirty(kind string) {
	g.Helper()
	switch kind {
	case "clean":
	case "dirty":
		g.write(map[string]string{
			"mine/changed": "mine\n", "mine/gone": "", "mine/untracked": "mine\n", "ignored": "mine\n", "d0/ignored": "mine\n",
		})
	case "staged":
		g.write(map[string]string{"mine/staged": "staged\n", "mine/added": "new\n", "mine/intended": "new\n", "mine/flagged": "mine\n"})
		g.git("add", "mine/staged", "mine/added")
		g.write(map[string]string{"mine/staged": "and more\n"})
		g.git("add", "-N", "mine/intended")
		g.git("update-index", "--assume-unchanged", "mine/flagged")
		g.git("update-index", "--skip-worktree", "mine/skipped")
		g.write(map[string]string{"mine/skipped": "mine\n"})
	default:
		g.Fatalf("unknown kind of dirt %q", kind)
	}
}

func (g *fixture) must(errs ...error) {
	g.Helper()
	if err := errors.Join(errs...); err != nil {
		g.Fatal(err)
	}
}

func (g *fixture) environ() []string {
	return []string{
		"HOME=" + filepath.Join(g.dir, "home"), "PATH=" + os.Getenv("PATH"), "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1",
		"TMPDIR=" + filepath.Join(g.dir, "home"),
		"GIT_AUTHOR_DATE=2024-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2024-01-02T03:04:05Z",
	}
}

func (g *fixture) gitIn(dir string, args ...string) string {
	g.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	// Since 2.47 a commit leaves a process behind that tidies up.
	cmd.Env = append(g.environ(),
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		g.Fatalf("git %q: %v: %s", args, err, stderr.String())
	}
	return strings.TrimSuffix(string(out), "\n")
}

func (g *fixture) git(args ...string) string { g.Helper(); return g.gitIn(g.root, args...) }

// write puts files into the checkout.
func (g *fixture) write(files map[string]string) {
	g.Helper()
	var names []string
	for n := range files {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		if files[n] == "" {
			g.must(os.RemoveAll(filepath.Join(g.root, n)))
		}
	}
	for _, n := range names {
		at, text := filepath.Join(g.root, n), files[n]
		if text == "" {
			continue
		}
		g.must(os.MkdirAll(filepath.Dir(at), 0o755), os.RemoveAll(at))
		if to, ok := strings.CutPrefix(text, "l:"); ok {
			g.must(os.Symlink(to, at))
			continue
		}
		text, program := strings.CutPrefix(text, "x:")
		g.must(os.WriteFile(at, []byte(text), 0o644))
		if program {
			g.must(os.Chmod(at, 0o755))
		}
	}
}

// copyTo is a copy of the ground in another folder.
func (g *fixture) copyTo(t testing.TB) *fixture {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	c := groundIn(t, dir)
	c.must(err, copyTree(g.dir, dir))
	c.old, c.new = g.old, g.new
	dirs, err := all(c.records)
	c.must(err)
	for _, record := range dirs { // it names the checkout
		file := filepath.Join(record, recordFile)
		text, err := os.ReadFile(file)
		c.must(err)
		c.must(os.WriteFile(file, bytes.ReplaceAll(text, []byte(g.dir), []byte(c.dir)), 0o600))
	}
	return c
}

func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, at)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		return copyFile(at, filepath.Join(to, rel))
	})
}

func (g *fixture) repo() *git.Repo {
	g.Helper()
	r, err := git.New(g.environ()).Discover(context.Background(), g.root)
	g.must(err)
	return r
}

// snapshot is all that a transaction can change, as text.
func (g *fixture) snapshot() string {
	g.Helper()
	var b strings.Builder
	// It names the branch and its commit, too.
	fmt.Fprintln(&b, g.git("--no-optional-locks", "status", "--porcelain=v2", "--branch", "--no-renames", "--ignored"))
	fmt.Fprintln(&b, g.git("ls-files", "-s", "-v"))
	g.must(filepath.WalkDir(g.root, func(at string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(g.root, at)
		if rel == ".git" {
			return filepath.SkipDir
		}
		if err != nil || d.IsDir() && !strings.HasPrefix(rel, ".swarm") && rel != "module" {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		sum, err := Identify(at)
		fmt.Fprintf(&b, "%q %s %s\n", rel, info.Mode(), sum)
		return err
	}))
	return b.String()
}

// leftovers are files of ours, and locks, that are left in the repository.
func (g *fixture) leftovers() []string {
	g.Helper()
	var found []string
	g.must(filepath.WalkDir(g.dir, func(at string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		n := d.Name()
		if strings.HasSuffix(n, ".lock") || strings.HasPrefix(n, ".swarm-") || strings.HasPrefix(n, "swarm-") {
			found = append(found, at)
		}
		return nil
	}))
	return found
}

// move is a transaction of the tests.
type move struct {
	index bool // a merge: branch and index follow; else an apply
	step  func(string) error
}

// transact carries a transaction out as merge and apply do.
func (g *fixture) transact(ctx context.Context, m move) error {
	repo, err := git.New(g.environ()).Discover(ctx, g.root)
	if err != nil {
		return err
	}
	r := Request{Records: g.records, ID: "k3x9q2.1", Verb: "test", Repo: repo, Step: m.step}
	if m.index {
		r.Ref, r.Old, r.New, r.Message = "refs/heads/main", g.old, g.new, "test"
	}
	changes, err := repo.Changes(ctx, g.old, g.new)
	if err != nil {
		return err
	}
	if !m.index { // an apply refuses submodules
		changes = slices.DeleteFunc(changes, func(c git.Change) bool { return c.NewMode == git.Gitlink })
	}
	t, err := Begin(ctx, r)
	if err != nil {
		return err
	}
	err = t.Add(ctx, Side{Repo: repo, From: g.old, To: g.new, Changes: changes, Index: m.index})
	if err == nil {
		err = t.Prepare(ctx)
	}
	if err == nil {
		err = t.Commit(ctx)
	}
	return errors.Join(err, t.Close())
}

func (g *fixture) recover() []Outcome {
	g.Helper()
	ended, err := g.tryRecover(nil)
	g.must(err)
	return ended
}

func (g *fixture) tryRecover(step func(string) error) ([]Outcome, error) {
	repo, err := git.New(g.environ()).Discover(context.Background(), g.root)
	if err != nil {
		return nil, err
	}
	return Recover(context.Background(), RecoverRequest{Records: g.records, Repo: repo, Step: step})
}
