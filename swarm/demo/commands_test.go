package demo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/urfave/cli/v2"
)

// typed runs one of our commands as if a user had typed it.
func typed(ctx context.Context, env Env, args ...string) error {
	app := &cli.App{
		Name: "swarm", Commands: Commands(env), Writer: io.Discard, ErrWriter: io.Discard,
		ExitErrHandler: func(*cli.Context, error) {},
	}
	return app.RunContext(ctx, append([]string{"swarm"}, args...))
}

// The tests that use typed are not parallel: the command library writes to
// variables of its own package when an app runs.

func TestUsage(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "full", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		args    string
		environ []string
		want    string
	}{
		{"two folders", "demo a b", os.Environ(), `demo takes one folder, not 2: ["a" "b"]`},
		{"too few", "demo --packages 9", os.Environ(), "--packages 9: must be from 10 to 100"},
		{"too many", "demo --packages 101", os.Environ(), "--packages 101: must be from 10 to 100"},
		{"not empty", "demo full", os.Environ(), "full: is not empty"},
		{"a file", "demo file", os.Environ(), "file: must be a folder that is empty or does not exist"},
		{"no go", "demo", []string{"PATH=" + dir}, "go is not on PATH"},
		{"agent", agentCommand + " x", os.Environ(), agentCommand + " takes the path of a socket and of a folder"},
	} {
		t.Run(test.name, func(t *testing.T) {
			env := Env{
				Dir: dir, Environ: test.environ, Stdout: io.Discard, Stderr: io.Discard,
				Swarm: func(context.Context, string, io.Writer, io.Writer, ...string) int {
					t.Error("something was started")
					return 0
				},
			}
			err := typed(t.Context(), env, strings.Fields(test.args)...)
			var usage *UsageError
			if !errors.As(err, &usage) || usage.ExitCode() != 2 || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("%s = %v, want %s", test.args, err, test.want)
			}
		})
	}
}

func TestAgentCommand(t *testing.T) {
	_, tree := smallTree(t, minPackages)
	dir := t.TempDir()
	if err := tree.write(dir); err != nil {
		t.Fatal(err)
	}
	for item, want := range map[string]string{
		"orchard": "rewrote 4 calls and 2 mentions of kv.Get in 3 files\n  packages/orchard/README.md\n",
		refuses:   "",
		"nowhere": "",
	} {
		g := newGate(t, 1, time.Minute)
		var out bytes.Buffer
		err := typed(t.Context(), Env{Dir: dir, Stdout: &out}, agentCommand, g.Path, "packages/"+item)
		if (err == nil) != (want != "") || !strings.HasPrefix(out.String(), want) {
			t.Errorf("agent of %s = %v, %q, want %q", item, err, out.String(), want)
		}
		if err != nil && !strings.Contains(err.Error(), "packages/"+item) {
			t.Errorf("agent of %s = %v, want to hear where", item, err)
		}
	}
}

// TestAgentTells holds that an agent whose work takes long is not silent.
func TestAgentTells(t *testing.T) {
	t.Parallel()
	_, tree := smallTree(t, minPackages)
	dir := t.TempDir()
	if err := tree.write(dir); err != nil {
		t.Fatal(err)
	}
	// It reads the list of callers once somebody writes it.
	list := filepath.Join(dir, filepath.FromSlash(callersFile))
	if err := errors.Join(os.Remove(list), syscall.Mkfifo(list, 0o600)); err != nil {
		t.Fatal(err)
	}
	g := newGate(t, 1, time.Minute)
	out, stdout := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := agent(t.Context(), agentRequest{Dir: dir, Gate: g.Path, Item: "packages/orchard", Stdout: stdout})
		ended <- errors.Join(err, stdout.Close())
	}()
	silent := time.AfterFunc(time.Minute, func() { _ = out.Close() })
	defer silent.Stop()
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "moving callers" {
	}
	if err := lines.Err(); err != nil {
		t.Errorf("it does not say that it is at work: %v", err)
	}
	fifo, err := os.OpenFile(list, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = fifo.WriteString(tree[callersFile])
	if err := errors.Join(err, os.Remove(list), fifo.Close()); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, out) // the answer comes with the end of the output
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		"/tmp/swarm-demo-1": "/tmp/swarm-demo-1",
		"/a b":              "'/a b'",
		"it's":              `'it'\''s'`,
		"$HOME":             "'$HOME'",
		"":                  "''",
	} {
		if got := quote(give); got != want {
			t.Errorf("quote(%q) = %s, want %s", give, got, want)
		}
	}
}
