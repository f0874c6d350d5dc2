package worktree

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"agentswarm/internal/testing/campaign"
	"agentswarm/worktree/baseline"
	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
	"agentswarm/worktree/pool"
	"agentswarm/worktree/workspace"
)

// pooled opens a fixture whose workspaces are copies and go into a pool. The
// map counts the steps.
func pooled(f *fixture) map[string]int {
	f.kind = workspace.Copied
	var mu sync.Mutex
	seen := map[string]int{}
	f.step = func(name string) error {
		mu.Lock()
		defer mu.Unlock()
		seen[name]++
		return nil
	}
	f.open()
	f.trees = f.poolBackend(0)
	return seen
}

// poolBackend opens the backend as another run would.
func (f *fixture) poolBackend(size int64) *Trees {
	f.t.Helper()
	c := f.trees.Config
	c.Pool, c.PoolSize, c.At = filepath.Join(f.state, "pool"), size, ""
	trees, err := New(c)
	must(f.t, err)
	f.t.Cleanup(func() { _ = trees.Close() })
	return trees
}

func (f *fixture) recycle(w *workspace.Workspace) Released {
	f.t.Helper()
	r, err := f.trees.Recycle(f.t.Context(), *w, f.capture(w))
	must(f.t, err)
	return r
}

// fresh is the content of a workspace of base that was made without a pool.
func (f *fixture) fresh(base git.Hash) map[string]string {
	f.t.Helper()
	pool := f.trees.Pool
	f.trees.Pool = ""
	defer func() { f.trees.Pool = pool }()
	w := f.lease(base)
	defer func() { must(f.t, f.trees.Drop(f.t.Context(), *w)) }()
	return f.portrait(w)
}

// portrait is all that an agent can see of a workspace.
func (f *fixture) portrait(w *workspace.Workspace) map[string]string {
	f.t.Helper()
	all := map[string]string{}
	must(f.t, filepath.WalkDir(w.Files(), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(w.Files(), path)
		if rel == ".git" {
			return nil // it leads to a folder of another name
		}
		at, err := os.Lstat(path)
		if err != nil {
			return err
		}
		look := fmt.Sprint(at.Mode())
		attributes := make([]byte, 1024)
		n, err := unix.Llistxattr(path, attributes)
		look += fmt.Sprintf(" %q %v", attributes[:max(n, 0)], err)
		if !e.IsDir() {
			look += fmt.Sprint(" ", at.ModTime().UnixNano(), " ", baseline.Stat(at).Size, " links ", linksOf(f.t, path))
		}
		switch {
		case e.Type() == fs.ModeSymlink:
			to, err := os.Readlink(path)
			look += fmt.Sprint(" ", to, err)
		case !e.IsDir():
			text, err := os.ReadFile(path)
			look += fmt.Sprintf(" %x %v", sha256.Sum256(text), err)
		}
		all[rel] = look
		return nil
	}))
	for _, args := range []string{
		"status --porcelain --ignored", "log --format=%H%s --all", "stash list", "branch -a", "tag",
		"config --list --local", "config --list --worktree", "reflog --format=%H", "worktree list", "for-each-ref", "ls-files -v --stage",
		"rev-parse --is-shallow-repository", "check-attr -a edited",
	} {
		out, err := f.try(w.Path(), strings.Fields(args)...)
		// The name of the workspace is its own.
		all["git "+args] = fmt.Sprint(strings.ReplaceAll(out, w.Name, "NAME"), err)
	}
	for _, name := range []string{"MERGE_HEAD", "MERGE_MSG", "ORIG_HEAD", "BISECT_LOG", "rebase-merge", "info/exclude", "info/sparse-checkout", "modules"} {
		text, err := os.ReadFile(filepath.Join(w.Admin, name))
		all[name] = fmt.Sprintf("%q %t", text, errors.Is(err, fs.ErrNotExist))
	}
	hooks, err := os.ReadDir(filepath.Join(w.Admin, "hooks"))
	all["hooks"] = fmt.Sprint(len(hooks), errors.Is(err, fs.ErrNotExist))
	return all
}

func linksOf(t testing.TB, path string) uint64 {
	t.Helper()
	var at unix.Stat_t
	must(t, unix.Lstat(path, &at))
	return uint64(at.Nlink)
}

// compare compares two portraits.
func compare(t *testing.T, got, want map[string]string) {
	t.Helper()
	for path, look := range want {
		if got[path] != look {
			t.Errorf("%q is %s\nwant %s", path, got[path], look)
		}
	}
	for path := range got {
		if _, ok := want[path]; !ok {
			t.Errorf("%q is left: %s", path, got[path])
		}
	}
}

// TestNothingOfThePreviousAgentRemains: an agent changes a workspace in every
// way. The next agent gets it as if it were new.
func TestNothingOfThePreviousAgentRemains(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit(
		".gitignore", "*.o\n/out/\n", "edited", "1\n", "same", "same content\n", "gone", "x", "mode", "x", "exec", "x",
		"touched", "x", "attribute", "x", "linked", "x", "d/in", "x", "moved/in/deep", "x", "to link/f", "x",
		"closed/f", "x", "secret/f", "x", "file to folder", "x", "kept", "x", "open/f", "x")
	seen := pooled(f)
	want := f.fresh(base)

	w := f.lease(base)
	at := func(path string) string { return filepath.Join(w.Path(), path) }
	outside := filepath.Join(f.home, "outside")
	f.write(w.Path(), "edited", "2\n", "same", "same content\n", "new", "n", "x.o", "ignored", "d/in/../y.o", "ignored",
		"out/deep/z", "ignored", "new folder/f", "n")
	must(t,
		os.Remove(at("gone")), os.Chmod(at("mode"), 0o600), os.Chmod(at("exec"), 0o755),
		os.Chtimes(at("touched"), time.Unix(1e9, 0), time.Unix(1e9, 0)),
		os.Link(at("linked"), outside), os.Rename(at("moved/in"), at("moved/elsewhere")),
		os.RemoveAll(at("to link")), os.Symlink(f.root, at("to link")),
		os.Remove(at("file to folder")), os.MkdirAll(at("file to folder/deep"), 0o755),
		os.Chmod(at("open"), 0o777), os.Mkdir(at("empty"), 0o700),
	)
	for path, attribute := range map[string]string{"attribute": "user.file", "d": "user.folder"} {
		if err := unix.Setxattr(at(path), attribute, []byte("1"), 0); err != nil && !errors.Is(err, unix.ENOTSUP) {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"commit", "-qam", "mine"}, {"tag", "mine"}, {"branch", "mine"}, {"checkout", "-q", "-b", "elsewhere"},
		{"config", "alias.mine", "status"}, {"config", "core.hooksPath", "/evil"}, {"config", "user.name", "Mallory"},
		{"config", "extensions.worktreeConfig", "true"}, {"config", "--worktree", "core.pager", "/evil"},
		{"update-ref", "refs/bisect/bad", "HEAD"}, {"update-index", "--assume-unchanged", "kept"}, {"update-index", "--skip-worktree", "open/f"},
	} {
		f.in(w.Path(), append([]string{"-c", "user.name=a", "-c", "user.email=a"}, args...)...)
	}
	f.write(w.Path(), "stashed", "x")
	f.in(w.Path(), "-c", "user.name=a", "-c", "user.email=a", "stash", "-u")
	f.write(w.Path(), "x.o", "ignored", "out/deep/z", "ignored") // git status knows no more of them than we do
	f.write(w.Path(), "odd \xff\nname\t", "x")
	f.write(w.Admin, "hooks/post-checkout", "#!/bin/sh\ntouch evil\n", "info/exclude", "*\n", "info/attributes", "* text eol=crlf\n",
		"info/sparse-checkout", "/d\n", "MERGE_HEAD", string(base)+"\n", "MERGE_MSG", "mine\n", "BISECT_LOG", "mine\n",
		"rebase-merge/done", "pick\n", "modules/sub/config", "[core]\n")
	changed := f.portrait(w)
	for _, key := range []string{
		"git ls-files -v --stage", "git for-each-ref", "git config --list --worktree", "git check-attr -a edited", "git stash list", "git reflog --format=%H",
		"MERGE_HEAD", "MERGE_MSG", "BISECT_LOG", "rebase-merge", "info/exclude", "info/sparse-checkout", "modules", "hooks", "odd \xff\nname\t",
	} {
		if changed[key] == want[key] {
			t.Errorf("the agent did not change %q: %s", key, want[key])
		}
	}
	must(t, os.Chmod(at("closed"), 0o000))

	r := f.recycle(w)
	if r.Trashed == "" {
		t.Fatal("ignored files went nowhere")
	}
	for path, text := range map[string]string{"x.o": "ignored", "out/deep/z": "ignored"} {
		got, err := os.ReadFile(filepath.Join(r.Trashed, "tree", workspace.TreeName, path))
		if err != nil || string(got) != text {
			t.Errorf("in the trash %s is %q, %v", path, got, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(r.Trashed, "tree", workspace.TreeName, "kept")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an unchanged file is in the trash: %v", err)
	}
	next := f.lease(base)
	if seen["reused"] != 1 {
		t.Fatalf("nothing was reused: %v", seen)
	}
	compare(t, f.portrait(next), want)
	// An unchanged workspace gives all of its files.
	f.recycle(next)
	f.lease(base)
	if seen["reused"] != 2 {
		t.Errorf("the second time nothing was reused: %v", seen)
	}
}

// TestReuseEqualsFresh: after any actions of an agent, and for any next commit,
// the next workspace equals a new workspace.
func TestReuseEqualsFresh(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(campaign.Seed(t), 1))
	f := newFixture(t)
	bases := []git.Hash{f.scatter(r)}
	for range 4 {
		for range 1 + r.IntN(20) {
			mutate(r, f.root)
		}
		bases = append(bases, f.commit())
	}
	seen := pooled(f)
	looks := map[git.Hash]map[string]string{}
	rounds := campaign.Rounds(t, 4, 300)
	for round := range rounds {
		base := bases[r.IntN(len(bases))]
		if looks[base] == nil {
			looks[base] = f.fresh(base)
		}
		w := f.lease(base)
		compare(t, f.portrait(w), looks[base])
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
		for range r.IntN(20) {
			mutate(r, w.Path())
		}
		f.recycle(w)
	}
	if seen["reused"] < rounds-3 {
		t.Errorf("of %d workspaces %d were reused", rounds, seen["reused"])
	}
}

// TestOtherRules: where a commit decides otherwise how files are checked out,
// nothing of another is reused.
func TestOtherRules(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.commit("a.txt", "a\nb\n")
	second := f.commit(".gitattributes", "*.txt eol=crlf\n")
	seen := pooled(f)
	want := f.fresh(second)
	f.recycle(f.lease(first))
	w := f.lease(second)
	compare(t, f.portrait(w), want)
	if text, err := os.ReadFile(filepath.Join(w.Path(), "a.txt")); err != nil || string(text) != "a\r\nb\r\n" {
		t.Errorf("a.txt is %q, %v", text, err)
	}
	if seen["reused"] != 0 {
		t.Error("files of the other commit were reused")
	}
}

// TestHundredWorkspaces: with 20 agents at a time, 100 items need 20 checkouts,
// and another run needs none. In the gate there are fewer.
func TestHundredWorkspaces(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n", "d/b", "b\n")
	seen := pooled(f)
	jobs, items := campaign.Rounds(t, 8, 20), campaign.Rounds(t, 32, 100)
	round := func(run string) {
		slots := make(chan struct{}, jobs)
		var all sync.WaitGroup // no job ends before all of the first have begun
		all.Add(jobs)
		group, ctx := errgroup.WithContext(t.Context())
		for i := range items {
			slots <- struct{}{}
			group.Go(func() error {
				defer func() { <-slots }()
				w, err := f.trees.Lease(ctx, f.leaseRequest(fmt.Sprintf("%s%d", run, i), base))
				if i < jobs {
					all.Done()
					all.Wait()
				}
				if err != nil {
					return err
				}
				if err := os.WriteFile(filepath.Join(w.Path(), "a"), []byte(w.Name), 0o600); err != nil {
					return err
				}
				c, err := f.trees.Capture(ctx, f.captureRequest(w))
				if err == nil {
					_, err = f.trees.Recycle(ctx, *w, c)
				}
				return err
			})
		}
		must(t, group.Wait())
	}
	round("p")
	if got := items - seen["reused"]; got != jobs {
		t.Errorf("the first run made %d checkouts, want %d", got, jobs)
	}
	f.trees = f.poolBackend(0)
	clear(seen)
	round("q")
	if got := items - seen["reused"]; got != 0 {
		t.Errorf("the second run made %d checkouts", got)
	}
}

// TestNotReused: files that a process may still write to, or that no capture
// holds, are not reused.
func TestNotReused(t *testing.T) {
	t.Parallel()
	tests := map[string]func(f *fixture, w *workspace.Workspace) error{
		"released": func(f *fixture, w *workspace.Workspace) error {
			_, err := f.trees.Release(f.t.Context(), *w, f.capture(w))
			return err
		},
		"no capture": func(f *fixture, w *workspace.Workspace) error {
			_, err := f.trees.Recycle(f.t.Context(), *w, nil)
			return err
		},
		"not complete": func(f *fixture, w *workspace.Workspace) error {
			c := f.capture(w)
			c.Complete = false
			_, err := f.trees.Recycle(f.t.Context(), *w, c)
			return err
		},
		"no room": func(f *fixture, w *workspace.Workspace) error {
			f.trees.PoolSize = 1
			_, err := f.trees.Recycle(f.t.Context(), *w, f.capture(w))
			return err
		},
		"a clock too slow": func(f *fixture, w *workspace.Workspace) error {
			w.Settled = false
			_, err := f.trees.Recycle(f.t.Context(), *w, f.capture(w))
			return err
		},
	}
	for name, end := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			base := f.commit("a", "a\n")
			seen := pooled(f)
			must(t, end(f, f.lease(base)))
			f.lease(base)
			if seen["reused"] != 0 {
				t.Error("it was reused")
			}
			entries, _ := os.ReadDir(f.trees.Pool)
			if len(entries) > 0 {
				t.Errorf("the pool holds %v", entries)
			}
		})
	}
}

// TestDamagedEntries: an entry that is not as its record says is not used.
func TestDamagedEntries(t *testing.T) {
	t.Parallel()
	tests := map[string]func(entry string) error{
		"changed": func(entry string) error {
			return os.WriteFile(filepath.Join(entry, workspace.TreeName, "d/b"), []byte("evil"), 0o600)
		},
		"another mode": func(entry string) error { return os.Chmod(filepath.Join(entry, workspace.TreeName, "a"), 0o755) },
		"a second name": func(entry string) error {
			return os.Link(filepath.Join(entry, workspace.TreeName, "a"), entry+".other")
		},
		"a file more": func(entry string) error {
			return os.WriteFile(filepath.Join(entry, workspace.TreeName, "d/more"), nil, 0o600)
		},
		"a folder more": func(entry string) error { return os.Mkdir(filepath.Join(entry, workspace.TreeName, "more"), 0o700) },
		"a file less":   func(entry string) error { return os.Remove(filepath.Join(entry, workspace.TreeName, "a")) },
		"a link for a folder": func(entry string) error {
			d := filepath.Join(entry, workspace.TreeName, "d")
			return errors.Join(os.Rename(d, entry+".d"), os.Symlink(entry+".d", d))
		},
		"no record":     func(entry string) error { return os.Remove(filepath.Join(entry, "files")) },
		"half a record": func(entry string) error { return os.Truncate(filepath.Join(entry, "files"), 40) },
		"no tree":       func(entry string) error { return os.RemoveAll(filepath.Join(entry, workspace.TreeName)) },
		"no entry":      func(entry string) error { return os.Remove(filepath.Join(entry, "pool.json")) },
		"odd entry": func(entry string) error {
			return os.WriteFile(filepath.Join(entry, "pool.json"), []byte("{"), 0o600)
		},
	}
	for name, damage := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			base := f.commit("a", "a\n", "d/b", "b\n")
			seen := pooled(f)
			want := f.fresh(base)
			f.recycle(f.lease(base))
			entries, err := filepath.Glob(filepath.Join(f.trees.Pool, "*"))
			if err != nil || len(entries) != 1 {
				t.Fatalf("the pool holds %q, %v", entries, err)
			}
			must(t, damage(entries[0]))
			compare(t, f.portrait(f.lease(base)), want)
			if seen["reused"] != 0 {
				t.Error("it was reused")
			}
		})
	}
}

// TestPoolIsBounded: beyond its size the oldest entries are removed, and a
// sweep empties it, with the rest of a crash.
func TestPoolIsBounded(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", strings.Repeat("a", 3*disk.Block), "b", "b")
	pooled(f)
	f.trees.Pool += "[x" // a path is no pattern
	f.trees.PoolSize = 2 * 4 * disk.Block
	var all []*workspace.Workspace
	for range 4 {
		all = append(all, f.lease(base))
	}
	var names [][]string
	for _, w := range all {
		f.recycle(w)
		entries, err := os.ReadDir(f.trees.Pool)
		must(t, err)
		var found []string
		for _, e := range entries {
			found = append(found, e.Name())
		}
		names = append(names, found)
	}
	if len(names[1]) != 2 || len(names[3]) != 2 || slices.Contains(names[3], names[0][0]) || slices.Equal(names[1], names[3]) {
		t.Errorf("the pool held %q", names)
	}
	must(t, os.MkdirAll(filepath.Join(f.trees.Pool, ".gone."+"1", "entry", "tree"), 0o700))
	for _, dry := range []bool{true, false} {
		swept, err := pool.Sweep(t.Context(), pool.SweepRequest{Pool: f.trees.Pool, DryRun: dry})
		if err != nil || len(swept) != 3 {
			t.Errorf("SweepPool(dry %v) = %v, %v", dry, swept, err)
		}
		left, err := os.ReadDir(f.trees.Pool)
		if want := map[bool]int{true: 3}[dry]; err != nil || len(left) != want {
			t.Errorf("after the sweep (dry %v) there are %v, %v", dry, left, err)
		}
	}
	if swept, err := pool.Sweep(t.Context(), pool.SweepRequest{Pool: filepath.Join(f.state, "none")}); err != nil || swept != nil {
		t.Errorf("without a pool: %v, %v", swept, err)
	}
}

// TestKilledWhileReusing: a process dies at any step. No work is lost, and the
// next process finds only complete entries.
func TestKilledWhileReusing(t *testing.T) {
	t.Parallel()
	errDied := errors.New("died")
	for _, step := range []string{"entered", "moved", "unregistered", "sorted", "pooling", "taken", "reused", "filled"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			base := f.commit(".gitignore", "*.o\n", "a", "a\n", "d/b", "b\n")
			pooled(f)
			want := f.fresh(base)
			f.recycle(f.lease(base))
			armed := false
			f.step = func(name string) error {
				if armed && name == step {
					return errDied
				}
				return nil
			}
			armed = slices.Contains([]string{"taken", "reused", "filled"}, step)
			w, err := f.trees.Lease(t.Context(), f.leaseRequest("victim", base))
			if armed {
				if !errors.Is(err, errDied) {
					t.Fatalf("Lease = %v", err)
				}
				armed = false
				f.trees = f.poolBackend(0)
				strays, err := f.trees.Strays(nil)
				if err != nil || len(strays) != 1 {
					t.Fatalf("Strays = %v, %v", strays, err)
				}
				_, err = f.trees.Release(t.Context(), strays[0], nil)
				must(t, err)
			} else {
				must(t, err)
				f.write(w.Path(), "a", "changed\n", "x.o", "ignored")
				c := f.capture(w)
				armed = true
				if _, err := f.trees.Recycle(t.Context(), *w, c); !errors.Is(err, errDied) {
					t.Fatalf("Recycle = %v", err)
				}
				armed = false
				f.trees = f.poolBackend(0)
				r, err := f.trees.Release(t.Context(), *w, c) // as a recovery does
				must(t, err)
				text, err := os.ReadFile(filepath.Join(r.Trashed, "tree", workspace.TreeName, "x.o"))
				if err != nil || string(text) != "ignored" {
					t.Errorf("the ignored file is %q, %v", text, err)
				}
			}
			for range 2 {
				compare(t, f.portrait(f.lease(base)), want)
			}
			if left, _ := filepath.Glob(filepath.Join(f.state, "trash", "*", "pool")); len(left) > 0 {
				t.Logf("the trash holds %q until its sweep", left)
			}
		})
	}
}

// TestTakenOnce: if two want the same entry, a single one gets it.
func TestTakenOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n", "d/b", "b\n")
	seen := pooled(f)
	var first []*workspace.Workspace
	for range 4 {
		first = append(first, f.lease(base))
	}
	for _, w := range first {
		f.recycle(w)
	}
	others := []*Trees{f.poolBackend(0), f.poolBackend(0)}
	for i, trees := range others {
		trees.Dir = filepath.Join(f.state, "trees", fmt.Sprint("run", i))
		f.mkdir(trees.Dir)
	}
	var mu sync.Mutex
	inodes := map[uint64]int{}
	group, ctx := errgroup.WithContext(t.Context())
	for i := range 16 {
		group.Go(func() error { return leaseInode(ctx, f, others[i%2], fmt.Sprint("b", i), base, &mu, inodes) })
	}
	must(t, group.Wait())
	if slices.Max(slices.Collect(maps.Values(inodes))) > 1 {
		t.Error("two workspaces share a file")
	}
	if seen["reused"] != 4 {
		t.Errorf("%d were reused, want 4", seen["reused"])
	}
}

func leaseInode(ctx context.Context, f *fixture, trees *Trees, name string, base git.Hash, mu *sync.Mutex, inodes map[uint64]int) error {
	w, err := trees.Lease(ctx, f.leaseRequest(name, base))
	if err != nil {
		return err
	}
	var at unix.Stat_t
	if err := unix.Lstat(filepath.Join(w.Path(), "d/b"), &at); err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	inodes[at.Ino]++
	return nil
}
