package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentswarm/internal/testprogram"
	"agentswarm/worktree/workspace"
)

// marker is a file whose existence says that a command ran.
func marker(f *fixture) string { return filepath.Join(f.home, "ran") }

func ran(f *fixture) bool {
	_, err := os.Lstat(marker(f))
	return err == nil
}

func changed(c *Capture) string {
	var all []string
	for _, ch := range c.Files {
		all = append(all, string(ch.Status)+" "+ch.Path)
	}
	return strings.Join(all, ", ")
}

func wantChanged(want string) func(*fixture, *workspace.Workspace, *Capture) {
	return func(f *fixture, _ *workspace.Workspace, c *Capture) {
		f.t.Helper()
		if got := changed(c); got != want {
			f.t.Errorf("changed = %q, want %q", got, want)
		}
	}
}

// script writes an executable shell script.
func (f *fixture) script(path, text string) {
	f.t.Helper()
	f.mkdir(filepath.Dir(path))
	testprogram.Write(f.t, path, "#!/bin/sh\n"+text)
}

func TestCaptureByTheRulesOfTheBase(t *testing.T) {
	t.Parallel()
	upper := func(f *fixture) {
		f.write(f.home, ".gitconfig",
			"[filter \"up\"]\n\tclean = tr a-z A-Z\n\tsmudge = tr A-Z a-z\n\trequired\n")
	}
	scenes := []scene{
		{
			name: "a folder with rules that became a symlink",
			base: []string{"old/.gitattributes", "* text\n", "old/f", "f\n"},
			act: func(f *fixture, w *workspace.Workspace) {
				// Rename(2) cannot do it everywhere.
				must(f.t, exec.Command("mv", filepath.Join(f.at(w), "old"), filepath.Join(f.at(w), "new")).Run(),
					os.Symlink("new", filepath.Join(f.at(w), "old")))
			},
			after: wantChanged("A new/.gitattributes, A new/f, A old, D old/.gitattributes, D old/f"),
		},
		{
			name: "a filter set by the agent does not run", filters: true, base: []string{"a", "a\n"},
			act: func(f *fixture, w *workspace.Workspace) {
				run := "sh -c 'echo x > " + marker(f) + "; cat'"
				f.in(f.at(w), "config", "filter.evil.clean", run)
				f.in(f.at(w), "config", "filter.evil.smudge", run)
				f.in(f.at(w), "config", "core.fsmonitor", run)
				f.in(f.at(w), "config", "diff.evil.textconv", run)
				f.write(f.at(w), ".gitattributes", "* filter=evil diff=evil\n", "n", "n\n", "a", "b\n")
				f.write(filepath.Join(f.root, ".git"), "info/attributes", "* filter=evil\n")
			},
			want: []string{"100644 .gitattributes", "100644 a", "100644 n"},
			after: func(f *fixture, w *workspace.Workspace, c *Capture) {
				// The test's own git has run it meanwhile.
				rm(f, marker(f))
				other := f.lease(w.Base)
				if ran(f) {
					f.t.Error("what an agent configured was run by a lease")
				}
				f.capture(other)
			},
		},
		{
			name: "a tool of a filter that the agent rewrote does not run", filters: true,
			setup: func(f *fixture) {
				f.script(filepath.Join(f.root, "tools/clean.sh"), "tr a-z A-Z\n")
				f.git("config", "filter.t.clean", "./tools/clean.sh %f")
				f.git("config", "filter.t.smudge", "cat")
				f.git("config", "filter.t.required", "true")
				f.write(f.root, ".gitattributes", "*.t filter=t\n", "x.t", "x\n")
			},
			act: func(f *fixture, w *workspace.Workspace) {
				f.script(filepath.Join(f.at(w), "tools/clean.sh"), "echo x > "+marker(f)+"; cat\n")
				f.write(f.at(w), "x.t", "y\n", "new.t", "n\n")
			},
			want: []string{"100644 .gitattributes", "100644 new.t", "100755 tools/clean.sh", "100644 x.t"},
			after: func(f *fixture, w *workspace.Workspace, c *Capture) {
				if got := f.show(c.Tree, "new.t"); got != "N\n" {
					f.t.Errorf("cleaned to %q, want %q", got, "N\n")
				}
				if got := f.show(c.Tree, "tools/clean.sh"); !strings.Contains(got, "echo x") {
					f.t.Errorf("the agent's script is captured as %q", got)
				}
			},
		},
		{
			name: "tools of a filter are gone or in the way", filters: true,
			setup: func(f *fixture) {
				f.unapplied = true // the user's git needs the tool for that, too
				f.script(filepath.Join(f.root, "tools/clean.sh"), "tr a-z A-Z\n")
				f.git("config", "filter.t.clean", "./tools/clean.sh")
				f.git("config", "filter.t.smudge", "cat")
				f.git("config", "filter.t.required", "true")
				f.write(f.root, ".gitattributes", "*.t filter=t\n", "x.t", "x\n")
			},
			act: func(f *fixture, w *workspace.Workspace) {
				rm(f, filepath.Join(f.at(w), "tools"))
				f.write(f.at(w), "tools", "a file now\n", "new.t", "n\n")
			},
			want: []string{"100644 .gitattributes", "100644 new.t", "100644 tools", "100644 x.t"},
			after: func(f *fixture, w *workspace.Workspace, c *Capture) {
				if got := f.show(c.Tree, "new.t"); got != "N\n" {
					f.t.Errorf("cleaned to %q, want %q", got, "N\n")
				}
			},
		},
		{
			name: "a global filter round-trips", filters: true, setup: upper,
			base: []string{".gitattributes", "*.up filter=up\n", "a.up", "abc\n", "b.up", "b\n"},
			act: func(f *fixture, w *workspace.Workspace) {
				f.write(f.at(w), "a.up", "abcd\n", "n.up", "new\n", "b.up", "b\n")
			},
			after: func(f *fixture, w *workspace.Workspace, c *Capture) {
				wantChanged("M a.up, A n.up")(f, w, c)
				if got := f.show(c.Tree, "a.up"); got != "ABCD\n" {
					f.t.Errorf("a.up = %q, want it cleaned", got)
				}
			},
		},
		{
			name: "a filter that is one process for all files", filters: true,
			setup: func(f *fixture) {
				self, err := os.Executable()
				must(f.t, err)
				f.git("config", "filter.up.process", "env "+envFilter+"=1 '"+self+"' -test.run='^TestFilterProcess$'")
				f.git("config", "filter.up.required", "true")
			},
			base: []string{".gitattributes", "*.up filter=up\n", "a.up", "abc\n", "b.up", "b\n"},
			act: func(f *fixture, w *workspace.Workspace) {
				text, err := os.ReadFile(filepath.Join(f.at(w), "a.up"))
				if err != nil || string(text) != "abc\n" {
					f.t.Errorf("a.up is filled with %q, %v", text, err)
				}
				f.write(f.at(w), "a.up", "abcd\n", "n.up", strings.Repeat("new\n", 50_000), "b.up", "b\n")
			},
			after: func(f *fixture, w *workspace.Workspace, c *Capture) {
				wantChanged("M a.up, A n.up")(f, w, c)
				if got := f.show(c.Tree, "n.up"); got != strings.Repeat("NEW\n", 50_000) {
					f.t.Errorf("n.up = %.20q, want it cleaned", got)
				}
			},
		},
		{
			name: "attributes of the base hold, and the agent can only assign a filter more", filters: true, setup: upper,
			base: []string{".gitattributes", "*.up filter=up\n", "a.up", "abc\n", "d/.gitattributes", "* text\n",
				"d/x", "x\n"},
			act: func(f *fixture, w *workspace.Workspace) {
				f.write(f.at(w), ".gitattributes", "*.up -filter\n*.x filter=up\n", "n.up", "new\n", "n.x", "low\n")
				rm(f, filepath.Join(f.at(w), "d/.gitattributes"))
				f.write(f.at(w), "d/x", "crlf\r\n", "e/.gitattributes", "* text\n", "e/x", "crlf\r\n")
			},
			after: func(f *fixture, w *workspace.Workspace, c *Capture) {
				wantChanged("M .gitattributes, D d/.gitattributes, M d/x, A e/.gitattributes, A e/x, A n.up, A n.x")(f, w, c)
				for path, want := range map[string]string{
					"n.up": "NEW\n", "n.x": "LOW\n", "d/x": "crlf\n", "e/x": "crlf\r\n",
				} {
					if got := f.show(c.Tree, path); got != want {
						f.t.Errorf("%s = %q, want %q", path, got, want)
					}
				}
			},
		},
		{
			name:  "autocrlf",
			setup: func(f *fixture) { f.write(f.home, ".gitconfig", "[core]\n\tautocrlf = true\n") },
			base:  []string{".gitattributes", "# none\n", "a", "1\n2\n", "b", "1\n", "bin", "\x00\n"},
			act: func(f *fixture, w *workspace.Workspace) {
				text, err := os.ReadFile(filepath.Join(f.at(w), "a"))
				if err != nil || string(text) != "1\r\n2\r\n" {
					f.t.Fatalf("a is %q in the workspace, %v", text, err)
				}
				f.write(f.at(w), "a", "1\r\n2\r\n3\r\n", "n", "new\r\n", "b", "1\r\n",
					".gitattributes", "# some\r\n", "bin", "\x00\r\n")
			},
			after: func(f *fixture, w *workspace.Workspace, c *Capture) {
				wantChanged("M .gitattributes, M a, M bin, A n")(f, w, c)
				if got := f.show(c.Tree, ".gitattributes"); got != "# some\n" {
					f.t.Errorf(".gitattributes = %q", got)
				}
			},
		},
		{
			name: "text=auto keeps a file that has carriage returns in the base",
			setup: func(f *fixture) {
				f.write(f.root, "crlf", "1\r\n2\r\n")
				f.commit()
				f.write(f.root, ".gitattributes", "* text=auto\n")
				f.git("add", ".gitattributes")
			},
			act: func(f *fixture, w *workspace.Workspace) { f.write(f.at(w), "crlf", "1\r\n2\r\n3\r\n") },
			after: func(f *fixture, w *workspace.Workspace, c *Capture) {
				if got := f.show(c.Tree, "crlf"); got != "1\r\n2\r\n3\r\n" {
					f.t.Errorf("crlf = %q", got)
				}
			},
		},
		{
			name: "eol and ident",
			base: []string{".gitattributes", "*.txt eol=crlf\n*.id ident\n", "a.txt", "1\n", "x.id", "$Id$\n", "y.id", "$Id$\n"},
			act: func(f *fixture, w *workspace.Workspace) {
				f.write(f.at(w), "n.txt", "1\r\n")
				text, err := os.ReadFile(filepath.Join(f.at(w), "x.id"))
				must(f.t, err)
				f.write(f.at(w), "x.id", string(text)+"more\n")
			},
			after: func(f *fixture, w *workspace.Workspace, c *Capture) {
				wantChanged("A n.txt, M x.id")(f, w, c)
				if got := f.show(c.Tree, "x.id"); got != "$Id$\nmore\n" {
					f.t.Errorf("x.id = %q", got)
				}
			},
		},
		{
			name: "exclude files outside of the tree",
			setup: func(f *fixture) {
				f.write(f.home, ".config/git/ignore", "*.mine\n")
				f.write(filepath.Join(f.root, ".git"), "info/exclude", "*.local\n")
			},
			base: []string{"a", "a\n"},
			act: func(f *fixture, w *workspace.Workspace) {
				f.write(f.at(w), "x.mine", "1", "x.local", "1", "x.agent", "1\n")
				f.write(filepath.Join(f.root, ".git"), "info/exclude", "*\n")
			},
			want: []string{"100644 a", "100644 x.agent"},
		},
		{
			name: "rule files that became folders",
			base: []string{"d/.gitignore", "x\n", "d/a", "a\n", "e/.gitattributes", "* text\n", "e/a", "a\n"},
			act: func(f *fixture, w *workspace.Workspace) {
				rm(f, filepath.Join(f.at(w), "d/.gitignore"), filepath.Join(f.at(w), "e/.gitattributes"))
				f.write(f.at(w), "d/.gitignore/in", "1\n", "e/.gitattributes/in", "1\n", ".gitignore/z", "z\n",
					".gitattributes/z", "z\n", "n", "n\n")
			},
			want: []string{"100644 .gitattributes/z", "100644 .gitignore/z", "100644 d/.gitignore/in", "100644 d/a",
				"100644 e/.gitattributes/in", "100644 e/a", "100644 n"},
		},
		{
			name: "a .gitattributes that is a symlink to what the agent likes", base: []string{"a", "a\n"},
			act: func(f *fixture, w *workspace.Workspace) {
				must(f.t, os.Symlink("/etc/passwd", filepath.Join(f.at(w), ".gitattributes")),
					os.Symlink("a", filepath.Join(f.at(w), ".gitignore")))
			},
			want: []string{"120000 .gitattributes", "120000 .gitignore", "100644 a"},
		},
		{
			name: "no executable bit on this disk",
			setup: func(f *fixture) {
				f.script(filepath.Join(f.root, "x"), "1\n")
				f.git("config", "core.fileMode", "true")
				f.commit()
				f.git("config", "core.fileMode", "false")
			},
			act: func(f *fixture, w *workspace.Workspace) {
				must(f.t, os.Chmod(filepath.Join(f.at(w), "x"), 0o644))
				f.write(f.at(w), "x", "2\n", "n", "n\n")
				must(f.t, os.Chmod(filepath.Join(f.at(w), "n"), 0o755))
			},
			want: []string{"100644 n", "100755 x"},
		},
		{
			name:  "huge files",
			setup: func(f *fixture) { f.git("config", "core.bigFileThreshold", "64k") },
			base:  []string{"big", strings.Repeat("0123456789abcdef\n", 10_000)},
			act: func(f *fixture, w *workspace.Workspace) {
				f.write(f.at(w), "big", strings.Repeat("0123456789abcdeF\n", 10_000),
					"new", strings.Repeat("\x00x", 200_000))
			},
			after: wantChanged("M big, A new"),
		},
	}
	play(t, withApart(t, scenes))
}

func TestParseFilters(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, give string
		words      []string
		programs   []string
		storage    string
		fileMode   bool
	}{
		{name: "empty", fileMode: true},
		{
			name:  "commands",
			give:  "filter.a.clean\nsh './tools/c.sh' %f\x00filter.a.smudge\nno\x00filter.x.y.process\np\x00core.filemode\nfalse\x00",
			words: []string{"sh", "tools/c.sh", "%f", "p"},
		},
		{
			name:     "programs",
			give:     "filter.a.clean\n/opt/c --key='/etc/k'\x00filter.a.smudge\n/opt/s\x00lfs.storage\n/big\x00",
			words:    []string{"/opt/c", "--key", "/etc/k"},
			programs: []string{"/opt/c", "/etc/k", "/opt/s"}, storage: "/big", fileMode: true,
		},
		{name: "other keys", give: "user.name\nx.clean\x00alias.clean\nq", fileMode: true},
	}
	for _, tt := range tests {
		got := parseFilters(tt.give)
		if !slices.Equal(got.words, tt.words) || got.fileMode != tt.fileMode ||
			!slices.Equal(got.programs, tt.programs) || got.storage != tt.storage {
			t.Errorf("%s: parseFilters = %+v, want %+v", tt.name, got, tt)
		}
	}
}
