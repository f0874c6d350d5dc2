package shim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"agentswarm/internal/testprogram"
	"agentswarm/swarm/proc"
)

// TestMain makes the test binary play swarm, a supervisor in a sandbox, and a
// caller of git there. With os.Exit they would sleep for a second under the
// race detector.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "__git":
			syscall.Exit(Run(Request{Args: os.Args[2:], Environ: os.Environ(), Stdout: os.Stdout, Stderr: os.Stderr}))
		case "walled":
			syscall.Exit(playWalled(os.Args[2]))
		case "play":
			syscall.Exit(playScene(os.Args[2]))
		}
	}
	os.Exit(m.Run())
}

// shimmed makes the state of a build below a folder and returns that of the
// script.
func shimmed(t *testing.T, below string) (dir string) {
	t.Helper()
	dir = filepath.Join(below, "bin", "build", "shims")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(filepath.Dir(dir), "swarm")); err != nil {
		t.Fatal(err)
	}
	testprogram.Write(t, filepath.Join(dir, "git"), string(Script))
	return dir
}

// environ is the environment that git needs in tests, with nothing of the
// caller's. Since 2.47 a commit leaves a process behind that tidies up. Until
// it ends, it has a lock in the repository that is copied here.
func environ(path, home string, more ...string) []string {
	return append([]string{
		"PATH=" + path, "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C.UTF-8", "TMPDIR=" + os.TempDir(),
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org",
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.org",
		"GIT_AUTHOR_DATE=2001-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2001-01-01T00:00:00Z",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false",
	}, more...)
}

func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// said is the output of a command.
type said struct {
	Code     int
	Out, Err string
}

// shell runs a script of sh.
func shell(dir, script string, env []string) (said, error) {
	var out, words bytes.Buffer
	code, err := proc.Foreground(proc.ForegroundRequest{
		Argv: []string{"/bin/sh", "-c", script}, Env: env, Dir: dir, Stdout: &out, Stderr: &words,
	})
	return said{code, out.String(), words.String()}, err
}

// must is shell for commands that have to work.
func must(t *testing.T, dir, script string, env []string) string {
	t.Helper()
	got, err := shell(dir, script, env)
	if err != nil || got.Code != 0 {
		t.Fatalf("%s: %v %+v", script, err, got)
	}
	return got.Out
}

// scene is a `git mv` in a repository, with the commands before it.
type scene struct {
	Dir, Prepare, Call string
	Plain, Shimmed     []string // the environments
}

// seen is the end of a scene: the output of git, and the files.
type seen struct {
	Said          said
	Status, Index string
	Files         []string
}

func playScene(file string) int {
	var s scene
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	var got seen
	if err == nil {
		got, err = play(s)
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(got)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func play(s scene) (got seen, err error) {
	if prepared, err := shell(s.Dir, "set -e\n"+s.Prepare, s.Plain); err != nil || prepared.Code != 0 {
		return got, fmt.Errorf("prepare: %v %+v", err, prepared)
	}
	if got.Said, err = shell(s.Dir, s.Call, s.Shimmed); err != nil {
		return got, err
	}
	for script, to := range map[string]*string{
		"git status --porcelain=v2 -z --ignored": &got.Status, "git ls-files -s -v -z": &got.Index,
	} {
		said, err := shell(s.Dir, script, s.Plain)
		if err != nil || said.Code != 0 {
			return got, fmt.Errorf("%s: %v %+v", script, err, said)
		}
		*to = said.Out
	}
	// Text that is not UTF-8 does not survive JSON.
	for _, to := range []*string{&got.Status, &got.Index, &got.Said.Out, &got.Said.Err} {
		*to = fmt.Sprintf("%q", *to)
	}
	err = filepath.WalkDir(s.Dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(path, s.Dir)
		if rel == "/.git" {
			return filepath.SkipDir
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		var what string
		switch {
		case info.Mode().IsRegular():
			var text []byte
			text, err = os.ReadFile(path)
			what = string(text)
		case info.Mode()&os.ModeSymlink != 0:
			what, err = os.Readlink(path)
		}
		got.Files = append(got.Files, fmt.Sprintf("%q %v %q", rel, info.Mode(), what))
		return err
	})
	return got, err
}

// reap runs a program and waits for it, and for all that is left to this
// process meanwhile.
func reap(argv []string) (code int, err error) {
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}})
	var status syscall.WaitStatus
	for err == nil {
		var got int
		if got, err = syscall.Wait4(-1, &status, 0, nil); got == pid {
			return status.ExitStatus(), nil
		} else if errors.Is(err, syscall.EINTR) {
			err = nil
		}
	}
	return 1, err
}
