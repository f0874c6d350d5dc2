package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const someID = "0123456789012345678901234567890123456789"

func TestPrivateHead(t *testing.T) {
	t.Parallel()
	packed := "# pack-refs with: peeled fully-peeled sorted \n" + someID + " refs/heads/packed\n^" + strings.Repeat("a", 40) + "\n"
	for _, tt := range []struct {
		name, want string
		files      []string // name, content
		links      []string // name, target
	}{
		{name: "detached", files: []string{"HEAD", someID + "\n"}, want: someID},
		{name: "loose", files: []string{"HEAD", "ref: refs/heads/x\n", "refs/heads/x", someID + "\n"}, want: someID},
		{name: "packed", files: []string{"HEAD", "ref: refs/heads/packed\n", "packed-refs", packed}, want: someID},
		{
			name: "loose before packed", want: strings.Repeat("b", 40),
			files: []string{
				"HEAD", "ref: refs/heads/packed\n", "packed-refs", packed,
				"refs/heads/packed", strings.Repeat("b", 40) + "\n",
			},
		},
		{
			name: "through another", want: someID,
			files: []string{"HEAD", "ref: refs/heads/x\n", "refs/heads/x", "ref: refs/heads/y", "refs/heads/y", someID + "\n"},
		},
		{name: "unborn", files: []string{"HEAD", "ref: refs/heads/x\n"}},
		{name: "nothing", files: []string{"config", ""}},
		{name: "in a circle", files: []string{"HEAD", "ref: refs/heads/x\n", "refs/heads/x", "ref: refs/heads/x\n"}},
		{name: "out of the folder", files: []string{"HEAD", "ref: refs/../../outside\n"}},
		{name: "not a ref", files: []string{"HEAD", "ref: config\n", "config", someID + "\n"}},
		{name: "a short name", files: []string{"HEAD", someID[:39] + "\n"}},
		{name: "too long", files: []string{"HEAD", someID + " " + strings.Repeat("x", maxRefFile)}},
		{name: "a symlink within", files: []string{"real", someID + "\n"}, links: []string{"HEAD", "real"}, want: someID},
		{name: "a symlink out", links: []string{"HEAD", "../outside"}},
		{
			name: "a folder that is a symlink out", files: []string{"HEAD", "ref: refs/heads/outside\n"},
			links: []string{"refs/heads", "../../"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			above := t.TempDir()
			dir := filepath.Join(above, "git")
			put := func(path, text string) {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			put(filepath.Join(above, "outside"), someID+"\n")
			put(filepath.Join(dir, "description"), "")
			for i := 0; i < len(tt.files); i += 2 {
				put(filepath.Join(dir, tt.files[i]), tt.files[i+1])
			}
			for i := 0; i < len(tt.links); i += 2 {
				put(filepath.Join(dir, tt.links[i]+".beside"), "")
				if err := os.Symlink(tt.links[i+1], filepath.Join(dir, tt.links[i])); err != nil {
					t.Fatal(err)
				}
			}
			r := &Repo{ObjectFormat: "sha1"}
			if got, err := r.PrivateHead(dir); string(got) != tt.want || err != nil {
				t.Errorf("PrivateHead = %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

// FuzzPrivateHead holds that whatever lies in a git dir, HEAD leads to the name
// of an object or nowhere.
func FuzzPrivateHead(f *testing.F) {
	f.Add("ref: refs/heads/x\n", someID+"\n", someID+" refs/heads/y\n")
	f.Add("ref: refs/heads/y\n", "", "# x\n"+someID+" refs/heads/y\n^"+someID+"\n")
	f.Add(someID, "ref: refs/heads/x", "")
	f.Fuzz(func(t *testing.T, head, loose, packed string) {
		dir := t.TempDir()
		for name, text := range map[string]string{"HEAD": head, "refs/heads/x": loose, "packed-refs": packed} {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		r := &Repo{ObjectFormat: "sha1"}
		if got, err := r.PrivateHead(dir); err != nil || got != "" && !r.named(got) {
			t.Errorf("PrivateHead = %q, %v", got, err)
		}
	})
}

// TestHeadFile compares with git, where the file tells.
func TestHeadFile(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, want string
		give       []string // a git command
		asks       bool     // git must tell
	}{
		{name: "unborn", want: "refs/heads/main"},
		{name: "branch", want: "refs/heads/a/b", give: []string{"checkout", "-q", "-b", "a/b"}},
		{name: "detached", give: []string{"checkout", "-q", "--detach"}, asks: true},
		{name: "a branch that points at another", want: "refs/heads/main", give: []string{"symbolic-ref", "HEAD", "refs/heads/alias"}, asks: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := newFixture(t)
			if tt.give != nil {
				g.commit("a", "a")
				g.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
				g.git(tt.give...)
			}
			r := g.repo()
			if got := r.headFile(); (got == "") != tt.asks || got != "" && got != tt.want {
				t.Errorf("headFile = %q, want %q, by git: %v", got, tt.want, tt.asks)
			}
			if got, err := r.Branch(t.Context()); err != nil || got != tt.want {
				t.Errorf("Branch = %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestNoRefsUnder(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	at := g.commit("a", "a")
	r := g.repo()
	check := func(prefix string, want bool) {
		t.Helper()
		if got := r.noRefsUnder(prefix); got != want {
			t.Errorf("noRefsUnder(%q) = %v, want %v", prefix, got, want)
		}
	}
	check("refs/swarm/", true)
	g.git("update-ref", "refs/swarm/x/1", string(at))
	check("refs/swarm/", false)
	check("refs/swarm/x/", false)
	check("refs/swarm/y/", true)
	check("refs/swarm/x/1/", false) // git must tell
	g.git("pack-refs", "--all", "--prune")
	check("refs/swarm/x/", false)
	check("refs/swarm/x/1/", true)
	check("refs/swarm/y/", true)
	check("refs/swarm", false) // no prefix of a folder
	check("../x/", false)
}

// TestValidRef asks git for the same.
func TestValidRef(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	r, err := New(g.environ()).Discover(t.Context(), g.root)
	g.ok(err)
	for _, name := range []string{
		"refs/heads/x", "refs/x/y.z", "refs/heads/é", "refs/heads/@", "refs/x/a@b", "refs/heads/-x",
		"refs", "refs/", "refs//x", "refs/x/", "refs/.x", "refs/x..y", "refs/x.lock", "refs/x.lock/y", "refs/x.",
		"refs/x y", "refs/x~", "refs/x^", "refs/x:", "refs/x?", "refs/x*", "refs/x[", `refs/x\`, "refs/x\x7f",
		"refs/x\ty", "refs/x@{y", "heads/x", "/refs/x", "",
	} {
		want := strings.HasPrefix(name, "refs/") && r.CheckRef(t.Context(), name) == nil
		if got := validRef(name); got != want {
			t.Errorf("validRef(%q) = %v, want %v", name, got, want)
		}
	}
}

// TestCreateRef holds that a ref is made where git would make it, and left to
// git where anything is in the way.
func TestCreateRef(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	g.git("commit", "-q", "--allow-empty", "-m", "x")
	id := Hash(g.git("rev-parse", "HEAD"))
	r, err := New(g.environ()).Discover(t.Context(), g.root)
	g.ok(err)
	g.git("update-ref", "refs/x/packed", string(id))
	g.git("pack-refs", "--all")
	g.git("update-ref", "refs/x/loose", string(id))
	for _, tt := range []struct {
		name string
		ok   bool
	}{
		{"refs/x/new", true},
		{"refs/y/deep/new", true},
		{"refs/x/new", false},
		{"refs/x/packed", false},
		{"refs/x/loose", false},
		{"refs/x/packed/below", false},
		{"refs/x/loose/below", false},
		{"refs/x", false},
		{"refs/x/..", false},
	} {
		if !tt.ok && strings.HasPrefix(tt.name, "refs/x/p") && r.NoRef(tt.name) && tt.name == "refs/x/packed" {
			t.Errorf("NoRef(%q)", tt.name)
		}
		if err := r.createRef(tt.name, id); (err == nil) != tt.ok {
			t.Errorf("createRef(%q) = %v, want ok = %v", tt.name, err, tt.ok)
		}
	}
	if got := g.git("rev-parse", "refs/x/new", "refs/y/deep/new", "refs/x/packed"); got != string(id)+"\n"+string(id)+"\n"+string(id) {
		t.Errorf("git reads %q", got)
	}
	if left, err := filepath.Glob(filepath.Join(r.CommonDir, "refs", "*", "*.lock")); err != nil || len(left) > 0 {
		t.Errorf("locks left: %v, %v", left, err)
	}
	lock := filepath.Join(r.CommonDir, "refs", "x", "held.lock")
	g.ok(os.WriteFile(lock, nil, 0o600))
	if err := r.createRef("refs/x/held", id); err == nil {
		t.Error("made a ref that another has locked")
	}
}
