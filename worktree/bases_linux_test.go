package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"agentswarm/worktree/bases"
	"agentswarm/worktree/git"
	"agentswarm/worktree/precheck"
	"agentswarm/worktree/workspace"
)

// basesIn lists the checkouts below the folder of bases, and its other entries.
func (f *fixture) basesIn() (whole, rest []string) {
	f.t.Helper()
	entries, err := os.ReadDir(f.trees.Bases)
	must(f.t, err)
	for _, e := range entries {
		switch {
		case regexp.MustCompile(`^[0-9a-f]{40,64}-[0-9a-f]{8}$`).MatchString(e.Name()):
			whole = append(whole, e.Name())
		case e.Name() != "objects" && !strings.HasSuffix(e.Name(), ".lock"):
			rest = append(rest, e.Name())
		}
	}
	return whole, rest
}

// TestBaseIsMadeOnce holds that processes that want a base at once make it
// once, and that later ones find it.
func TestBaseIsMadeOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n", "d/b", "b\n")
	f.open()
	f.private(workspace.Overlay)
	made := 0
	f.step = func(name string) error {
		if name == "based" {
			made++
		}
		return nil
	}
	group, ctx := errgroup.WithContext(t.Context())
	for range 8 {
		trees := f.backend() // each as a process of its own
		group.Go(func() error {
			b, done, err := trees.bases.Get(ctx, base)
			if err == nil {
				_, err = os.Lstat(filepath.Join(b.Tree(), "d/b"))
				done()
			}
			return err
		})
	}
	must(t, group.Wait())
	if made != 1 {
		t.Errorf("the base was made %d times, want once", made)
	}
	whole, rest := f.basesIn()
	if len(whole) != 1 || len(rest) > 0 {
		t.Errorf("there are %q and %q", whole, rest)
	}
}

// TestBaseKilledAtEveryStep ends the making of a base as a crash would. The
// next lease makes it anew, and a sweep removes the rest.
func TestBaseKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"checked out", "settled", "based"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			base := f.commit("a", "a\n")
			f.open()
			f.private(workspace.Overlay)
			f.dieInLease(step, f.leaseRequest("a1.1", base))
			f.trees = f.backend()
			w := f.leaseNamed("a2.1", base)
			text, err := os.ReadFile(filepath.Join(w.Lower, "a"))
			if err != nil || string(text) != "a\n" {
				t.Errorf("a = %q, %v", text, err)
			}
			gone, err := bases.Sweep(t.Context(), bases.SweepRequest{Bases: f.trees.Bases, Size: 1 << 40})
			if err != nil {
				t.Errorf("SweepBases = %+v, %v", gone, err)
			}
			whole, rest := f.basesIn()
			if len(whole) != 1 || slices.ContainsFunc(rest, func(s string) bool { return strings.Contains(s, ".new.") }) {
				t.Errorf("there are %q and %q", whole, rest)
			}
		})
	}
}

func (f *fixture) leaseNamed(name string, base git.Hash) *workspace.Workspace {
	f.t.Helper()
	w, err := f.trees.Lease(f.t.Context(), f.leaseRequest(name, base))
	must(f.t, err)
	return w
}

// TestSweepBases holds which bases go and which stay.
func TestSweepBases(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	big := strings.Repeat("x", 100_000)
	var commits []git.Hash
	for _, name := range []string{"a", "b", "c"} {
		// Attributes that differ: none can be a layer on another.
		commits = append(commits, f.commit(name, big, ".gitattributes", "# "+name))
	}
	f.open()
	f.private(workspace.Overlay)
	ctx := t.Context()
	for i, commit := range commits {
		b, done, err := f.trees.bases.Get(ctx, commit)
		must(t, err)
		done()
		when := time.Now().Add(time.Duration(i-10) * time.Hour)
		must(t, os.Chtimes(filepath.Dir(b.Tree()), when, when))
	}
	sweep := func(r bases.SweepRequest) string {
		t.Helper()
		r.Bases = f.trees.Bases
		gone, err := bases.Sweep(ctx, r)
		must(t, err)
		var names []string
		for _, g := range gone {
			if g.Size < 100_000 || g.Used.IsZero() {
				t.Errorf("swept %+v", g)
			}
			names = append(names, string('a'+rune(slices.Index(commits, g.Commit))))
		}
		return strings.Join(names, "")
	}
	if got := sweep(bases.SweepRequest{Size: 0}); got != "" {
		t.Errorf("swept %q, which this process holds", got)
	}
	must(t, f.trees.Close())
	w := f.leaseNamed("a1.1", commits[1])
	must(t, f.trees.Close()) // as if it had died; the workspace is there
	must(t, os.Mkdir(filepath.Join(f.trees.Bases, "mine"), 0o700),
		os.Mkdir(filepath.Join(f.trees.Bases, strings.Repeat("1", 40)+"-12345678"), 0o700))
	if got := sweep(bases.SweepRequest{Size: 0, DryRun: true}); got != "ac" {
		t.Errorf("would sweep %q, want a and c", got)
	}
	if got := sweep(bases.SweepRequest{Size: 550_000}); got != "a" {
		t.Errorf("swept %q, want the oldest", got)
	}
	must(t, f.trees.Drop(ctx, *w))
	if got := sweep(bases.SweepRequest{Size: 0}); got != "cb" {
		t.Errorf("swept %q, want c and, used last, b", got)
	}
	if whole, rest := f.basesIn(); len(whole) != 1 || !slices.Contains(rest, "mine") {
		t.Errorf("there are %q and %q, want what is not ours", whole, rest)
	}
}

// TestForkedChildHoldsNoBase: a base that was let go can be removed, however long
// a child that was forked before takes to run its program.
func TestForkedChildHoldsNoBase(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n")
	f.open()
	f.private(workspace.Overlay)
	b, done, err := f.trees.bases.Get(t.Context(), base)
	must(t, err)
	held, err := unix.FcntlInt(lockOf(t, filepath.Dir(b.Tree())), unix.F_DUPFD_CLOEXEC, 0) // as such a child holds it
	must(t, err)
	defer unix.Close(held)
	done()
	must(t, f.trees.Close())
	gone, err := bases.Sweep(t.Context(), bases.SweepRequest{Bases: f.trees.Bases, Size: 0})
	if err != nil || len(gone) != 1 {
		t.Errorf("swept %+v, %v, want the base", gone, err)
	}
}

// TestBaseSize: a new base makes room for itself by the removal of unused
// bases, and stays whatever its size.
func TestBaseSize(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		size int64
		want int // how many there are at last
	}{{0, 3}, {1, 1}, {1 << 40, 3}} {
		f := newFixture(t)
		var commits []git.Hash
		for _, name := range []string{"a", "b", "c"} {
			// Attributes that differ: none can be a layer on another.
			commits = append(commits, f.commit(name, strings.Repeat("x", 100_000), ".gitattributes", "# "+name))
		}
		f.open()
		f.private(workspace.Overlay)
		f.trees.bases.Size = tt.size
		for _, commit := range commits {
			_, done, err := f.trees.bases.Get(t.Context(), commit)
			must(t, err)
			done()
			must(t, f.trees.Close())
		}
		if whole, _ := f.basesIn(); len(whole) != tt.want {
			t.Errorf("of %d bytes there are %q, want %d", tt.size, whole, tt.want)
		}
	}
}

// TestSweepWhileLeasing removes a base again and again while others lease from
// it: each gets a complete base.
func TestSweepWhileLeasing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n", "d/b", "b\n")
	f.open()
	f.private(workspace.Overlay)
	ctx, cancel := context.WithCancel(t.Context())
	group := new(errgroup.Group)
	group.Go(func() error {
		for ctx.Err() == nil {
			_, err := bases.Sweep(ctx, bases.SweepRequest{Bases: f.trees.Bases, Size: 0})
			if err != nil && ctx.Err() == nil {
				return err
			}
		}
		return nil
	})
	for range 20 {
		trees := f.backend()
		b, done, err := trees.bases.Get(ctx, base)
		must(t, err)
		if _, err := os.Lstat(filepath.Join(b.Tree(), "d/b")); err != nil {
			t.Error(err)
		}
		done()
		must(t, trees.Close())
	}
	cancel()
	must(t, group.Wait())
}

// TestBaseKey checks the settings that make two checkouts of a commit differ.
func TestBaseKey(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "1\n", ".gitattributes", "a text\n")
	f.open()
	f.private(workspace.Overlay)
	first := f.leaseNamed("a1.1", base)
	var err error
	freeze := func(dir string) {
		f.frozen, err = f.repo.Freeze(t.Context(), filepath.Join(f.state, dir))
		must(t, err)
		f.trees = f.backend()
	}
	freeze("again")
	if w := f.leaseNamed("a2.1", base); w.Lower != first.Lower {
		t.Errorf("another run has %s, want %s", w.Lower, first.Lower)
	}
	f.repo.Git = git.New(append(os.Environ(), git.SkipLFS+"=1"))
	freeze("pointers")
	if w := f.leaseNamed("a4.1", base); w.Lower == first.Lower {
		t.Errorf("a run without git-lfs has the base of one with it")
	}
	f.git("config", "core.autocrlf", "true")
	freeze("crlf")
	w := f.leaseNamed("a3.1", base)
	text, err := os.ReadFile(filepath.Join(w.Lower, "a"))
	if err != nil || string(text) != "1\r\n" {
		t.Errorf("a = %q, %v, want it as the configuration says", text, err)
	}
}

// TestSettle: no file of a base has a time of a moment ago, and a symlink is
// not followed.
func TestSettle(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	outside := filepath.Join(f.home, "outside")
	f.write(f.home, "outside", "x")
	must(t, os.Symlink(outside, filepath.Join(f.root, "ln")), os.Symlink("d", filepath.Join(f.root, "dl")))
	f.commit("a", "a\n", "d/e/f", "b\n", "in/x", "x\n", "out/y", "y\n")
	f.git("sparse-checkout", "set", "--no-cone", "/*", "!/out/")
	base := f.commit("b", "b\n")
	f.open()
	f.private(workspace.Overlay)
	w := f.lease(base)
	entries, err := f.repo.ReadIndex(w.Index)
	must(t, err)
	tree, err := f.repo.TreeOf(t.Context(), base)
	must(t, err)
	want := bases.WholeTime(tree)
	for _, e := range entries {
		if e.SkipWorktree != (e.Path == "out/y") {
			t.Errorf("%s is skipped: %v", e.Path, e.SkipWorktree)
		}
		if !e.SkipWorktree && !time.Unix(int64(e.MTime.Sec), int64(e.MTime.Nano)).Equal(want) {
			t.Errorf("%s has the time %v", e.Path, e.MTime)
		}
	}
	if at, err := os.Lstat(outside); err != nil || at.ModTime().Equal(want) {
		t.Errorf("a symlink was followed: %v, %v", at, err)
	}
	index, err := os.Stat(w.Index)
	must(t, err)
	out := f.in(w.Lower, "--git-dir="+filepath.Join(w.Shell, ".git"), "--work-tree="+w.Lower, "diff-files")
	if again, err := os.Stat(w.Index); out != "" || err != nil || !again.ModTime().Equal(index.ModTime()) {
		t.Errorf("git sees a change: %q", out)
	}
}

// TestRefusesOverlay checks the folders that cannot be below an overlay.
func TestRefusesOverlay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "r"), 0o700), os.Symlink("r", filepath.Join(dir, "ln")))
	at := filepath.Join(dir, "r")
	for name, s := range map[string]precheck.Surroundings{
		"not UTF-8":        {At: at + "\xff", State: dir},
		"state":            {At: at, State: filepath.Join(at, "x/state")},
		"state by symlink": {At: at, State: filepath.Join(dir, "ln/state")},
		"HOME":             {At: at, State: dir, Home: at},
		"a cache":          {At: at, State: dir, Home: dir, Caches: []string{filepath.Join(at, ".cache")}},
	} {
		if err := precheck.Refuses(workspace.Overlay, s); err == nil {
			t.Errorf("%s inside of the repository is not refused", name)
		}
	}
	for _, s := range []precheck.Surroundings{
		{At: at, State: filepath.Join(dir, "r-state"), Home: dir}, {State: dir},
	} {
		if err := precheck.Refuses(workspace.Overlay, s); err != nil {
			t.Errorf("Refuses(%+v) = %v", s, err)
		}
	}
	if err := precheck.Refuses(workspace.Linked, precheck.Surroundings{At: at, State: at}); err != nil {
		t.Error(err)
	}
	var failed syscall.Errno
	if err := precheck.Refuses(workspace.Reflink, precheck.Surroundings{State: "/dev/shm"}); !errors.As(err, &failed) {
		t.Errorf("Refuses(Reflink, on tmpfs) = %v, want what the kernel says", err)
	}
}

// lockOf is the descriptor by which this process holds the lock of a base.
func lockOf(t *testing.T, base string) uintptr {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	for _, e := range open {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && to == base+".lock" {
			fd, err := strconv.Atoi(e.Name())
			must(t, err)
			return uintptr(fd)
		}
	}
	t.Fatalf("nothing holds the lock of %s", base)
	return 0
}
