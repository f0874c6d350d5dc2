package git

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestWorktrees(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	base := g.commit("a", "a\n")
	f := g.frozen()
	r, ctx := f.repo, t.Context()
	dir := filepath.Join(g.home, "w\n1")
	admin, err := r.Register(ctx, dir, base, "ours")
	g.ok(err)
	if filepath.Dir(admin) != filepath.Join(r.CommonDir, "worktrees") {
		t.Errorf("Register = %s", admin)
	}
	if _, err := os.Lstat(filepath.Join(dir, "a")); err == nil {
		t.Error("Register filled the worktree")
	}
	g.ok(f.Fill(ctx, FillRequest{Dir: dir, Admin: admin, Base: base}))
	if got := g.in(dir, "status", "--porcelain"); got != "" {
		t.Errorf("status after Fill = %q", got)
	}
	g.git("worktree", "prune")
	if got, err := r.HeadOf(ctx, admin); got != base || err != nil {
		t.Errorf("HeadOf = %s, want %s", got, base)
	}
	g.in(dir, "checkout", "-q", "--orphan", "none")
	for _, admin := range []string{admin, filepath.Join(g.home, "none"), g.home} {
		if got, err := r.HeadOf(ctx, admin); got != "" || err != nil {
			t.Errorf("HeadOf(%s) = %s, want none", admin, got)
		}
	}
	g.in(dir, "checkout", "-q", "-f", "--detach", string(base))
	got, err := r.Checkouts(ctx)
	want := []Checkout{{Dir: g.root, Branch: "refs/heads/main"}, {Dir: dir}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("Checkouts = %+v, %v, want %+v", got, err, want)
	}
	var bad *Error
	if _, err := r.Register(ctx, dir, base, "again"); !errors.As(err, &bad) || Transient(err) {
		t.Errorf("Register again = %v, want git's error for good", err)
	}
}

// TestHeadOfAsksNobody has a missing HEAD and a promisor whose transport is
// a program.
func TestHeadOfAsksNobody(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	base := g.commit("a", "a\n")
	r := g.repo()
	admin, err := r.Register(t.Context(), filepath.Join(g.home, "w"), base, "ours")
	g.ok(err)
	mark := filepath.Join(g.home, "ran")
	for k, v := range map[string]string{
		"remote.evil.url": "ext::sh -c 'touch " + mark + "'", "remote.evil.promisor": "true",
		"protocol.ext.allow": "always", "core.repositoryformatversion": "1", "extensions.partialClone": "evil",
		"core.fsmonitor": "touch " + mark, "remote.evil.partialclonefilter": "blob:none",
	} {
		g.git("config", k, v)
	}
	g.ok(os.WriteFile(filepath.Join(admin, "HEAD"), []byte(strings.Repeat("1", 40)+"\n"), 0o600))
	if got, err := r.HeadOf(t.Context(), admin); got != "" || err != nil {
		t.Errorf("HeadOf = %s, want none", got)
	}
	if _, err := os.Lstat(mark); err == nil {
		t.Error("HeadOf ran what the configuration names")
	}
}

func TestSnapshot(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	head := g.commit("staged", "1\n", "unstaged", "1\n", "gone", "1\n", "same", "1\n", ".gitignore", "*.o\n")
	g.write("staged", "2\n", "new", "n\n", "x.o", "o", "added", "a\n")
	g.git("add", "staged", "added")
	g.write("unstaged", "2\n")
	g.ok(os.Remove(filepath.Join(g.root, "gone")))
	index := filepath.Join(g.root, ".git", "index")
	before, err := os.ReadFile(index)
	g.ok(err)
	objects := g.git("count-objects")
	r := g.repo()
	dirt, err := r.Dirt(t.Context())
	if want := (Dirt{Staged: 2, Unstaged: 2, Untracked: 1, Files: 5}); err != nil || dirt != want || !dirt.Any() {
		t.Errorf("Dirt = %+v, %v, want %+v", dirt, err, want)
	}
	// It is the user's own files that are read, by the user's own rules.
	own, err := r.Quarantine(filepath.Join(g.home, "objects"))
	g.ok(err)
	c, err := own.Snapshot(t.Context(), head)
	g.ok(err)
	changes, err := own.Changes(t.Context(), head, c)
	g.ok(err)
	var got []string
	for _, ch := range changes {
		got = append(got, string(ch.Status)+ch.Path)
	}
	if want := []string{"Aadded", "Dgone", "Anew", "Mstaged", "Munstaged"}; !slices.Equal(got, want) {
		t.Errorf("Snapshot changes %q, want %q", got, want)
	}
	stat, err := own.Stat(t.Context(), head, c)
	if want := (Stat{Files: 5, Added: 4, Deleted: 3}); err != nil || stat != want {
		t.Errorf("Stat = %+v, %v, want %+v", stat, err, want)
	}
	var patch bytes.Buffer
	g.ok(own.WritePatch(t.Context(), &patch, head, c))
	if !strings.Contains(patch.String(), "diff --git a/unstaged b/unstaged\n") {
		t.Errorf("patch = %s", patch.String())
	}
	after, err := os.ReadFile(index)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the index changed, %v", err)
	}
	if got := g.git("count-objects"); got != objects {
		t.Errorf("the repository holds %s, had %s", got, objects)
	}
}

func TestSnapshotRefusesConflicts(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	g.commit("a", "1\n")
	g.git("checkout", "-q", "-b", "other")
	g.commit("a", "2\n")
	g.git("checkout", "-q", "main")
	head := g.commit("a", "3\n")
	_, err := New(g.environ()).Run(t.Context(), Cmd{Dir: g.root, Args: []string{"merge", "-q", "other"}})
	var conflict *Error
	if !errors.As(err, &conflict) {
		t.Fatalf("merge = %v, want a conflict", err)
	}
	var unmerged *UnmergedError
	if _, err := g.quarantine(g.frozen()).Snapshot(t.Context(), head); !errors.As(err, &unmerged) || unmerged.Files != 1 {
		t.Errorf("Snapshot = %v, want an UnmergedError of one file", err)
	}
}

func TestTreeAndSizes(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	c := g.commit("a", "12345", "d/x\ny", "1")
	r, ctx := g.repo(), t.Context()
	tree, err := r.Tree(ctx, c)
	g.ok(err)
	var got []string
	for _, e := range tree {
		got = append(got, e.Mode+" "+e.Path)
	}
	if want := []string{"100644 a", "100644 d/x\ny"}; !slices.Equal(got, want) {
		t.Errorf("Tree = %q, want %q", got, want)
	}
	sizes, err := r.Sizes(ctx, c)
	if err != nil || !slices.Equal(sizes, []int64{5, 1}) {
		t.Errorf("Sizes = %v, %v", sizes, err)
	}
	text, err := r.File(ctx, c, "a")
	if err != nil || string(text) != "12345" {
		t.Errorf("File = %q, %v", text, err)
	}
	if _, err := r.File(ctx, c, "none"); err == nil {
		t.Error("File of none: want an error")
	}
}

// FuzzParsers feeds output of git to the parsers: none may panic.
func FuzzParsers(f *testing.F) {
	f.Add([]byte("100644 blob 1234\ta\nb\x00160000 commit 12\tsub\x00"))
	f.Add([]byte("100644 blob 1234      12\ta\x00160000 commit 12       -\tsub\x00"))
	f.Add([]byte(":100644 000000 12 00 D\x00path\x00"))
	f.Add([]byte("worktree /a\nb\x00HEAD 12\x00branch refs/heads/x\x00\x00worktree /c\x00bare\x00\x00"))
	f.Fuzz(func(t *testing.T, out []byte) {
		if entries, err := parseTree(out); err == nil {
			for _, e := range entries {
				if strings.Contains(e.Path, "\x00") {
					t.Errorf("path %q", e.Path)
				}
			}
		}
		if changes, err := parseRaw(out); err == nil && len(out) > 0 && len(changes) == 0 {
			t.Errorf("parseRaw(%q) is nothing and no error", out)
		}
		if sizes, err := parseSizes(out); err == nil && len(sizes) > bytes.Count(out, []byte{0})+1 {
			t.Errorf("parseSizes(%q) = %v", out, sizes)
		}
		for _, c := range parseCheckouts(out) {
			if c.Dir == "" {
				t.Errorf("parseCheckouts(%q) has one without a folder", out)
			}
		}
	})
}

// TestCopyIndexKeepsItsTime holds the copy to the time of the index: by it git
// tells files that changed in the tick in which the index was written.
func TestCopyIndexKeepsItsTime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "index"), filepath.Join(dir, "copy")
	old := time.Unix(1_000_000_000, 0)
	if err := errors.Join(os.WriteFile(from, []byte("x"), 0o600), os.Chtimes(from, old, old)); err != nil {
		t.Fatal(err)
	}
	if err := copyIndex(from, to); err != nil {
		t.Fatal(err)
	}
	if stat, err := os.Stat(to); err != nil || !stat.ModTime().Equal(old) {
		t.Errorf("the copy has another time: %v, %v", stat, err)
	}
	if err := copyIndex(filepath.Join(dir, "none"), to); err != nil {
		t.Errorf("copyIndex of none = %v", err)
	}
}

// TestHeadOfLooksNowhereElse: a file that an agent put into its admin folder
// leads git neither to another repository nor into a pipe without a writer.
func TestHeadOfLooksNowhereElse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		spoil func(admin, elsewhere string) error
		want  bool
	}{
		{"another repository", func(admin, elsewhere string) error {
			return os.WriteFile(filepath.Join(admin, "commondir"), []byte(elsewhere+"\n"), 0o600)
		}, true},
		{"a pipe", func(admin, _ string) error {
			return errors.Join(os.Remove(filepath.Join(admin, "HEAD")), syscall.Mkfifo(filepath.Join(admin, "HEAD"), 0o600))
		}, false},
		{"a pipe for its configuration", func(admin, _ string) error {
			return errors.Join(os.Remove(filepath.Join(admin, "commondir")), syscall.Mkfifo(filepath.Join(admin, "commondir"), 0o600))
		}, true},
		{"a branch", func(admin, _ string) error {
			return os.WriteFile(filepath.Join(admin, "HEAD"), []byte("ref: refs/heads/main\n"), 0o600)
		}, true},
		{"a name that leads out", func(admin, _ string) error {
			return os.WriteFile(filepath.Join(admin, "HEAD"), []byte("ref: refs/../HEAD\n"), 0o600)
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := newFixture(t)
			base := g.commit("file", "x")
			r := g.repo()
			dir := filepath.Join(t.TempDir(), "w")
			admin, err := r.Register(t.Context(), dir, base, "test")
			g.ok(err)
			elsewhere := t.TempDir()
			g.ok(tt.spoil(admin, elsewhere))
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			got, err := r.HeadOf(ctx, admin)
			if err != nil || got != "" != tt.want || got != "" && got != base {
				t.Errorf("HeadOf = %q, %v; want the base: %v", got, err, tt.want)
			}
		})
	}
}
