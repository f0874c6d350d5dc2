package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentswarm/worktree/workspace"
)

// deed is an action of an agent in an overlay, and its expected result.
type deed struct {
	name    string
	base    []string
	setup   func(*fixture)
	along   []string // included files
	script  string
	act     func(*fixture, *workspace.Workspace)
	want    []string
	notes   string
	ignored string
	partial bool
	none    bool
	after   func(*fixture, *workspace.Workspace, *Capture)
}

func (d deed) run(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(f.root, d.base...)
	if d.setup != nil {
		d.setup(f)
	}
	base := f.commit()
	f.open()
	w := f.overlay(base)
	if d.along != nil {
		w.Along = filepath.Join(f.trees.Dir, ".along.1")
		f.write(w.Along, d.along...)
	}
	if d.script != "" {
		f.act(w, d.script)
	}
	if d.act != nil {
		d.act(f, w)
	}
	rm(f, marker(f))
	before := f.side()
	c := f.capture(w)
	if after := f.side(); after != before {
		t.Errorf("the user's side changed from\n%s\nto\n%s", before, after)
	}
	if c.Changed == d.none {
		t.Errorf("changed = %v, want %v: %s", c.Changed, !d.none, changed(c))
	}
	if got := f.files(c.Tree); d.want != nil && !slices.Equal(got, d.want) {
		t.Errorf("tree = %q, want %q", got, d.want)
	}
	if got := kinds(c); got != d.notes {
		t.Errorf("notes = %q, want %q", got, d.notes)
	}
	var ignored []string
	for _, i := range c.Ignored {
		ignored = append(ignored, i.Path)
	}
	if got := strings.Join(ignored, " "); got != d.ignored {
		t.Errorf("ignored = %q, want %q", got, d.ignored)
	}
	if c.Complete == d.partial {
		t.Errorf("complete = %v, want %v", c.Complete, !d.partial)
	}
	if got := whole(*w, c); got != (!d.partial && d.ignored == "" && !hasModules(w)) {
		t.Errorf("whole = %v", got)
	}
	if d.after != nil {
		d.after(f, w, c)
	}
}

func hasModules(w *workspace.Workspace) bool {
	_, err := os.Lstat(filepath.Join(w.Admin, "modules"))
	return err == nil
}

const committing = `git -c user.name=x -c user.email=x commit -q -m mine `

func headIs(text string) func(*fixture, *workspace.Workspace, *Capture) {
	return func(f *fixture, _ *workspace.Workspace, c *Capture) {
		f.t.Helper()
		if c.Head == "" || f.git("rev-parse", c.HeadRef) != string(c.Head) {
			f.t.Fatalf("head = %q", c.Head)
		}
		if got := f.show(c.Head, "a"); got != text {
			f.t.Errorf("the agent's own commit holds %q, want %q", got, text)
		}
		f.git("fsck", "--strict", string(c.Head))
	}
}

func TestCaptureOverlay(t *testing.T) {
	t.Parallel()
	module := func(f *fixture) {
		sub := filepath.Join(f.home, "sub")
		f.mkdir(sub)
		f.in(sub, "init", "-q")
		f.write(sub, "in", "in\n")
		f.in(sub, "add", "-A")
		f.in(sub, "-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x")
		f.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", sub, "sub")
	}
	for _, d := range []deed{
		{name: "nothing", base: []string{"a", "a\n"}, script: "cat a", none: true},
		{name: "the same again", base: []string{"a", "a\n"}, script: "touch a; chmod 600 a", none: true},
		{
			name: "a whiteout of a file, of a folder", base: []string{"a", "a\n", "d/b", "b\n", "d/e/c", "c\n", "d2", "x\n"},
			script: "rm -r a d", want: []string{"100644 d2"},
		},
		{
			name: "a folder anew", base: []string{"d/b", "b\n", "d/e/c", "c\n"},
			script: "rm -r d; mkdir d; echo x > d/x", want: []string{"100644 d/x"},
		},
		{
			name: "a folder of a folder anew", base: []string{"d/b", "b\n", "d/e/c", "c\n", "d/e/f", "f\n"},
			script: "rm -r d/e; mkdir d/e; echo f > d/e/f", want: []string{"100644 d/b", "100644 d/e/f"},
		},
		{
			name: "a file to a folder and back", base: []string{"a", "a\n", "d/b", "b\n", "z/y", "y\n"},
			script: "rm a; mkdir a; echo x > a/x; rm -r d; echo d > d; rm -r z; echo 1 > z; rm z; mkdir z; echo y > z/y",
			want:   []string{"100644 a/x", "100644 d", "100644 z/y"},
		},
		{
			name: "symlinks and hard links", base: []string{"a", "a\n", "d/b", "b\n"},
			script: "ln a l; ln -s /nowhere s; rm -r d; ln -s . d",
			want:   []string{"100644 a", "120000 d", "100644 l", "120000 s"},
		},
		{
			name: "modes", base: []string{"a", "a\n", "d/b", "b\n"},
			script: "chmod +x a; echo b2 > d/b; chmod 0 d/b; mkdir n; echo x > n/x; chmod 0 n",
			want:   []string{"100755 a", "100644 d/b", "100644 n/x"},
			notes:  "made_readable:d/b made_readable:n/",
		},
		{
			name: "special files", base: []string{"a", "a\n"}, script: "rm a; mkfifo a b",
			want: []string{}, notes: "special_file:a special_file:b", partial: true,
		},
		{
			name: "a repository within", base: []string{"a", "a\n"},
			script: "git init -q n; echo x > n/x", want: []string{"100644 a", "100644 n/x"},
			notes: "nested_repository:n", partial: true,
		},
		{
			name: "other spellings of .git", base: []string{"a", "a\n"}, script: "echo x > .GIT; mkdir d; echo x > d/.giT",
			none: true, notes: "name_refused:.GIT nested_repository:d", partial: true,
		},
		{
			name: "names that git refuses", base: []string{"a", "a\n"}, script: "echo x > 'git~1'; echo y > b",
			want: []string{"100644 a", "100644 b"}, notes: "name_refused:git~1", partial: true,
		},
		{
			name: "names of all kinds", base: []string{"a", "a\n"},
			script: `printf x > "$(printf 'n\n\377 "')"; echo > .github; echo > ':(top)x'; echo > ' '`,
			want:   []string{"100644  ", "100644 .github", "100644 :(top)x", "100644 a", "100644 n\n\xff \""},
		},
		{
			name: "the rules of the base hold", base: []string{"a", "a\n", ".gitignore", "*.o\nout/\n", "d/.gitignore", "!k.o\n"},
			script: "echo '*' > .gitignore; rm d/.gitignore; echo > n; echo > x.o; echo > d/k.o; mkdir -p out e; echo > out/y; echo > e/x.o",
			want:   []string{"100644 .gitignore", "100644 a", "100644 d/k.o", "100644 n"}, ignored: "out/ x.o e/x.o",
		},
		{
			name: "what came along", base: []string{"a", "a\n", ".gitignore", "m/\n.env\n"},
			along:  []string{"m/x", "x\n", "m/y", "y\n", ".env", "e\n", "free", "f\n"},
			script: "rm m/x; chmod 700 m", none: true,
		},
		{
			name: "what came along was changed", base: []string{"a", "a\n", ".gitignore", "m/\n.env\n"},
			along:  []string{"m/x", "x\n", "m/y", "y\n", ".env", "e\n", "free", "f\n"},
			script: "rm m/x; echo z > m/z; echo 2 > free; echo 2 > .env; echo n > n",
			want:   []string{"100644 .gitignore", "100644 a", "100644 n"}, ignored: ".env free m/",
		},
		{
			name: "commits", base: []string{"a", "a\n"},
			script: "echo 2 > a;" + committing + "-a; echo 3 > b; git add b;" + committing + "; git gc -q; git pack-refs --all; echo 4 > b",
			want:   []string{"100644 a", "100644 b"}, after: headIs("2\n"),
		},
		{
			name: "a detached HEAD", base: []string{"a", "a\n"},
			script: "git switch -q --detach; echo 2 > a;" + committing + "-a; git branch -D main", after: headIs("2\n"),
		},
		{
			name: "no git dir any more", base: []string{"a", "a\n"}, script: "rm -rf .git/* || true; echo 2 > a",
			want: []string{"100644 a"}, notes: "head_invalid:",
		},
		{
			name: "HEAD that leads nowhere", base: []string{"a", "a\n"},
			script: "echo 2 > a; git symbolic-ref HEAD refs/heads/none", want: []string{"100644 a"}, notes: "head_invalid:",
		},
		{
			name: "an object under a wrong name", base: []string{"a", "a\n"},
			// The blob of other content is put under the name of the work's
			// file.
			script: `echo mine > a; ` + committing + `-a; echo wrong > b
				wrong=$(git hash-object -w b) own=$(git hash-object a); chmod -R u+w .git/objects
				dir() { echo $1 | sed 's,^\(..\),.git/objects/\1/,'; }
				cp "$(dir $wrong)" "$(dir $own)"; rm b`,
			want: []string{"100644 a"}, notes: "head_invalid:",
			after: func(f *fixture, _ *workspace.Workspace, c *Capture) {
				if got := f.show(c.Tree, "a"); got != "mine\n" || c.Head != "" {
					f.t.Errorf("a = %q, head = %q", got, c.Head)
				}
			},
		},
		{
			name: "a commit under a wrong name", base: []string{"a", "a\n"},
			script: `echo mine > a; ` + committing + `-a; chmod -R u+w .git/objects
				at=$(git rev-parse HEAD | sed 's,^\(..\),.git/objects/\1/,')
				false=$(git rev-parse HEAD | tr 0-9a-f 1-9a-f0)
				to=$(echo $false | sed 's,^\(..\),.git/objects/\1/,'); mkdir -p $(dirname $to)
				cp $at $to; echo $false > .git/refs/heads/main`,
			want: []string{"100644 a"}, notes: "head_invalid:",
		},
		{
			name: "objects borrowed from elsewhere", base: []string{"a", "a\n"},
			script: `git init -q --bare "$HOME/other"; echo 2 > a
				GIT_OBJECT_DIRECTORY="$HOME/other/objects" GIT_ALTERNATE_OBJECT_DIRECTORIES=.git/objects ` + committing + `-a
				echo "$HOME/other/objects" >> .git/objects/info/alternates; git log -1 > "$HOME/log"`,
			want: []string{"100644 a"}, notes: "head_invalid:",
		},
		{
			name: "objects behind symlinks", base: []string{"a", "a\n"},
			script: `echo 2 > a; ` + committing + `-a; mv .git/objects "$HOME/theirs"; ln -s "$HOME/theirs" .git/objects; git log -1 > "$HOME/log"`,
			want:   []string{"100644 a"}, notes: "head_invalid:",
		},
		{
			name: "no configuration of theirs", base: []string{"a", "a\n", "f.x", "x\n"},
			script: `echo 2 > a; echo 2 > f.x; ` + committing + `a
				git config filter.x.clean "touch '$HOME/ran'; cat"; git config core.fsmonitor "touch '$HOME/ran'"
				mkdir -p .git/info .git/hooks; echo '*.x filter=x' > .git/info/attributes; echo '*.x filter=x' > .gitattributes
				printf '#!/bin/sh\ntouch "$HOME/ran"' > .git/hooks/reference-transaction; chmod +x .git/hooks/*`,
			want: []string{"100644 .gitattributes", "100644 a", "100644 f.x"}, after: headIs("2\n"),
		},
		{
			name: "assume-unchanged, skip-worktree, staged", base: []string{"a", "a\n", "b", "b\n", "c", "c\n"},
			script: "git update-index --assume-unchanged a; git update-index --skip-worktree b; echo 2 > a; echo 2 > b; echo 2 > n; git add n; rm n; git rm -q --cached c",
			want:   []string{"100644 a", "100644 b", "100644 c"},
		},
		{
			name: "a submodule left alone", base: []string{"a", "a\n"}, setup: module,
			script: "echo 2 > a; touch sub; chmod 700 sub", want: []string{"100644 .gitmodules", "100644 a", "160000 sub"},
		},
		{
			name: "a submodule gone", base: []string{"a", "a\n"}, setup: module,
			script: "rmdir sub", want: []string{"100644 .gitmodules", "100644 a"},
		},
		{
			name: "a submodule at another commit", base: []string{"a", "a\n"}, setup: module,
			script:  `git -c protocol.file.allow=always submodule update -q --init; cd sub; echo 2 > in; ` + committing + `-a`,
			want:    []string{"100644 .gitmodules", "100644 a", "160000 sub"},
			partial: true,
		},
		{
			name: "a submodule of plain files", base: []string{"a", "a\n"}, setup: module,
			script: "echo x > sub/x", want: []string{"100644 .gitmodules", "100644 a", "100644 sub/x"},
			notes: "submodule_replaced:sub",
		},
		{
			name: "line ends and names to put in", base: []string{"a.txt", "a\n", ".gitattributes", "*.txt text\n*.id ident\n"},
			script: `printf 'b\r\n' > a.txt; printf '$Id: x$\n' > b.id; echo '* -text -ident' > .gitattributes`,
			after: func(f *fixture, _ *workspace.Workspace, c *Capture) {
				if got := f.show(c.Tree, "a.txt") + f.show(c.Tree, "b.id"); got != "b\n$Id$\n" {
					f.t.Errorf("stored is %q", got)
				}
			},
		},
		{
			name: "no modes on the disk", base: []string{"a", "a\n"},
			setup:  func(f *fixture) { f.git("config", "core.fileMode", "false") },
			script: "chmod +x a; echo x > n; chmod +x n", want: []string{"100644 a", "100644 n"},
		},
		{
			name: "outside of a sparse checkout", base: []string{"in/a", "a\n", "out/b", "b\n", "out/c", "c\n", "off", "o\n"},
			setup:  func(f *fixture) { f.git("add", "-A"); f.git("sparse-checkout", "set", "--no-cone", "/in/") },
			script: "echo 2 > in/a; mkdir out; echo 2 > out/b",
			want:   []string{"100644 in/a", "100644 off", "100644 out/b", "100644 out/c"},
		},
	} {
		t.Run(d.name, d.run)
	}
}

// TestOverlaySealed holds that whatever is done after a capture is noticed.
func TestOverlaySealed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n", "d/b", "b\n")
	f.open()
	for _, script := range []string{
		"echo 2 > a", "rm a", "rm -r d; mkdir d", "ln -s x y",
	} {
		w := f.overlay(base)
		f.act(w, "echo n > n")
		c := f.capture(w)
		before, err := f.trees.Mark(t.Context(), *w)
		must(t, err)
		f.act(w, script)
		after, err := f.trees.Mark(t.Context(), *w)
		must(t, err)
		if whole(*w, c) || before == after {
			t.Errorf("%q after the capture went unnoticed", script)
		}
	}
}

// TestOverlayCommitMarks holds that a commit alone is noticed.
func TestOverlayCommitMarks(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n")
	f.open()
	w := f.overlay(base)
	before, err := f.trees.Mark(t.Context(), *w)
	must(t, err)
	f.act(w, committing+"--allow-empty")
	after, err := f.trees.Mark(t.Context(), *w)
	must(t, err)
	if before == after {
		t.Error("a commit went unnoticed")
	}
}

// TestOverlayAgain: a second capture finds the result of the first.
func TestOverlayAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n", ".gitignore", "*.o\n")
	f.open()
	w := f.overlay(base)
	f.act(w, "echo 2 > a; echo n > n")
	first, again := f.capture(w), f.capture(w)
	if first.Commit != again.Commit || first.Ref != again.Ref || first.Patch != again.Patch {
		t.Errorf("captured again = %+v, want %+v", again, first)
	}
	f.act(w, "echo 3 > a")
	if third := f.capture(w); third.Ref != first.Ref+".2" || third.Patch != first.Patch+".2" {
		t.Errorf("captured a third time to %q and %q", third.Ref, third.Patch)
	}
	must(t, f.trees.Close())
	if left, err := filepath.Glob(filepath.Join(f.frozen.Dir, "shared", "*", "*pack*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if left, err := filepath.Glob(filepath.Join(f.repo.CommonDir, "objects", "pack", "*.keep")); err != nil || len(left) > 0 {
		t.Errorf("kept: %v, %v", left, err)
	}
}

// TestOverlayForeign holds that a record which names a git dir elsewhere is
// refused: records are read from files.
func TestOverlayForeign(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n")
	f.open()
	w := f.overlay(base)
	w.Admin = f.repo.CommonDir
	if _, err := f.trees.Capture(t.Context(), f.captureRequest(w)); err == nil {
		t.Error("captured with the git dir of the user")
	}
}
