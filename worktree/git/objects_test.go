package git

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// objectFixture is a repository with a single commit, made by real git, for the tests of
// objects, merges and moves.
type objectFixture struct {
	testing.TB
	dir, home string
	repo      *Repo
	q         *Quarantine
}

func newObjectFixture(t testing.TB, initArgs ...string) *objectFixture {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	y := &objectFixture{TB: t, dir: filepath.Join(top, "a yard"), home: filepath.Join(top, "home")}
	y.must(errors.Join(os.Mkdir(y.dir, 0o755), os.Mkdir(y.home, 0o755)))
	y.git(append([]string{"init", "-q", "-b", "main"}, initArgs...)...)
	y.git("config", "user.name", "A User")
	y.git("config", "user.email", "user@example.com")
	y.write("a", "1\n")
	y.write("d/b", "1\n")
	y.commit()
	y.repo, err = New(y.environ()).Discover(t.Context(), y.dir)
	y.must(err)
	frozen, err := y.repo.Freeze(t.Context(), filepath.Join(top, "frozen"))
	y.must(err)
	y.q, err = frozen.Quarantine(filepath.Join(top, "objects"))
	y.must(err)
	return y
}

func (y *objectFixture) environ() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + y.home}
}

func (y *objectFixture) must(err error) {
	y.Helper()
	if err != nil {
		y.Fatal(err)
	}
}

func (y *objectFixture) git(args ...string) string {
	y.Helper()
	cmd := exec.CommandContext(y.Context(), "git", args...)
	cmd.Dir = y.dir
	// Since 2.47 a commit leaves a process behind that tidies up, with a lock in
	// the repository until it is done.
	cmd.Env = append(y.environ(), "LC_ALL=C",
		"GIT_AUTHOR_DATE=2024-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2024-01-01T00:00:00Z",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		y.Fatalf("git %q: %v: %s", args, err, stderr.String())
	}
	return strings.TrimSuffix(string(out), "\n")
}

func (y *objectFixture) write(name, text string) {
	y.Helper()
	path := filepath.Join(y.dir, name)
	y.must(os.MkdirAll(filepath.Dir(path), 0o755))
	y.must(os.WriteFile(path, []byte(text), 0o644))
}

func (y *objectFixture) commit() Hash {
	y.Helper()
	y.git("add", "-A")
	y.git("commit", "-q", "--allow-empty", "-m", "work")
	return y.hash("HEAD")
}

func (y *objectFixture) hash(rev string) Hash { y.Helper(); return Hash(y.git("rev-parse", rev)) }

func (y *objectFixture) objects() *Objects {
	y.Helper()
	o := y.q.Objects()
	y.Cleanup(func() {
		if err := o.Close(); err != nil {
			y.Error(err)
		}
	})
	return o
}

var formats = []string{"sha1", "sha256"}

// TestObjects: objects of the repository, loose or packed, and new objects are
// read alike.
func TestObjects(t *testing.T) {
	t.Parallel()
	for _, format := range formats {
		y := newObjectFixture(t, "--object-format="+format)
		o := y.objects()
		commit := y.hash("HEAD")
		for _, state := range []string{"loose", "packed", "packed anew"} {
			switch state {
			case "packed":
				y.git("gc", "-q", "--prune=now")
			case "packed anew":
				// All packs that are known by now are gone after this.
				y.write("c", "1\n")
				commit = y.commit()
				y.git("repack", "-q", "-a", "-d", "-f")
				y.git("prune-packed", "-q")
			}
			tree, _, err := o.Commit(t.Context(), commit)
			if err != nil || tree != y.hash(string(commit)+"^{tree}") {
				t.Fatalf("%s, %s: Commit = %s, %v", format, state, tree, err)
			}
			entries, err := o.Tree(t.Context(), tree)
			if err != nil || len(entries) < 2 || entries[0].Name != "a" || !entries[1].IsTree() && !entries[2].IsTree() {
				t.Fatalf("%s, %s: Tree = %+v, %v", format, state, entries, err)
			}
			if _, err := o.readHere(want{id: tree, kind: "tree", limit: 1 << 20}); err != nil {
				t.Errorf("%s, %s: not read in process: %v", format, state, err)
			}
			text, err := o.Blob(t.Context(), entries[0].ID, 2)
			if err != nil || string(text) != "1\n" {
				t.Errorf("%s, %s: Blob = %q, %v", format, state, text, err)
			}
			var large *SizeError
			if _, err := o.Blob(t.Context(), entries[0].ID, 1); !errors.As(err, &large) || large.Size != 2 {
				t.Errorf("%s, %s: a blob above the limit: %v, want a SizeError", format, state, err)
			}
			var missing *MissingObjectError
			absent := Hash(strings.Repeat("1", len(commit)))
			if _, err := o.Blob(t.Context(), absent, 1); !errors.As(err, &missing) {
				t.Errorf("%s, %s: no such blob: %v, want a MissingObjectError", format, state, err)
			}
			if _, err := o.Tree(t.Context(), commit); err == nil || errors.As(err, &missing) {
				t.Errorf("%s, %s: a commit as a tree: %v, want an error", format, state, err)
			}
		}
		if _, err := o.Tree(t.Context(), "--help"); err == nil {
			t.Error("a name that is none was read")
		}
	}
}

// TestObjectsFetch: a partial clone has the rest elsewhere.
func TestObjectsFetch(t *testing.T) {
	t.Parallel()
	y := newObjectFixture(t)
	y.git("config", "uploadpack.allowFilter", "true")
	y.git("config", "uploadpack.allowAnySHA1InWant", "true")
	clone := filepath.Join(y.home, "clone")
	y.git("clone", "-q", "--bare", "--filter=tree:0", "file://"+y.dir, clone)
	repo, err := New(y.environ()).Discover(t.Context(), clone)
	y.must(err)
	frozen, err := repo.Freeze(t.Context(), filepath.Join(y.home, "frozen"))
	y.must(err)
	y.q, err = frozen.Quarantine(filepath.Join(y.home, "objects"))
	y.must(err)
	entries, err := y.objects().Tree(t.Context(), y.hash("HEAD^{tree}"))
	if err != nil || len(entries) != 2 {
		t.Errorf("Tree = %+v, %v; want it fetched", entries, err)
	}
}

// TestObjectsEndWithTheContext: a question that is called off leaves nothing
// behind that a later answer could be mistaken for.
func TestObjectsEndWithTheContext(t *testing.T) {
	t.Parallel()
	y := newObjectFixture(t)
	o := y.objects()
	o.files = &objectFiles{} // finds nothing: all is asked for
	tree := y.hash("HEAD^{tree}")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	// Either answer is right: it may come before anybody hears the call.
	if entries, err := o.Tree(ctx, tree); err == nil && len(entries) != 2 {
		t.Errorf("Tree with an ended context = %+v", entries)
	}
	o.trees = treeCache{}
	if entries, err := o.Tree(t.Context(), tree); err != nil || len(entries) != 2 {
		t.Errorf("Tree after one that was called off = %+v, %v", entries, err)
	}
	// The process that reads for us is killed.
	o.asked.stop(errors.New("killed by the test"))
	o.asked.ended <- <-o.asked.ended
	o.trees = treeCache{}
	if entries, err := o.Tree(t.Context(), tree); err != nil || len(entries) != 2 {
		t.Errorf("Tree after a kill = %+v, %v", entries, err)
	}
}

// TestWriteTree: git reads our trees, in its own order.
func TestWriteTree(t *testing.T) {
	t.Parallel()
	for _, format := range formats {
		y := newObjectFixture(t, "--object-format="+format)
		o := y.objects()
		blob, tree := y.hash("HEAD:a"), y.hash("HEAD:d")
		give := []TreeEntry{
			{"x", TreeMode, tree}, {"x.a", "100644", blob}, {"x0", "100755", blob},
			{"a \"\n\xff", "120000", blob}, {"sub", "160000", y.hash("HEAD")},
		}
		h, err := o.WriteTree(t.Context(), give)
		y.must(err)
		want := []TreeEntry{give[3], give[4], give[1], give[0], give[2]}
		if got, err := o.Tree(t.Context(), h); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: Tree(WriteTree) = %+v, %v; want %+v", format, got, err, want)
		}
		for _, args := range [][]string{{"ls-tree", "-r", string(h)}, {"fsck", "--strict", "--no-dangling", string(h)}} {
			if _, err := y.q.Run(t.Context(), Cmd{Args: args}); err != nil {
				t.Errorf("%s: git %s: %v", format, args[0], err)
			}
		}
		empty, err := o.WriteTree(t.Context(), nil)
		if err != nil || empty != y.repo.EmptyTree() {
			t.Errorf("%s: the empty tree is %s, %v; want %s", format, empty, err, y.repo.EmptyTree())
		}
		if again, err := o.WriteTree(t.Context(), give); err != nil || again != h {
			t.Errorf("%s: writing again: %s, %v", format, again, err)
		}
	}
	o := newObjectFixture(t).objects()
	id := Hash(strings.Repeat("1", 40))
	for name, give := range map[string][]TreeEntry{
		"a slash": {{"a/b", "100644", id}}, "no name": {{"", "100644", id}},
		"two of a name": {{"a", "100644", id}, {"a", TreeMode, id}},
		"no id":         {{"a", "100644", "z"}}, "no mode": {{"a", absent, id}},
	} {
		if h, err := o.WriteTree(t.Context(), give); err == nil {
			t.Errorf("%s: WriteTree = %s, want an error", name, h)
		}
	}
}

// TestWriteCommit: the commit equals the commit that git would write.
func TestWriteCommit(t *testing.T) {
	t.Parallel()
	for _, format := range formats {
		y := newObjectFixture(t, "--object-format="+format)
		o := y.objects()
		when := time.Date(2024, 5, 6, 7, 8, 9, 0, time.FixedZone("", -(3*60+30)*60))
		for _, p := range []Person{
			{"A User", "user@example.com", when},
			{"", "", when},
			{"  <Dr. \"Ä\" X,> ", " <a@b> ", when},
			{"<>", "<>\n", when},
			{"one\ntwo", "a@b", when.UTC()},
		} {
			c := CommitRequest{
				Tree: y.hash("HEAD^{tree}"), Parents: []Hash{y.hash("HEAD")},
				Message: "subject\n\nTrailer: ä\n", Author: p, Committer: Swarm(when),
			}
			got, err := o.WriteCommit(t.Context(), c)
			y.must(err)
			want, err := y.q.CommitTree(t.Context(), c)
			if err != nil || got != want {
				t.Errorf("%s: commit by %+v is %s, git's is %s, %v", format, p, got, want, err)
			}
		}
		if _, err := o.WriteCommit(t.Context(), CommitRequest{Message: "a\x00b"}); err == nil {
			t.Errorf("%s: a NUL in a message was taken", format)
		}
	}
}

// TestIdentKeepsADot: git before 2.42 drops the dot, so it is no measure here.
func TestIdentKeepsADot(t *testing.T) {
	t.Parallel()
	p := Person{Name: "A. User, Jr.", Email: "a@b.", When: time.Unix(0, 0).UTC()}
	if got, want := p.ident(), "A. User, Jr. <a@b.> 0 +0000"; got != want {
		t.Errorf("ident = %q, want %q", got, want)
	}
}

func FuzzTreeObject(f *testing.F) {
	id := strings.Repeat("\x11", 20)
	f.Add([]byte("100644 a\x00" + id + "40000 b\x00" + id + "100664 c\x00" + id))
	f.Add([]byte("0 b\x00" + id))
	f.Add([]byte("100644 a\x00short"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		entries, err := parseTreeObject(raw, 20)
		if err != nil {
			return
		}
		again, err := encodeTree(entries)
		if err != nil {
			return // names that no tree may hold
		}
		back, err := parseTreeObject(again, 20)
		if err != nil || len(back) != len(entries) {
			t.Errorf("parse(encode(%+v)) = %+v, %v", entries, back, err)
		}
	})
}

func FuzzBatchHead(f *testing.F) {
	f.Add("1234 blob 12\n")
	f.Add("1234 missing\n")
	f.Add("1234 blob -1\n")
	f.Fuzz(func(t *testing.T, head string) {
		if _, size, err := parseBatchHead(head); err == nil && size < 0 {
			t.Errorf("parseBatchHead(%q) has size %d", head, size)
		}
	})
}
