package builtin

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/swarm/ask"
	"agentswarm/swarm/box"
	"agentswarm/swarm/builtin/model"
	"agentswarm/swarm/early"
)

// apis are all APIs: each test holds for all.
func apis() []model.API { return []model.API{model.Chat, model.Responses, model.Anthropic} }

// gateFunc is a gate that is a function.
type gateFunc func(ask.Action) error

func (g gateFunc) Pass(_ context.Context, a ask.Action) error { return g(a) }

// open is a gate that lets everything pass.
func open() gateFunc { return func(ask.Action) error { return nil } }

// options are those of an agent in a workspace of its own.
func options(t *testing.T, e *model.Endpoint) Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	walls, err := json.Marshal(box.Sandbox{Level: box.None})
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Sandbox: walls,
		Root:    root, Dir: root, Environ: os.Environ(), Binary: self, Args: []string{early.Supervise},
		Endpoint: e, Gate: open(), Session: filepath.Join(t.TempDir(), "s"), JSONL: true, Stderr: io.Discard,
	}
}

// line is a line of stdout, flat.
type line struct {
	Type, ID, Model, Text, Name, Kind, Message string
	N                                          int
	OK                                         bool
	Input, Output                              json.RawMessage
	CacheRead                                  int             `json:"cache_read"`
	RetryAfterMS                               int64           `json:"retry_after_ms"`
	Structured                                 json.RawMessage `json:"structured"`
	Can                                        []string
}

// talk is an agent that runs, and both ends of its streams.
type talk struct {
	t     *testing.T
	in    *io.PipeWriter
	lines *bufio.Scanner
	heard []line
	done  chan error
}

// start starts an agent that speaks the protocol.
func start(t *testing.T, ctx context.Context, o Options) *talk {
	t.Helper()
	stdin, in := io.Pipe()
	out, stdout := io.Pipe()
	o.Stdin, o.Stdout = stdin, stdout
	k := &talk{t: t, in: in, lines: bufio.NewScanner(out), done: make(chan error, 1)}
	k.lines.Buffer(nil, 1<<20)
	go func() {
		k.done <- Run(ctx, o)
		_ = stdout.Close()
		_ = stdin.Close()
	}()
	t.Cleanup(func() { _ = in.Close(); _ = out.Close() })
	return k
}

func (k *talk) say(v any) {
	k.t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		k.t.Fatal(err)
	}
	if _, err := k.in.Write(append(text, '\n')); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		k.t.Fatal(err)
	}
}

func (k *talk) prompt(text string) { k.t.Helper(); k.say(obj{"type": "prompt", "text": text}) }

// until reads on to a line of a type.
func (k *talk) until(kind string) line {
	k.t.Helper()
	for k.lines.Scan() {
		var l line
		if err := json.Unmarshal(k.lines.Bytes(), &l); err != nil {
			k.t.Fatalf("%v in %s", err, k.lines.Text())
		}
		k.heard = append(k.heard, l)
		if l.Type == kind {
			return l
		}
	}
	k.t.Fatalf("no %s in %+v", kind, k.heard)
	return line{}
}

// end reads the rest, and returns the error of Run.
func (k *talk) end() error {
	k.t.Helper()
	for k.lines.Scan() {
		var l line
		if err := json.Unmarshal(k.lines.Bytes(), &l); err != nil {
			k.t.Fatalf("%v in %s", err, k.lines.Text())
		}
		k.heard = append(k.heard, l)
	}
	return <-k.done
}

// finish says that it is enough, and waits for a good end.
func (k *talk) finish() {
	k.t.Helper()
	k.say(obj{"type": "finish", "reason": "result"})
	if err := k.end(); err != nil {
		k.t.Fatalf("Run = %v; heard %+v", err, k.heard)
	}
}

// of are the lines of a type that were heard.
func (k *talk) of(kind string) []line {
	var all []line
	for _, l := range k.heard {
		if l.Type == kind {
			all = append(all, l)
		}
	}
	return all
}

// put writes files, by their names and contents.
func put(t *testing.T, dir string, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		file := filepath.Join(dir, pairs[i])
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(pairs[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// plainRun runs an agent as for a person, and returns its output.
func plainRun(t *testing.T, o Options) (stdout, stderr string, err error) {
	t.Helper()
	var out, progress bytes.Buffer
	o.JSONL, o.Stdout, o.Stderr = false, &out, &progress
	err = Run(t.Context(), o)
	return out.String(), progress.String(), err
}

func has(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s = %s, without %s", what, text, part)
		}
	}
}
