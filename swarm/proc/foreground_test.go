package proc

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
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
		// It says that its traps are set, and goes on until one is sprung.
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

// TestForegroundStarted: the command is known by its identity while it runs,
// and does not run on when that could not be kept.
func TestForegroundStarted(t *testing.T) {
	t.Parallel()
	var pid int
	var start uint64
	request := ForegroundRequest{
		Argv: []string{"sleep", "1000"}, Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")},
		Started: func(p int, s uint64) error {
			pid, start = p, s
			if !Alive(pid, start) {
				t.Errorf("%d, begun at %d, is not alive", pid, start)
			}
			return os.ErrPermission
		},
	}
	if _, err := Foreground(request); !errors.Is(err, os.ErrPermission) {
		t.Errorf("it ended with %v, want the error of Started", err)
	}
	if Alive(pid, start) {
		t.Errorf("%d runs on", pid)
	}
}
