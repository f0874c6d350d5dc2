package control

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// target records the requests.
type target struct {
	mu          sync.Mutex
	carried     []Request
	supervisors []int
	err         error
	hold        chan struct{} // where set, told when a stop has begun to wait
	left        func()        // where set, called when the attached client has left
}

func (g *target) Carry(ctx context.Context, r Request) error {
	if g.hold != nil {
		close(g.hold)
		<-ctx.Done()
		return errors.New("the run is ending")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.carried = append(g.carried, r)
	return g.err
}

// Attach sends the input back in capitals, until an empty input.
func (g *target) Attach(_ context.Context, r *Attach) (func(*Stream) error, error) {
	if g.err != nil {
		return nil, g.err
	}
	return func(s *Stream) error {
		for {
			f, err := s.Read()
			if err != nil && g.left != nil {
				g.left()
			}
			if err != nil {
				return err
			}
			switch f := f.(type) {
			case *Input:
				if len(f.Bytes) == 0 {
					return s.Write(&End{Text: "over"})
				}
				err = s.Write(&Output{Bytes: bytes.ToUpper(f.Bytes)})
			case *Resize:
				err = s.Write(&Notice{Text: fmt.Sprintf("%s %dx%d", r.Agent, f.Rows, f.Cols)})
			}
			if err != nil {
				return err
			}
		}
	}, nil
}

func (g *target) Supervises(pid int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Contains(g.supervisors, pid)
}

// in is an environment with a run-time folder.
func in(runtime string) func(string) string {
	return func(key string) string {
		if key == "XDG_RUNTIME_DIR" {
			return runtime
		}
		return ""
	}
}

// short is a temporary folder whose name leaves room for a socket's.
func short(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ctl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// owned is a run that the test owns.
func owned(t *testing.T) *store.Owner {
	t.Helper()
	_, o, err := store.Open(t.TempDir(), "repo", "/nowhere").Create(store.Identity{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
	return o
}

// listening is a server for a run of its own, and its run-time folder.
func listening(t *testing.T, g *target) (*Server, *store.Run, string) {
	t.Helper()
	o, runtime := owned(t), short(t)
	s, err := open(o, g, in(runtime))
	if err != nil {
		t.Fatal(err)
	}
	// On a busy machine silent clients stay while a test runs.
	s.patience = time.Minute
	s.begin(t.Context())
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, o.Run, runtime
}

func dialed(t *testing.T, r *store.Run, runtime string) *Client {
	t.Helper()
	c, err := Dial(t.Context(), r, in(runtime))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestRequestsReachTheRun(t *testing.T) {
	t.Parallel()
	g := &target{}
	s, r, runtime := listening(t, g)
	c := dialed(t, r, runtime)
	if pid, err := c.Ping(t.Context()); err != nil || pid != os.Getpid() {
		t.Errorf("Ping = %d, %v", pid, err)
	}
	give := []Request{
		&Cancel{Agents: []task.ID{"a1", "a12"}, Cause: task.CauseCancelled, Reason: "no\nmore"},
		&Stop{Reason: "enough"},
		&Retry{Agents: []task.ID{"a1"}, Feedback: "more", Fresh: true},
		&Review{Marks: []event.Reviewed{{Agent: "a1", Attempt: 2, Verdict: task.Rejected, Reason: "r"}}},
		&Review{Edits: []event.EditsReviewed{{Agent: "a1", Attempt: 2, Verdict: task.Rejected, Edits: []task.EditKey{{Path: "p", Exact: "e", Sum: "s", Nth: 1}}}}},
		&Review{Remarks: []event.Remarked{{ID: 1, Agent: "a1", Attempt: 2, Edit: task.EditKey{Path: "p\xff", Nth: 1}, Text: "t"}}},
		&Retry{Agents: []task.ID{"a1"}, Feedback: "f", Remarks: []int{1, 2}},
		&Answer{ID: "k3x9q2-1", Shown: "d1", Allow: true, Text: "t", Reason: "r", For: task.ForTheRun},
		&Send{Agent: "a1", Text: "left"},
	}
	for _, r := range give {
		if err := c.Ask(t.Context(), r); err != nil {
			t.Errorf("%s: %v", r.verb(), err)
		}
	}
	if !reflect.DeepEqual(g.carried, give) {
		t.Errorf("the run was told %v", g.carried)
	}
	err := c.Ask(t.Context(), &Cancel{})
	if a, ok := errors.AsType[*AnswerError](err); !ok || a.Kind != task.Invalid {
		t.Errorf("Cancel of nobody = %v", err)
	}
	g.err = errors.New("run k3x9q2 has no agent a7")
	err = c.Ask(t.Context(), &Cancel{Agents: []task.ID{"a7"}})
	if a, ok := errors.AsType[*AnswerError](err); !ok || a.Message != g.err.Error() {
		t.Errorf("Cancel of a stranger = %v", err)
	}
	if info, err := os.Stat(s.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket is %v, %v", info, err)
	}
}

func TestDialAfterTheEnd(t *testing.T) {
	t.Parallel()
	s, r, runtime := listening(t, &target{})
	c := dialed(t, r, runtime)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Ping(t.Context()); !isGone(err) {
		t.Errorf("Ping of what ended = %v", err)
	}
	if c, err := Dial(t.Context(), r, in(runtime)); !isGone(err) {
		t.Errorf("Dial of what ended = %v, %v", c, err)
	}
	if left, _ := os.ReadDir(filepath.Join(runtime, "swarm")); len(left) != 0 {
		t.Errorf("Close left %v", left)
	}
}

func isGone(err error) bool {
	_, ok := errors.AsType[*GoneError](err)
	return ok
}

func TestOwnerThatWasKilled(t *testing.T) {
	t.Parallel()
	o, runtime := owned(t), short(t)
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	p, _, out := start(t, &os.ProcAttr{Env: append(os.Environ(), "CONTROL_CHILD=serve")}, o.Run.State().Dir, runtime)
	if line, err := out.ReadString('\n'); line != "listening\n" {
		t.Fatalf("the child said %q, %v", line, err)
	}
	c := dialed(t, o.Run, runtime)
	if pid, err := c.Ping(t.Context()); err != nil || pid != p.Pid {
		t.Errorf("Ping = %d, %v, want %d", pid, err, p.Pid)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Ping(t.Context()); !isGone(err) {
		t.Errorf("Ping of a killed owner = %v", err)
	}
	if left, _ := os.ReadDir(filepath.Join(runtime, "swarm")); len(left) != 1 {
		t.Fatalf("a killed owner left %v", left)
	}
	if c, err := Dial(t.Context(), o.Run, in(runtime)); !isGone(err) {
		t.Errorf("Dial of a killed owner = %v, %v", c, err)
	}
	again, err := o.Run.Own(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, err := Listen(t.Context(), again, &target{}, in(runtime))
	if err != nil {
		t.Fatal(err)
	}
	if pid, err := dialed(t, o.Run, runtime).Ping(t.Context()); err != nil || pid != os.Getpid() {
		t.Errorf("Ping of the next owner = %d, %v", pid, err)
	}
	if err := errors.Join(s.Close(), again.Close()); err != nil {
		t.Error(err)
	}
}

func TestCloseLeavesWhatIsNotItsOwn(t *testing.T) {
	t.Parallel()
	s, _, _ := listening(t, &target{})
	if err := os.Rename(s.path, s.path+".moved"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(s.path); string(text) != "mine" {
		t.Errorf("the other file is gone: %v", err)
	}
}

func TestListenRefusesAFileInItsPlace(t *testing.T) {
	t.Parallel()
	o, runtime := owned(t), short(t)
	dir := filepath.Join(runtime, "swarm")
	path, err := socket(dir, o.Run)
	if err == nil {
		err = os.Mkdir(dir, 0o700)
	}
	if err == nil {
		err = os.WriteFile(path, []byte("mine"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if s, err := Listen(t.Context(), o, &target{}, in(runtime)); err == nil {
		t.Errorf("Listen = %v", errors.Join(s.Close()))
	}
	if text, err := os.ReadFile(path); string(text) != "mine" {
		t.Errorf("the file is gone: %v", err)
	}
}

func TestCloseEndsWhatWaits(t *testing.T) {
	t.Parallel()
	g := &target{hold: make(chan struct{})}
	s, r, runtime := listening(t, g)
	idle := dialed(t, r, runtime)
	busy := dialed(t, r, runtime)
	told := make(chan error, 1)
	go func() { told <- busy.Ask(t.Context(), &Stop{Reason: "x"}) }()
	<-g.hold
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-told; err == nil || err.Error() != "the run is ending" {
		t.Errorf("a stop that was under way = %v", err)
	}
	if _, err := idle.Ping(t.Context()); !isGone(err) {
		t.Errorf("an idle client = %v", err)
	}
}

func TestClientLeaves(t *testing.T) {
	t.Parallel()
	g := &target{hold: make(chan struct{})}
	_, r, runtime := listening(t, g)
	c := dialed(t, r, runtime)
	ctx, cancel := context.WithCancelCause(t.Context())
	told := make(chan error, 1)
	go func() { told <- c.Ask(ctx, &Stop{Reason: "x"}) }()
	<-g.hold
	enough := errors.New("enough")
	cancel(enough)
	if err := <-told; !errors.Is(err, enough) {
		t.Errorf("a client that left = %v", err)
	}
}

// TestNothingIsAskedAfterTheEnd of the context, however quick the run is.
func TestNothingIsAskedAfterTheEnd(t *testing.T) {
	t.Parallel()
	g := &target{}
	s, r, runtime := listening(t, g)
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	for range 20 {
		if err := dialed(t, r, runtime).Ask(ctx, &Stop{Reason: "x"}); !errors.Is(err, enough) {
			t.Errorf("Ask = %v, want the cause", err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if len(g.carried) != 0 {
		t.Errorf("the run was told %d times to stop", len(g.carried))
	}
}

// say sends raw bytes and reads the first line that comes back.
func say(t *testing.T, path, text string) string {
	t.Helper()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, text) // the answer may come before the end
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		t.Errorf("after %.40q: %v", text, err)
	}
	return line
}

func TestBadRequestsAreAnswered(t *testing.T) {
	t.Parallel()
	g := &target{}
	s, r, runtime := listening(t, g)
	for give, want := range map[string]string{
		"ping\n":                              "decode request",
		"{}\n":                                `unknown verb \"\"`,
		`{"verb":"guess"}` + "\n":             "ping, cancel, stop",
		`{"verb":"answer"}` + "\n":            "names no question",
		`{"verb":"retry"}` + "\n":             "names no agent",
		`{"verb":"send","agent":"a1"}` + "\n": "nothing to send",
		`{"verb":"attach"}` + "\n":            "not the id of an agent",
		`{"verb":"review","marks":[{"agent":"a1","attempt":1}]}` + "\n": "neither accepted nor rejected",
		`{"verb":"review"}` + "\n":                                      "names no agent",
		`{"verb":"answer","id":"x","for":"ever"}` + "\n":                "unknown span",
		`{"verb":"cancel"}` + "\n":                                      "names no agent",
		`{"verb":"ping"} {"verb":"x"}` + "\n":                           "decode request",
		`{"verb":"cancel","agents":["all"]}` + "\n":                     "not the id of an agent",
		`{"verb":"cancel","agents":["a1"],"cause":"budget"}` + "\n":     "cancelled or stopped",
		`{"verb":"cancel","agents":["a1"],"cause":"nonsense"}` + "\n":   "unknown error kind",
		strings.Repeat(" ", maxLine+1) + "\n":                           "at most 262144 bytes",
	} {
		got := say(t, s.path, give)
		if !strings.Contains(got, want) || !strings.Contains(got, `"kind":"invalid"`) {
			t.Errorf("%.60q is answered %q, want %q", give, got, want)
		}
	}
	if len(g.carried) != 0 {
		t.Errorf("the run was told %v", g.carried)
	}
	if _, err := dialed(t, r, runtime).Ping(t.Context()); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestWithoutTheSecret: who cannot read the folder of the run asks for nothing.
func TestWithoutTheSecret(t *testing.T) {
	t.Parallel()
	g := &target{}
	s, r, _ := listening(t, g)
	for _, give := range []string{`{"verb":"stop"}`, `{"verb":"stop","secret":""}`, `{"verb":"ping","secret":"x"}`, `{"verb":"attach","agent":"a1"}`} {
		if got := say(t, s.path, give+"\n"); !strings.Contains(got, "the secret of the run") || !strings.Contains(got, `"kind":"refused"`) {
			t.Errorf("%s is answered %q", give, got)
		}
	}
	if len(g.carried) != 0 {
		t.Errorf("the run was told %v", g.carried)
	}
	if info, err := os.Stat(r.Secret()); err != nil || info.Mode().Perm() != 0o600 || info.Size() < 20 {
		t.Errorf("the secret is %v, %v", info, err)
	}
}

func TestCrowdIsBounded(t *testing.T) {
	t.Parallel()
	_, r, runtime := listening(t, &target{})
	for range crowd {
		if _, err := dialed(t, r, runtime).Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	_, err := dialed(t, r, runtime).Ping(t.Context())
	if a, ok := errors.AsType[*AnswerError](err); !ok || a.Kind != task.Overloaded {
		t.Errorf("one too many = %v", err)
	}
}
