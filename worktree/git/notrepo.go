package git

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// NotRepoError says that a folder is in no repository that git will read.
type NotRepoError struct {
	Dir    string
	Reason string // a single line
	hint   string
}

func (e *NotRepoError) Error() string { return fmt.Sprintf("%s: %s", e.Dir, e.Reason) }

// Hint says how the user can mend it.
func (e *NotRepoError) Hint() string { return e.hint }

// notRepo makes the error for a folder in which git found no repository. stderr
// is the output of git under LC_ALL=C. Git spreads some reasons over several
// lines, and lets warnings precede them.
func notRepo(dir, stderr string) *NotRepoError {
	const (
		trust    = "git config --global --add safe.directory "
		noneHint = "change to a repository, name one with -C DIR, or make one with `git init`"
	)
	text := fatal(stderr)
	first, _, _ := strings.Cut(text, "\n")
	last := strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
	if at, ok := strings.CutPrefix(first, "not a git repository: "); ok {
		if at == "(null)" { // git 2.55 does not know the path
			at = cmp.Or(gitFile(dir), "a folder")
		}
		return &NotRepoError{
			Dir: dir, Reason: "not a git repository: a .git file names " + at + ", where there is none",
			hint: "mend or remove that .git file; `git worktree repair` mends that of a worktree",
		}
	}
	switch {
	case strings.HasPrefix(first, "not a git repository (or any parent up to mount point"):
		return &NotRepoError{
			Dir: dir, Reason: "not a git repository, and neither is a folder above it on its file system", hint: noneHint,
		}
	case strings.HasPrefix(first, "not a git repository"):
		return &NotRepoError{Dir: dir, Reason: "not a git repository, and neither is a folder above it", hint: noneHint}
	case strings.HasPrefix(first, "detected dubious ownership") && strings.HasPrefix(last, trust):
		return &NotRepoError{
			Dir: dir, Reason: "this repository belongs to another user, so git does not read it",
			hint: "if you trust it, run `" + last + "`",
		}
	}
	return &NotRepoError{Dir: dir, Reason: oneLine(text), hint: "git itself cannot read this repository; mend what it names"}
}

// gitFile returns the folder that the nearest .git file names, in dir or above
// it. It is empty if no such file can be read.
func gitFile(dir string) string {
	for {
		text, err := os.ReadFile(filepath.Join(dir, ".git"))
		if err == nil {
			return oneLine(strings.TrimPrefix(string(text), "gitdir: "))
		}
		above := filepath.Dir(dir)
		if above == dir {
			return ""
		}
		dir = above
	}
}

// fatal is the reason for which git gave up: all from the line that begins with
// "fatal: ", without that word. Where no line does, it is the whole text.
func fatal(stderr string) string {
	const word = "fatal: "
	if text, ok := strings.CutPrefix(stderr, word); ok {
		return strings.TrimSpace(text)
	}
	if _, text, ok := strings.Cut(stderr, "\n"+word); ok {
		return strings.TrimSpace(text)
	}
	return strings.TrimSpace(stderr)
}
