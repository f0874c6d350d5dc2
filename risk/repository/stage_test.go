package repository

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/risk"
	"agentswarm/worktree/git"
)

// stage is a repository of a test.
type stage struct {
	*testing.T
	home, root string
}

// newStage makes a repository without a commit.
func newStage(t *testing.T) *stage {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{T: t, home: filepath.Join(dir, "home"), root: filepath.Join(dir, "repo")}
	s.ok(os.MkdirAll(s.home, 0o700), os.MkdirAll(s.root, 0o700))
	s.git("init", "-q", "-b", "main", "--template=")
	s.git("config", "user.name", "Ada")
	s.git("config", "user.email", "ada@example.com")
	return s
}

func (s *stage) ok(errs ...error) {
	s.Helper()
	if err := errors.Join(errs...); err != nil {
		s.Fatal(err)
	}
}

func (s *stage) environ() []string {
	return []string{
		"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_DATE=2024-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2024-01-02T03:04:05Z",
	}
}

// in opens the repository of a folder.
func (s *stage) in(dir string) *git.Repo {
	s.Helper()
	repo, err := git.New(s.environ()).Discover(s.Context(), dir)
	s.ok(err)
	return repo
}

// judged is the place of a folder.
func (s *stage) judged(dir string, r Request) *risk.Place {
	s.Helper()
	r.Repo, r.Home = s.in(dir), s.home
	place, err := Place(s.Context(), r)
	s.ok(err)
	return place
}

func (s *stage) git(args ...string) string { s.Helper(); return s.feed("", args...) }

// gitIn runs git in another folder.
func (s *stage) gitIn(dir string, args ...string) {
	s.Helper()
	s.git(append([]string{"-C", dir}, args...)...)
}

// feed runs git with a text on its standard input.
func (s *stage) feed(text string, args ...string) string {
	s.Helper()
	cmd := exec.Command("git", args...)
	// Since 2.47 a commit leaves a process behind that tidies up, with a lock in the
	// repository until it is done.
	cmd.Dir, cmd.Env = s.root, append(s.environ(),
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false")
	cmd.Stdin = strings.NewReader(text)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		s.Fatalf("%s: %v: %s", strings.Join(cmd.Args, " "), err, said.String())
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// write writes files of the checkout: name, content, name, content.
func (s *stage) write(files ...string) {
	s.Helper()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(s.root, files[i])
		s.ok(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(files[i+1]), 0o600))
	}
}

// commit writes files and commits the whole work tree.
func (s *stage) commit(files ...string) {
	s.Helper()
	s.write(files...)
	s.git("add", "-A")
	s.git("commit", "-q", "--allow-empty", "-m", "work")
}
