package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fixture is a folder with a repository, a state folder and a HOME.
type fixture struct{ dir, home, repo, state string }

func newFixture(t *testing.T) fixture {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	y := fixture{dir, filepath.Join(dir, "home"), filepath.Join(dir, "home/code/repo"), filepath.Join(dir, "state")}
	for _, sub := range []string{"home/.ssh", "home/.cache/tool", "home/code/repo/pkg", "home/code/other", "state/trees", "data", "run/swarm", "link"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{
		"data.link": "data", "home.link": "home", "link/repo": "../home/code/repo", "link/ssh": "../home/.ssh", "dangling": "none/x", "loop": "loop",
	} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return y
}

func (y fixture) surroundings() Surroundings {
	return Surroundings{
		Home: y.home, Repo: []string{y.repo, filepath.Join(y.dir, "git")}, State: y.state,
		Closed: []string{filepath.Join(y.home, ".ssh"), filepath.Join(y.dir, "run/swarm"), filepath.Join(y.dir, "none/sockets")},
		Hide:   []string{filepath.Join(y.home, "code/other"), filepath.Join(y.home, ".cache")},
	}
}

// paths makes a list of a single path; its D is the folder of the fixture.
func (y fixture) paths(text string) []Path {
	text = strings.ReplaceAll(text, "D", y.dir)
	return []Path{{Text: text, Key: "k[0]", Origin: Origin{Layer: User, File: "f", Line: 7}}}
}

func TestWriteFolders(t *testing.T) {
	t.Parallel()
	y := newFixture(t)
	for _, tt := range []struct{ give, want, wrong string }{
		{give: "D/data", want: "D/data"},
		{give: "D//data/./", want: "D/data"},
		{give: "D/data.link", want: "D/data"},
		{give: "~/.cache/tool", want: "D/home/.cache/tool"}, // below a hidden folder
		{give: "~/code/../.cache/tool", want: "D/home/.cache/tool"},
		{give: "D/nope", wrong: "there is no folder D/nope; make it first"},
		{give: "D/dangling", wrong: "there is no folder D/dangling; make it first"},
		{give: "D/file", wrong: "D/file is not a folder"},
		{give: "D/home", wrong: "D/home is HOME D/home; name a folder in it"},
		{give: "D/home.link", wrong: "D/home is HOME D/home; name a folder in it"},
		{give: "D", wrong: "D covers HOME D/home; name a folder in it"},
		{give: "D/../..", wrong: "covers"},
		{give: "D/home/code/repo", wrong: "D/home/code/repo is the repository D/home/code/repo: agents change copies of it only"},
		{give: "D/link/repo/pkg", wrong: "D/home/code/repo/pkg lies in the repository D/home/code/repo: agents change copies of it only"},
		{give: "~/code", wrong: "D/home/code covers the repository D/home/code/repo: agents change copies of it only"},
		{give: "D/git/objects", wrong: "D/git/objects lies in the repository D/git: agents change copies of it only"},
		{give: "D/state", wrong: "D/state is the state folder D/state, where the records of all runs are"},
		{give: "D/state/trees", wrong: "D/state/trees lies in the state folder D/state, where the records of all runs are"},
		{give: "~/.ssh", wrong: "D/home/.ssh is D/home/.ssh, which is hidden from agents"},
		{give: "D/link/ssh/keys", wrong: "D/home/.ssh/keys lies in D/home/.ssh, which is hidden from agents"},
		{give: "D/run", wrong: "D/run covers D/run/swarm, which is hidden from agents"},
		{give: "D/none/sockets", wrong: "D/none/sockets is D/none/sockets, which is hidden from agents"},
		{give: "~/code/other", wrong: "D/home/code/other is D/home/code/other, which is hidden"},
		{give: "~/.cache", wrong: "D/home/.cache is D/home/.cache, which is hidden"},
		{give: "x", wrong: `expected an absolute path, or one that begins with ~/, got "x"`},
	} {
		got, err := y.surroundings().WriteFolders(y.paths(tt.give))
		want := strings.ReplaceAll(tt.want, "D", y.dir)
		wrong := strings.ReplaceAll(tt.wrong, "D", y.dir)
		switch e, _ := errors.AsType[*Error](err); {
		case tt.wrong == "covers":
			if err == nil || !strings.Contains(e.Reason, "covers ") {
				t.Errorf("WriteFolders(%s) = %q, %v, want it refused", tt.give, got, err)
			}
		case tt.wrong != "" && (err == nil || err.Error() != "f:7: k[0]: "+wrong):
			t.Errorf("WriteFolders(%s) = %q, %v, want %s", tt.give, got, err, wrong)
		case tt.wrong == "" && (err != nil || !slices.Equal(got, []string{want})):
			t.Errorf("WriteFolders(%s) = %q, %v, want %s", tt.give, got, err, want)
		}
	}
	twice := slices.Concat(y.paths("D/data"), y.paths("D/data.link"))
	if got, err := y.surroundings().WriteFolders(twice); err != nil || len(got) != 1 {
		t.Errorf("WriteFolders of one folder twice = %q, %v, want it once", got, err)
	}
	absent := y.surroundings()
	absent.Absent = true
	for give, ok := range map[string]bool{"D/nope": true, "D/none/sockets": false, "D/file": false, "D/loop": false} {
		if got, err := absent.WriteFolders(y.paths(give)); (err == nil) != ok {
			t.Errorf("WriteFolders(%s) where it may be absent = %q, %v, want it accepted: %t", give, got, err, ok)
		}
	}
	homeless := y.surroundings()
	homeless.Home = ""
	if _, err := homeless.WriteFolders(y.paths("~/x")); err == nil || !strings.Contains(err.Error(), "needs HOME") {
		t.Errorf("WriteFolders without HOME = %v, want that it needs one", err)
	}
}

func TestHidePaths(t *testing.T) {
	t.Parallel()
	y := newFixture(t)
	for _, tt := range []struct{ give, want, wrong string }{
		{give: "D/data", want: "D/data"},
		{give: "D/data.link", want: "D/data"}, // not the link
		{give: "D/file", want: "D/file"},
		{give: "D/none/x", want: "D/none/x"},
		{give: "D/data.link/none", want: "D/data/none"},
		{give: "D/file/x", want: "D/file/x"},
		{give: "D/loop", want: "D/loop"},
		{give: "~/", want: "D/home"},
		{give: "~/code", want: "D/home/code"}, // all but the workspace
		{give: "D/state", want: "D/state"},
		{give: "D/home/code/repo", wrong: "D/home/code/repo is the repository D/home/code/repo: agents work in copies of it, and see all of those"},
		{give: "D/link/repo/pkg", wrong: "D/home/code/repo/pkg lies in the repository D/home/code/repo: agents work in copies of it, and see all of those"},
		{give: "D/../../../../../../../../../../..", wrong: `"/" covers everything; name a folder`},
	} {
		got, err := y.surroundings().HidePaths(y.paths(tt.give))
		want := strings.ReplaceAll(tt.want, "D", y.dir)
		wrong := strings.ReplaceAll(tt.wrong, "D", y.dir)
		switch {
		case tt.wrong != "" && (err == nil || err.Error() != "f:7: k[0]: "+wrong):
			t.Errorf("HidePaths(%s) = %q, %v, want %s", tt.give, got, err, wrong)
		case tt.wrong == "" && (err != nil || !slices.Equal(got, []string{want})):
			t.Errorf("HidePaths(%s) = %q, %v, want %s", tt.give, got, err, want)
		}
	}
}

// TestMisplaced checks all lists of all files. A missing path is no fault of a
// file.
func TestMisplaced(t *testing.T) {
	t.Parallel()
	y := newFixture(t)
	text := func(s string) string { return strings.ReplaceAll(s, "D", y.dir) }
	c := mustLoad(t,
		user(text("[sandbox]\nhide = ['D/data']\nwrite = ['D/nope', 'D/state', 'D/data']\n[agents.u]\ncommand = ['x']\nwrite = ['~/.ssh']")),
		project(text("[sandbox]\nhide = ['D/home/code/repo/pkg']\n[agents.p]\ncommand = ['x']\nwrite = ['D/data', 'D']")))
	s := y.surroundings()
	var got []string
	for _, e := range c.Misplaced(s) {
		got = append(got, e.File+":"+e.Key)
	}
	want := []string{
		".swarm/config.toml:sandbox.hide[0]", "user.toml:sandbox.write[1]", "user.toml:sandbox.write[2]",
		".swarm/config.toml:agents.p.write[0]", ".swarm/config.toml:agents.p.write[1]", "user.toml:agents.u.write[0]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("Misplaced = %q, want %q", got, want)
	}
}

// FuzzPaths: a text that is accepted never leads to the root, and the rule that
// the schema has is the parser's.
func FuzzPaths(f *testing.F) {
	for _, seed := range []string{"/", "~/", "/a/../..", "~/../..", "//..//.", "/...", "~", "~x/y", "/\xff"} {
		f.Add(seed)
	}
	s := Surroundings{Home: "/nowhere/home", Repo: []string{"/nowhere/repo"}, State: "/nowhere/state", Absent: true}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := s.hidePath(text)
		if err == nil && (got == "/" || !filepath.IsAbs(got) || filepath.Clean(got) != got) {
			t.Errorf("hidePath(%q) = %q, want a clean path below the root", text, got)
		}
		got, err = s.writeFolder(text)
		if err == nil && (got == "/" || relate(got, s.Home) == equal || relate(got, s.Home) == covers) {
			t.Errorf("writeFolder(%q) = %q, which opens everything", text, got)
		}
	})
}
