package risk_test

import (
	"bytes"
	"crypto/sha1" // git names its objects by this hash
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentswarm/risk"
)

// trial is a command that runs for real, in a tree made for it.
type trial struct {
	command string
	// lost says that it destroys content that is nowhere else afterwards.
	lost bool
	// letter says that the taxonomy lets the command pass although it loses
	// data. The command overwrites or removes a single file that it names, as
	// every editor does. asks says that the taxonomy asks although nothing is
	// lost: the deleted files happen to be committed.
	letter, asks bool
}

// trials returns all commands that this test ever runs. Paths are relative and
// stay below the tree; refused checks that of each command.
func trials() []trial {
	return slices.Concat(destroyers(), overwriters(), keepers())
}

func destroyers() []trial {
	var all []trial
	for _, command := range []string{
		"rm -rf src", "rm -r scratch", "rm -fr ./src", "rm --recursive --force src", "rm -r -f -- src",
		"rm -rf *", "rm -rf .git src", "cd src && rm -rf lib", "X=rm; $X -rf src", "sh -c 'rm -rf src'",
		"eval 'rm -rf src'", "env A=1 rm -rf src", "command rm -rf src", "true; rm -rf src", "{ rm -rf src; }",
		"echo src | xargs rm -rf", "echo 'rm -rf src' | sh", "r\\m -rf src", "'rm' -rf src", "timeout 500 rm -rf src",
		"find . -name '*.txt' -delete", "find scratch -delete", "find src -type f -exec rm -rf {} +",
		"find . -name notes.txt -exec sh -c 'rm -r \"$1\"' _ {} \\;",
		"shred -u notes.txt", "git clean -fd", "git clean -f", "git clean -xdf", "git clean --forc -d",
		"git clean -ffdx .", "git checkout -- .", "git checkout .", "git checkout -- README.md",
		"git checkout README.md", "git checkout HEAD -- src", "git checkout HEAD .", "git checkout :/",
		"git checkout -f", "git checkout -f main", "git switch -f main", "git switch --discard-changes main",
		"git restore .", "git restore README.md", "git restore :/", "git restore --staged --worktree src",
		"git restore -s HEAD~1 -SW .", "git reset --hard", "git reset --har", "git reset --hard HEAD~1",
		"git -C . reset --hard", "git read-tree -u --reset HEAD", "git checkout-index -f -a", "git rm -rf src",
		"git -c alias.x='!rm -rf src' x", "git stash && git stash drop", "git stash -u && git stash clear",
		"git add -A && git stash && git stash drop", "bash -c 'cd src; rm -rf .[a-z]* *'",
		"perl -e 'use File::Path; rmtree(\"src\")'", "awk 'BEGIN { system(\"rm -rf src\") }'",
		"mv src/lib scratch && rm -r scratch",
	} {
		all = append(all, trial{command: command, lost: true})
	}
	return append(all, trial{command: "rm -r docs", asks: true}, trial{command: "rm -rf empty", asks: true})
}

func overwriters() []trial {
	var all []trial
	for _, command := range []string{
		"rm notes.txt", "rm -f src/new.go", "unlink notes.txt", "> notes.txt", ": > notes.txt",
		"echo x > notes.txt", "cp README.md notes.txt", "mv README.md notes.txt", "truncate -s 0 notes.txt",
		"dd if=README.md of=notes.txt", "sed -i d notes.txt", "tee notes.txt < docs/guide.md",
		"git rm -f README.md", "find . -name notes.txt -exec rm {} +",
	} {
		all = append(all, trial{command: command, lost: true, letter: true})
	}
	return all
}

func keepers() []trial {
	var all []trial
	for _, command := range []string{
		"git clean -n", "git clean -nfd", "git clean -fd --dry-run", "git stash list", "git commit -am x",
		"git add -A && git commit -m 'rm -rf src'", "git reset", "git reset --soft HEAD~1", "git restore --staged .",
		"git checkout -b other", "git switch -c other", "git rm -r -n docs", "git rm --cached -r src",
		"git mv docs manual", "git tag v1", "git branch -d merged", "git status", "git log --grep 'rm -rf'",
		"git diff --stat -- src", "mv src lib", "mv notes.txt scratch", "cp -r src lib", "cp -rf docs manual",
		"echo 'rm -rf src'", "echo rm -rf src", "printf '%s\\n' 'git reset --hard' > new.txt", "ls # rm -rf src",
		"cat > new.sh <<'EOF'\nrm -rf src\nEOF", "grep -rn 'rm -rf' .", "find . -name '*.txt'", "echo src | xargs ls",
		"echo 'rm -rf src' | cat", "rm --help", "rm --version", "rmdir empty", "bash -n run.sh", "mkdir -p a && touch a/b",
		"x='rm -rf src'; echo \"$x\"", "bash -c 'echo \"rm -rf src\"'", "ls -rf", "sort -rf notes.txt",
		"git apply --check fix.patch || true", "git show HEAD:README.md", "git archive -o out.tar HEAD",
		"find . -type f -exec grep -l 'rm -rf' {} +", "sed -n 1p notes.txt", "awk '/rm -rf/' notes.txt",
	} {
		all = append(all, trial{command: command})
	}
	return all
}

// refused says why a command must not run here; empty: it may.
func refused(command string) string {
	if strings.Contains(command, "..") {
		return "it has two dots"
	}
	for _, word := range strings.FieldsFunc(command, func(r rune) bool {
		return strings.ContainsRune(" \n\t'\"`=;|&<>(){}", r)
	}) {
		// "/rm" is where a pattern of awk begins.
		if word[0] == '~' || word[0] == '/' && word != "/rm" {
			return fmt.Sprintf("%q leads out of the tree", word)
		}
	}
	for _, name := range []string{"HOME", "PWD", "sudo", "curl", "kill"} {
		if strings.Contains(command, name) {
			return "it has " + name
		}
	}
	return ""
}

func TestVerdictsAreWhatHappens(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"git", "shred", "perl", "awk", "timeout"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not here", tool)
		}
	}
	rules, made := loadRules(t), makeScratch(t)
	for _, try := range trials() {
		t.Run(try.command, func(t *testing.T) {
			t.Parallel()
			if why := refused(try.command); why != "" {
				t.Fatalf("%q does not run: %s", try.command, why)
			}
			tree := made.clone(t)
			// The classifier may look only at the tree before the command.
			got := rules.Classify(&risk.Shell{Text: try.command, Cwd: tree.root}, tree.place())
			before := tree.contents(t)
			tree.run(t, try.command)
			gone := tree.gone(t, before)
			if lost := len(gone) > 0; lost != try.lost {
				t.Fatalf("it lost %q, want lost = %v", gone, try.lost)
			}
			switch {
			case try.lost && !try.letter && got.Tier != risk.Destructive:
				t.Errorf("it lost %q and is %s", gone, found(got))
			case try.letter && got.Tier != risk.Destructive && got.Tier != risk.Safe:
				t.Errorf("it lost %q, one file, and is %s", gone, found(got))
			case try.asks && got.Tier != risk.Destructive:
				t.Errorf("it deletes a folder and is %s", found(got))
			case !try.lost && !try.asks && got.Tier == risk.Destructive:
				t.Errorf("it lost nothing and is %s", found(got))
			}
		})
	}
}

// scratch is a repository that may be destroyed.
type scratch struct{ root, home string }

func newScratch(t *testing.T) scratch {
	t.Helper()
	top := t.TempDir()
	s := scratch{root: filepath.Join(top, "tree"), home: filepath.Join(top, "home")}
	for _, folder := range []string{s.root, s.home} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// clone copies the tree for a trial: making it with git takes ten times as
// long.
func (s scratch) clone(t *testing.T) scratch {
	t.Helper()
	copied := newScratch(t)
	if err := os.CopyFS(copied.root, os.DirFS(s.root)); err != nil {
		t.Fatal(err)
	}
	return copied
}

// makeScratch has two commits, a stage that is clean, and in the work tree
// changed, new and ignored files.
func makeScratch(t *testing.T) scratch {
	t.Helper()
	s := newScratch(t)
	if err := os.Mkdir(filepath.Join(s.root, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.write(t, map[string]string{
		".gitignore": "build/\n", "README.md": "first\n", "src/main.go": "package main\n", "src/lib/a.go": "package lib\n",
		"docs/guide.md": "the guide\n", "run.sh": "rm -rf src\n", "fix.patch": "no patch\n",
	})
	s.run(t, "git init -q -b main . && git add -A && git commit -qm one && git branch merged")
	s.write(t, map[string]string{"src/main.go": "package main // second\n"})
	s.run(t, "git commit -qam two && git branch -f merged")
	s.write(t, map[string]string{
		"README.md": "changed\n", "src/main.go": "package main // changed\n", "src/lib/a.go": "package lib // changed\n",
		"src/new.go": "package main // new\n", "src/lib/new.go": "package lib // new\n", "notes.txt": "b rm -rf\na\n",
		"scratch/a.txt": "scratch\n", "build/out.o": "object\n",
	})
	return s
}

func (s scratch) write(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(s.root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// run runs a command in the tree. Its exit code does not matter; the test
// compares the files left.
func (s scratch) run(t *testing.T, command string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", command)
	cmd.Dir = s.root
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "LC_ALL=C", "TMPDIR=" + s.home,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(s.root),
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_EDITOR=true", "GIT_TERMINAL_PROMPT=0",
		// Since 2.47 git goes on in the background after a commit, in the tree.
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false",
	}
	out, err := cmd.Output()
	if err != nil {
		t.Logf("%s: %v", command, err)
	}
	return out
}

// contents returns the files of the tree with the names that git gives to their
// contents.
func (s scratch) contents(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(s.root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == ".git":
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		sum := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(text)), text...))
		all[hex.EncodeToString(sum[:])] = strings.TrimPrefix(path, s.root+"/")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// gone are the files whose content is in no file any more, and in no commit
// that a branch, a tag or the stash leads to.
func (s scratch) gone(t *testing.T, before map[string]string) []string {
	t.Helper()
	kept := s.contents(t)
	for line := range bytes.Lines(s.run(t, "git rev-list --objects --all 2> \"$TMPDIR\"/errors")) {
		object, _, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		kept[object] = "an object"
	}
	var gone []string
	for object, name := range before {
		if kept[object] == "" {
			gone = append(gone, name)
		}
	}
	slices.Sort(gone)
	return gone
}

func (s scratch) place() risk.Place {
	git := filepath.Join(s.root, ".git")
	return risk.Place{
		Root: s.root, Home: s.home, Tmp: []string{s.home}, GitDir: git, CommonDir: git, Branch: "main",
		Facts: scratchFacts(s),
	}
}

// scratchFacts looks at the tree itself. Nothing of it is published.
type scratchFacts scratch

func (scratchFacts) Published(string) (published, known bool) { return false, true }

func (scratchFacts) Path(path string) risk.PathKind {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return risk.PathMissing
	case info.IsDir():
		return risk.PathFolder
	}
	return risk.PathFile
}

func (scratchFacts) Link(string) string { return "" }

func (f scratchFacts) Tracked(path string) bool {
	below, inside := strings.CutPrefix(path, f.root+"/")
	return inside && slices.Contains([]string{
		".gitignore", "README.md", "src", "src/main.go", "src/lib", "src/lib/a.go", "docs", "docs/guide.md", "run.sh",
		"fix.patch",
	}, below)
}

func (scratchFacts) Locked(_, _, _ string) (version string, known bool) { return "", true }

func (scratchFacts) Ref(name string) bool {
	return slices.Contains([]string{"main", "merged", "HEAD", "HEAD~1"}, name)
}
