package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// filtered are the git commands that the filter of shared git dirs refuses, by
// the corpus of package risk.
func filtered(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("risk/testdata/corpus/*.toml")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var corpus struct {
			Case []struct {
				Command string
				Blocked bool
			}
		}
		if err := toml.Unmarshal(text, &corpus); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, c := range corpus.Case {
			if c.Blocked && strings.HasPrefix(c.Command, "git ") {
				all = append(all, c.Command)
			}
		}
	}
	if len(all) < 60 {
		t.Fatalf("the corpus has %d such commands", len(all))
	}
	return all
}

// shared makes the targets of the commands: branches, tags, a remote, notes, a
// stash, a hook, and a work tree beside the user's.
func (y *fixture) shared() {
	y.t.Helper()
	y.write("repo/src/f.go", "package src\n")
	y.git("add", "-A")
	for _, n := range []string{"second", "third", "fourth", "fifth"} {
		y.write("repo/log", n+"\n")
		y.git("add", "-A")
		y.git("commit", "-q", "-m", n)
	}
	for _, b := range []string{"old-feature", "feature/x", "develop"} {
		y.git("branch", b, "HEAD~1")
	}
	y.git("tag", "v1.0.0", "HEAD~2")
	y.git("notes", "add", "-m", "a note", "HEAD")
	y.git("clone", "-q", "--bare", ".", y.dir+"/up.git")
	y.git("remote", "add", "origin", y.dir+"/up.git")
	y.git("remote", "add", "upstream", y.dir+"/up.git")
	y.git("fetch", "-q", "--all")
	y.git("update-ref", "refs/remotes/origin/old", "HEAD~1")
	y.git("push", "-q", "origin", "HEAD~3:refs/heads/behind", "+HEAD~2:refs/heads/main")
	y.git("worktree", "add", "-q", "-b", "beside", y.dir+"/other", "HEAD~1")
	y.write("other/log", "not yet committed\n")
	y.write("repo/log", "stashed\n")
	y.git("stash", "-q")
	y.write("repo/.git/hooks/pre-commit", "#!/bin/sh\n")
}

// held lists the state that work trees share, and the state of the other work
// trees: refs, reflogs, configuration, hooks, work trees and the remote.
func (y *fixture) held() string {
	y.t.Helper()
	var all strings.Builder
	add := func(args ...string) { fmt.Fprintf(&all, "# %s\n%s\n", strings.Join(args, " "), y.git(args...)) }
	for _, dir := range []string{y.repo, y.dir + "/other"} {
		for _, words := range []string{
			"rev-parse HEAD", "symbolic-ref HEAD", "ls-files --stage", "status --porcelain --untracked-files=all", "diff",
		} {
			add(append([]string{"--no-optional-locks", "-C", dir}, strings.Fields(words)...)...)
		}
	}
	for _, dir := range []string{y.repo, y.dir + "/up.git"} {
		for _, ref := range strings.Split(y.git("-C", dir, "for-each-ref", "--format=%(refname) %(objectname) %(symref)"), "\n") {
			if !strings.HasPrefix(ref, "refs/swarm/") { // the run's own
				fmt.Fprintln(&all, ref)
			}
		}
	}
	for _, words := range []string{"stash list", "reflog --all", "config --list --local", "notes list"} {
		text := slices.DeleteFunc(strings.Split(y.git(strings.Fields(words)...), "\n"), func(line string) bool {
			return strings.Contains(line, "refs/swarm/")
		})
		fmt.Fprintf(&all, "# %s\n%s\n", words, strings.Join(text, "\n"))
	}
	for _, line := range strings.Split(y.git("worktree", "list", "--porcelain"), "\n\n") {
		pin := strings.Contains(line, "\nlocked runs of swarm need this commit")
		if !pin && !strings.Contains(line, y.state) {
			fmt.Fprintln(&all, line)
		}
	}
	for _, name := range []string{"hooks", "info", "config"} {
		out, err := exec.Command("sh", "-c", `find "$1" -type f | sort | xargs sha256sum`, "sh", filepath.Join(y.repo, ".git", name)).Output()
		y.must(err)
		all.Write(out)
	}
	return all.String()
}

// objects are all reachable objects, in order. Linked work trees write their
// objects to the repository's own store, so that a git of theirs can prune
// unreachable objects.
func (y *fixture) objects() []string {
	y.t.Helper()
	all := strings.Split(y.git("rev-list", "--objects", "--no-object-names", "--all", "--reflog", "--indexed-objects"), "\n")
	slices.Sort(all)
	return all
}

// tries makes the script of an agent that runs commands by git's own path, each
// for a while, in its work tree as it was, with something changed.
func (y *fixture) tries(commands []string) string {
	y.t.Helper()
	git, err := exec.LookPath("git")
	y.must(err)
	names := strings.NewReplacer(
		"/repo/main", y.repo, "/repo/other", y.dir+"/other", "../../other", y.dir+"/other",
		"../elsewhere", y.dir+"/elsewhere", "../other", y.dir+"/other",
	)
	var b strings.Builder
	fmt.Fprintf(&b, "PATH=%s:/usr/bin:/bin GIT_ALLOW_PROTOCOL=file GIT_TERMINAL_PROMPT=0 GIT_EDITOR=true\nexport PATH GIT_ALLOW_PROTOCOL GIT_TERMINAL_PROMPT GIT_EDITOR\n", filepath.Dir(git))
	b.WriteString("try() { git checkout -qf --detach \"$SWARM_BASE\"; echo changed >> log; git add log; echo more >> log\n" +
		"timeout 20 sh -c \"$1\" </dev/null >/dev/null 2>&1; echo \"$? $1\"; }\n")
	for _, c := range commands {
		fmt.Fprintf(&b, "try '%s'\n", strings.ReplaceAll(names.Replace(c), "'", `'\''`))
	}
	return b.String()
}

// TestFilteredCommandsAreHarmless runs each git command that the filter refuses
// in a place where only the sandbox refuses it: in a linked work tree, by the path
// of git. The state that work trees share does not change. Without a sandbox it
// does, or the commands would prove nothing.
func TestFilteredCommandsAreHarmless(t *testing.T) {
	t.Parallel()
	commands := filtered(t)
	for _, walled := range []bool{true, false} {
		t.Run(fmt.Sprintf("walls %v", walled), func(t *testing.T) {
			t.Parallel()
			y := newFixture(t)
			if walled {
				y.env = append(y.env, behindWalls(t, "worktree")...)
			}
			y.shared()
			y.write("try.sh", y.tries(commands))
			y.must(os.Rename(y.path("..", "try.sh"), filepath.Join(y.repo, "try.sh")))
			y.git("add", "try.sh")
			y.git("commit", "-q", "-m", "try")
			before, objects := y.held(), y.objects()
			said := y.swarm(nil, "run", "--", "sh", "try.sh")
			if got := strings.Count(y.swarm(nil, "logs", "--raw").stdout, "git "); got < len(commands) {
				t.Fatalf("it ran %d of %d commands: %s", got, len(commands), said.stderr)
			}
			if !walled {
				// Not all of git works there now.
				if out, err := gitIn(y.repo, y.env, "for-each-ref", "refs/heads/old-feature"); err == nil && len(out) > 0 {
					t.Errorf("without walls the commands change nothing: %s", out)
				}
				return
			}
			if after := y.held(); after != before {
				t.Errorf("the repository was changed:\n%s", changedLines(before, after))
			}
			now := y.objects()
			for _, o := range objects {
				if _, found := slices.BinarySearch(now, o); !found {
					t.Errorf("nothing leads to object %s any more", o)
				}
			}
			y.git("fsck", "--full", "--strict", "--no-dangling")
		})
	}
}

// changedLines are the lines that only the first or only the second text has.
func changedLines(before, after string) string {
	var b strings.Builder
	old, now := strings.Split(before, "\n"), strings.Split(after, "\n")
	for _, line := range old {
		if !slices.Contains(now, line) {
			fmt.Fprintln(&b, "-", line)
		}
	}
	for _, line := range now {
		if !slices.Contains(old, line) {
			fmt.Fprintln(&b, "+", line)
		}
	}
	return b.String()
}
