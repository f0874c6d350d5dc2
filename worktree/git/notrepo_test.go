package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNotRepo holds the message for each reason that git gives: a single line.
func TestNotRepo(t *testing.T) {
	t.Parallel()
	const (
		start = "change to a repository, name one with -C DIR, or make one with `git init`"
		mend  = "git itself cannot read this repository; mend what it names"
	)
	for _, tt := range []struct{ name, stderr, want, hint string }{
		{"none", "fatal: not a git repository (or any of the parent directories): .git\n",
			"/d: not a git repository, and neither is a folder above it", start},
		{"below a mount point", "fatal: not a git repository (or any parent up to mount point /)\n" +
			"Stopping at filesystem boundary (GIT_DISCOVERY_ACROSS_FILESYSTEM not set).\n",
			"/d: not a git repository, and neither is a folder above it on its file system", start},
		{"after a warning", "warning: unable to access '/h/.gitconfig': Permission denied\n" +
			"fatal: not a git repository (or any parent up to mount point /mnt)\n" +
			"Stopping at filesystem boundary (GIT_DISCOVERY_ACROSS_FILESYSTEM not set).\n",
			"/d: not a git repository, and neither is a folder above it on its file system", start},
		{"a .git file to nowhere", "fatal: not a git repository: /r/.git/worktrees/d\n",
			"/d: not a git repository: a .git file names /r/.git/worktrees/d, where there is none",
			"mend or remove that .git file; `git worktree repair` mends that of a worktree"},
		{"of another user", "fatal: detected dubious ownership in repository at '/d e'\n" +
			"'/d e' is owned by:\n\tsomebody\nTo add an exception for this directory, call:\n\n" +
			"\tgit config --global --add safe.directory '/d e'\n",
			"/d: this repository belongs to another user, so git does not read it",
			"if you trust it, run `git config --global --add safe.directory '/d e'`"},
		{"of another user, cut", "fatal: detected dubious ownership in repository at '/d'\nTo add an\n",
			"/d: detected dubious ownership in repository at '/d'; To add an", mend},
		{"extensions", "fatal: unknown repository extensions found:\n\ta\n\tb\n",
			"/d: unknown repository extensions found:; a; b", mend},
		{"an error first", "error: bad signature 0x00000000\nfatal: index file corrupt\n", "/d: index file corrupt", mend},
		{"no fatal", "usage: git\n\n  rev-parse\n", "/d: usage: git; rev-parse", mend},
	} {
		if err := notRepo("/d", tt.stderr); err.Error() != tt.want || err.Hint() != tt.hint {
			t.Errorf("%s:\n%q, hint %q\nwant\n%q, hint %q", tt.name, err, err.Hint(), tt.want, tt.hint)
		}
	}
}

// TestNotRepoOfGit has git itself give the reasons that a folder can have.
func TestNotRepoOfGit(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	version := func(n, more string) string { return "[core]\n\trepositoryformatversion = " + n + "\n" + more }
	for _, tt := range []struct{ name, file, text, want string }{
		{"none", "f", "", "not a git repository, and neither is a folder above it"},
		{"a .git file to nowhere", ".git", "gitdir: /no/where\n", "a .git file names /no/where, where there is none"},
		{"a .git file without a path", ".git", "what\n", "invalid gitfile format: "},
		{"of the future", ".git/config", version("99", ""), "found 99"},
		{"with unknown extensions", ".git/config", version("1", "[extensions]\n\ta = 1\n\tb = 1\n"), "; b"},
		{"a broken configuration", ".git/config", "[core\n", "bad config line 1 in file "},
	} {
		dir := filepath.Join(g.home, tt.name)
		if strings.HasPrefix(tt.file, ".git/") {
			g.in(g.home, "init", "-q", dir)
		}
		g.ok(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, tt.file), []byte(tt.text), 0o600))
		_, err := New(g.environ()).Discover(t.Context(), dir)
		var none *NotRepoError
		if !errors.As(err, &none) || !strings.Contains(none.Reason, tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q, want a line with %q", tt.name, err, tt.want)
		}
	}
}

// TestGitFile: git 2.55 says "(null)" in place of the folder that a .git file names.
func TestGitFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	below := filepath.Join(dir, "a", "b")
	if err := errors.Join(
		os.MkdirAll(below, 0o700), os.WriteFile(filepath.Join(dir, ".git"), []byte("gitdir: /no/where\n"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	got := notRepo(below, "fatal: not a git repository: (null)\n").Reason
	if want := "not a git repository: a .git file names /no/where, where there is none"; got != want {
		t.Errorf("the reason is %q, want %q", got, want)
	}
}
