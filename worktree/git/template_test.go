package git

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// private makes a git dir for the commit at HEAD, of a template of a
// repository as it is seen from a folder.
func (g *fixture) private(from string) (t *Template, dir string) {
	g.Helper()
	repo, err := New(g.environ()).Discover(g.Context(), from)
	g.ok(err)
	at := g.TempDir()
	frozen, err := repo.Freeze(g.Context(), filepath.Join(at, "frozen"))
	g.ok(err)
	t, err = repo.Template(g.Context(), TemplateRequest{Dir: filepath.Join(at, "template"), Frozen: frozen})
	g.ok(err)
	dir = filepath.Join(at, "git")
	tree := filepath.Join(at, "tree")
	base := Hash(g.in(from, "rev-parse", "HEAD"))
	g.ok(os.Mkdir(tree, 0o700))
	g.ok(frozen.Fill(g.Context(), FillRequest{Dir: tree, Admin: at, Base: base}))
	g.ok(t.Private(PrivateRequest{
		Dir: dir, Base: base, Index: filepath.Join(at, "index"), Objects: filepath.Join(repo.CommonDir, "objects"),
	}))
	g.ok(os.WriteFile(filepath.Join(tree, ".git"), []byte("gitdir: "+dir+"\n"), 0o600))
	if got := g.in(tree, "status", "--porcelain"); got != "" {
		g.Errorf("a new git dir says\n%s", got)
	}
	g.in(tree, "fsck", "--strict", "--connectivity-only")
	return t, dir
}

func TestTemplateConfig(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	g.commit("a", "a\n")
	g.ok(os.WriteFile(filepath.Join(g.home, "more"), []byte("[x]\n\tfrom = included\n"), 0o600))
	for _, kv := range [][2]string{
		{"include.path", filepath.Join(g.home, "more")}, {"core.worktree", g.root}, {"core.fsmonitor", "true"},
		{"x.quoted", "a \"b\" \\ # ; c"}, {"x.A b.C", "sub"}, {"gc.auto", "7"}, {"extensions.worktreeConfig", "false"},
		{"index.sparse", "true"}, {"core.splitIndex", "true"},
	} {
		g.git("config", kv[0], kv[1])
	}
	g.git("config", "--add", "x.many", "1")
	g.git("config", "--add", "x.many", "2")
	_, dir := g.private(g.root)
	list := g.in(dir, "--git-dir="+dir, "config", "--file", filepath.Join(dir, "config"), "--list")
	for _, want := range []string{
		"x.from=included", `x.quoted=a "b" \ # ; c`, "x.A b.c=sub", "x.many=1\nx.many=2", "gc.auto=0",
		"core.fsmonitor=false", "core.untrackedcache=true", "user.name=User",
	} {
		if strings.Count("\n"+list+"\n", "\n"+want+"\n") != 1 {
			t.Errorf("want %q once in\n%s", want, list)
		}
	}
	for _, not := range []string{"core.worktree", "include.path", "gc.auto=7", "extensions.", "index.sparse", "splitindex"} {
		if strings.Contains(list, not) {
			t.Errorf("%q is in\n%s", not, list)
		}
	}
}

// TestTemplateOfWorktree has a linked worktree with a configuration, a branch
// and a sparse checkout of its own.
func TestTemplateOfWorktree(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	g.commit("a", "a\n", "in/x", "x\n", "out/y", "y\n")
	dir := filepath.Join(g.home, "linked")
	g.git("worktree", "add", "-q", "-b", "deep/topic", dir)
	g.in(dir, "sparse-checkout", "set", "--cone", "in") // turns extensions.worktreeConfig on
	g.in(dir, "config", "--worktree", "x.own", "yes")
	made, private := g.private(dir)
	if made.Branch != "refs/heads/deep/topic" {
		t.Errorf("on %q", made.Branch)
	}
	git := func(args ...string) string { return g.in(dir, append([]string{"--git-dir=" + private}, args...)...) }
	if got := git("config", "--get-all", "x.own"); got != "yes" {
		t.Errorf("x.own = %q", got)
	}
	if got := git("config", "--get-all", "core.sparseCheckout"); got != "true" {
		t.Errorf("core.sparseCheckout = %q", got)
	}
	if got := git("symbolic-ref", "HEAD"); got != "refs/heads/deep/topic" {
		t.Errorf("HEAD = %s", got)
	}
	if got := git("sparse-checkout", "list"); got != "in" {
		t.Errorf("sparse: %q", got)
	}
}

func TestTemplateRefs(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	first := g.commit("a", "a\n")
	g.git("tag", "-m", "v1", "v1")
	base := g.commit("a", "b\n")
	var packed strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&packed, "%s refs/heads/b%05d/x\n", first, i)
	}
	g.ok(os.WriteFile(filepath.Join(g.root, ".git/packed-refs"), []byte(packed.String()), 0o600))
	g.git("update-ref", "refs/remotes/origin/main", string(first))
	g.git("update-ref", "refs/swarm/r/a/1", string(first))
	g.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	g.write("a", "stashed\n")
	g.git("stash", "-q")
	want := g.git("for-each-ref", "--format=%(objectname) %(refname) %(symref) %(*objectname)")
	g.git("switch", "-q", "--detach")
	made, dir := g.private(g.root)
	if made.Branch != "" {
		t.Errorf("on %q, want none", made.Branch)
	}
	got := g.in(dir, "--git-dir="+dir, "for-each-ref", "--format=%(objectname) %(refname) %(symref) %(*objectname)")
	lines := slices.DeleteFunc(strings.Split(want, "\n"), func(line string) bool {
		return strings.Contains(line, "refs/swarm/") || strings.Contains(line, "refs/stash")
	})
	if got != strings.Join(lines, "\n") {
		t.Errorf("%d refs, want %d", strings.Count(got, "\n")+1, len(lines))
	}
	if head := g.in(dir, "--git-dir="+dir, "rev-parse", "HEAD"); head != string(base) {
		t.Errorf("HEAD = %s", head)
	}
}

// TestTemplateOfDamagedRefs begins where a tag leads nowhere.
func TestTemplateOfDamagedRefs(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	g.commit("a", "a\n")
	g.ok(os.WriteFile(filepath.Join(g.root, ".git/refs/tags/bad"), []byte(strings.Repeat("1", 40)+"\n"), 0o600),
		os.WriteFile(filepath.Join(g.root, ".git/refs/tags/worse"), []byte("x\n"), 0o600))
	frozen := g.frozen()
	made, err := g.repo().Template(t.Context(), TemplateRequest{Dir: filepath.Join(g.TempDir(), "t"), Frozen: frozen})
	g.ok(err)
	text, err := os.ReadFile(filepath.Join(made.Dir, "packed-refs"))
	if err != nil || !strings.Contains(string(text), "refs/heads/main") || strings.Contains(string(text), "fully-peeled") {
		t.Errorf("packed-refs = %q, %v", text, err)
	}
}

func TestTemplateFiles(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	g.commit("a", "a\n", "scripts/hook", "#!/bin/sh\n")
	common := filepath.Join(g.root, ".git")
	put := func(name, text string, mode os.FileMode) {
		path := filepath.Join(common, name)
		g.ok(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), mode))
	}
	put("hooks/pre-commit", "1", 0o755)
	put("hooks/pre-push.sample", "2", 0o755)
	put("hooks/lib/sh", "3", 0o644)
	put("own/post-commit", "4", 0o755)
	put("info/exclude", "*.x\n", 0o644)
	g.ok(os.Symlink("../../scripts/hook", filepath.Join(common, "hooks/post-merge")),
		os.Symlink("nowhere", filepath.Join(common, "hooks/broken")))
	g.git("config", "core.hooksPath", ".git/own")
	_, dir := g.private(g.root)
	for name, want := range map[string]string{
		"hooks/pre-commit": "-rwx------ 1", "hooks/lib/sh": "-rw------- 3", "own/post-commit": "-rwx------ 4",
		"hooks/post-merge": "-rw------- #!/bin/sh\n", "info/exclude": "-rw------- *.x\n", "config": "",
	} {
		at, err := os.Lstat(filepath.Join(dir, name))
		g.ok(err)
		text, err := os.ReadFile(filepath.Join(dir, name))
		g.ok(err)
		if got := at.Mode().String() + " " + string(text); want != "" && got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"hooks/pre-push.sample", "hooks/broken", "FETCH_HEAD", "logs"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
}

// TestTemplateBorrows has a shallow repository, a SHA-256 repository, and a
// repository that borrows from another by a relative name.
func TestTemplateBorrows(t *testing.T) {
	t.Parallel()
	t.Run("alternates", func(t *testing.T) {
		t.Parallel()
		g := newFixture(t)
		g.commit("a", "a\n")
		copied := filepath.Join(g.home, "copied")
		g.in(g.home, "clone", "-q", "--shared", g.root, copied)
		rel, err := filepath.Rel(filepath.Join(copied, ".git/objects"), filepath.Join(g.root, ".git/objects"))
		g.ok(err, os.WriteFile(filepath.Join(copied, ".git/objects/info/alternates"), []byte("# x\n"+rel+"\n"), 0o600))
		_, dir := g.private(copied)
		text, err := os.ReadFile(filepath.Join(dir, "objects/info/alternates"))
		if err != nil || strings.Count(string(text), "\n") != 2 {
			t.Errorf("alternates = %q, %v", text, err)
		}
	})
	t.Run("what is no folder of objects", func(t *testing.T) {
		t.Parallel()
		g := newFixture(t)
		g.commit("a", "a\n")
		copied, objects := filepath.Join(g.home, "copied"), filepath.Join(g.root, ".git/objects")
		g.in(g.home, "clone", "-q", "--shared", g.root, copied)
		f, err := os.OpenFile(filepath.Join(copied, ".git/objects/info/alternates"), os.O_APPEND|os.O_WRONLY, 0)
		g.ok(err)
		_, err = f.WriteString(g.home + "\n" + filepath.Join(g.root, "a") + "\n" + g.home + "/none\n")
		g.ok(err, f.Close())
		repo, err := New(g.environ()).Discover(t.Context(), copied)
		g.ok(err)
		if got := repo.Borrowed(); !slices.Equal(got, []string{objects}) {
			t.Errorf("Borrowed = %q, want %s alone", got, objects)
		}
	})
	t.Run("shallow", func(t *testing.T) {
		t.Parallel()
		g := newFixture(t)
		g.commit("a", "a\n")
		g.commit("a", "b\n")
		copied := filepath.Join(g.home, "copied")
		g.in(g.home, "clone", "-q", "--depth=1", "file://"+g.root, copied)
		_, dir := g.private(copied)
		if got := g.in(dir, "--git-dir="+dir, "rev-list", "--count", "HEAD"); got != "1" {
			t.Errorf("%s commits", got)
		}
	})
	t.Run("sha256", func(t *testing.T) {
		t.Parallel()
		g := newFixture(t, "--object-format=sha256")
		g.commit("a", "a\n")
		_, dir := g.private(g.root)
		if got := g.in(dir, "--git-dir="+dir, "rev-parse", "--show-object-format"); got != "sha256" {
			t.Errorf("format %s", got)
		}
	})
}

func TestConfigKeyForms(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{
		"core.bare": false, "core.worktree": false, "core.autocrlf": true, "include.path": false,
		"includeif.gitdir:/x.path": false, "extensions.partialclone": true, "extensions.refstorage": false,
		"core.sparsecheckout": false, "core.sparsecheckoutcone": true, "": false,
	} {
		if got := (configKey{name: key}).copied(); got != want {
			t.Errorf("%q is copied: %v", key, got)
		}
	}
}
