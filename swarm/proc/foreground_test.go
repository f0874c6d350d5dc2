package proc

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"agentswarm/internal/testprogram"
)

func TestForeground(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"plain": "", "orphaned": "#!/no/such/interpreter\n", "good": "#!/bin/sh\nexit 3\n",
	} {
		testprogram.Write(t, filepath.Join(dir, name), text)
	}
	if err := os.Chmod(filepath.Join(dir, "plain"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		argv    []string
		code    int
		refused bool
		out     string
	}{
		{"good", []string{"sh", "-c", "cat; echo to $0 in $X; pwd", "me"}, 0, false, "typed\nto me in x\n" + dir + "\n"},
		{"its code", []string{"./good"}, 3, false, ""},
		{"any code", []string{"sh", "-c", "exit 255"}, 255, false, ""},
		{"a signal", []string{"sh", "-c", "kill -KILL $$"}, 128 + 9, false, ""},
		{"missing", []string{"no-such-command"}, 127, true, ""},
		{"missing by path", []string{"./nope"}, 127, true, ""},
		{"not executable", []string{"./plain"}, 126, true, ""},
		{"a folder", []string{dir}, 126, true, ""},
		{"no interpreter", []string{"./orphaned"}, 126, true, ""},
		{"nothing", nil, 126, true, ""},
		{"an empty word", []string{""}, 126, true, ""},
	} {
		var out bytes.Buffer
		code, err := Foreground(ForegroundRequest{
			Argv: tt.argv, Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH"), "X=x"},
			Stdin: strings.NewReader("typed\n"), Stdout: &out, Stderr: &out,
		})
		var refused *CommandError
		if errors.As(err, &refused) {
			code, err = refused.Code(), nil
		}
		if err != nil || code != tt.code || (refused != nil) != tt.refused || out.String() != tt.out {
			t.Errorf("%s: %d, %v, refused %v, said %q; want %d, refused %v, said %q",
				tt.name, code, err, refused, &out, tt.code, tt.refused, tt.out)
		}
	}
}

// TestForegroundSignals: TERM is passed on; INT is not, since a terminal
// gives it to all in the foreground.
func TestForegroundSignals(t *testing.T) {
	t.Parallel()
	signals := make(chan os.Signal, 2)
	near, far, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	go func() {
		// The child reports that its traps are set, and runs until it gets a
		// signal.
		_, _ = near.Read(make([]byte, 1))
		signals <- syscall.SIGINT
		signals <- syscall.SIGTERM
	}()
	code, err := Foreground(ForegroundRequest{
		Argv: []string{"sh", "-c", "trap 'exit 11' INT; trap 'exit 12' TERM; echo; while :; do sleep 0.01; done"},
		Dir:  t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}, Stdout: far, Signals: signals,
	})
	if err := errors.Join(err, far.Close()); err != nil || code != 12 {
		t.Errorf("it ended with %d, %v; want 12", code, err)
	}
}

// TestForegroundStarted: none of the command runs before its identity is
// recorded, and none of it at all when that fails or this process dies.
func TestForegroundStarted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testprogram.Write(t, filepath.Join(dir, "orphaned"), "#!/no/such/interpreter\n")
	for _, tt := range []struct {
		name   string
		argv   []string
		refuse error
		code   int
		out    string
	}{
		{"recorded", []string{"sh", "-c", "cat; echo $0 in $X; pwd; exit 7", "me"}, nil, 7, "typed\nme in x\n" + dir + "\n"},
		{"not recorded", []string{"sh", "-c", "echo ran"}, os.ErrPermission, 0, ""},
		{"no interpreter", []string{"./orphaned"}, nil, 126, ""},
	} {
		var out bytes.Buffer
		var pid int
		var start uint64
		code, err := Foreground(ForegroundRequest{
			Argv: tt.argv, Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH"), "X=x"}, Waiter: []string{os.Args[0], "become"},
			Stdin: strings.NewReader("typed\n"), Stdout: &out, Stderr: &out,
			Started: func(p int, s uint64) error {
				pid, start = p, s
				if args := argsOf(t, pid); !Alive(pid, start) || !strings.Contains(args, "become") {
					t.Errorf("%s: %d, started at %d, runs %q while it is recorded", tt.name, pid, start, args)
				}
				return tt.refuse
			},
		})
		var refused *CommandError
		if errors.As(err, &refused) {
			code, err = refused.Code(), nil
		}
		if !errors.Is(err, tt.refuse) || code != tt.code || out.String() != tt.out {
			t.Errorf("%s: %d, %v, said %q; want %d, %v, %q", tt.name, code, err, &out, tt.code, tt.refuse, tt.out)
		}
		if Alive(pid, start) {
			t.Errorf("%s: %d runs on", tt.name, pid)
		}
	}
}

// argsOf is the command line of a process. Where there is no /proc, ps has it.
func argsOf(t *testing.T, pid int) string {
	t.Helper()
	out, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if errors.Is(err, fs.ErrNotExist) {
		out, err = exec.Command("ps", "-o", "args=", "-p", strconv.Itoa(pid)).Output()
	}
	if err != nil {
		t.Error(err)
	}
	return string(out)
}

// TestBecomeCommandAlone: a waiter whose starter is gone runs nothing.
func TestBecomeCommandAlone(t *testing.T) {
	t.Parallel()
	permitted, permit, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	refusal, refused, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer refusal.Close()
	var out bytes.Buffer
	cmd := exec.Command(os.Args[0], "become", "/bin/echo", "echo", "ran")
	cmd.Stdout, cmd.ExtraFiles = &out, []*os.File{permitted, refused}
	if err := errors.Join(cmd.Start(), permitted.Close(), refused.Close(), permit.Close()); err != nil {
		t.Fatal(err)
	}
	var ended *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &ended) || ended.ExitCode() != 1 || out.Len() > 0 {
		t.Errorf("it ended with %v and said %q, want exit code 1 and silence", err, &out)
	}
}
