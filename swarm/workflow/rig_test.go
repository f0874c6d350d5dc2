package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/command"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/inbox"
	"agentswarm/swarm/limit"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/script"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

// TestMain lets the test binary be the supervisor.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "__supervise" {
		syscall.Exit(proc.Supervise(func(json.RawMessage) error { return nil }))
	}
	os.Exit(m.Run())
}

// rig is a run of a script with a real engine and real processes, a journal in
// memory, and workspaces that are plain folders. Its agents are sh, and their
// prompts are the commands.
type rig struct {
	t     testing.TB
	dir   string
	self  string
	state *store.State
	run   *store.Run

	questions inbox.Policy
	branch    int // how often the branch was looked at
	checks    []string

	mu      sync.Mutex // guards the fields below
	records []event.Record
	stopAt  int64 // the record after which the run is killed; 0: never
	killed  func()
	// delivered are the values that entered the script, in order.
	delivered []string
}

func newRig(t testing.TB) *rig {
	t.Helper()
	dir := t.TempDir()
	state := store.Open(filepath.Join(dir, "state"), "repo", filepath.Join(dir, "repo"))
	run, owner, err := state.Create(store.Identity{Base: store.Base{Commit: "base", Tree: "tree", Kind: store.BaseHead}})
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Close(); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &rig{questions: inbox.Wait, t: t, dir: dir, self: self, state: state, run: run}
}

// errDead is the error of a journal whose process is dead.
var errDead = errors.New("the process is dead")

func (r *rig) Append(e event.Event) (event.Record, error) {
	all, err := r.AppendAll([]event.Event{e})
	if err != nil {
		return event.Record{}, err
	}
	return all[0], nil
}

func (r *rig) AppendAll(events []event.Event) ([]event.Record, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := int64(len(r.records)); r.stopAt > 0 && n+int64(len(events)) > r.stopAt {
		if r.killed != nil {
			r.killed()
		}
		return nil, errDead
	}
	at := len(r.records)
	for _, e := range events {
		r.records = append(r.records, event.Record{N: int64(len(r.records) + 1), Time: time.Now(), Event: e})
	}
	return r.records[at:], nil
}

func (r *rig) view() *store.View {
	r.mu.Lock()
	defer r.mu.Unlock()
	return store.Fold(store.Identity{Run: r.run.ID}, r.records)
}

// machine runs a script in this process and records the values that enter it.
func (r *rig) machine(ctx context.Context, start script.Start, host script.Host) (script.Outcome, error) {
	return script.Run(ctx, start, &noting{host, r}), nil
}

type noting struct {
	script.Host
	r *rig
}

func (n *noting) Next(ctx context.Context) (script.Delivery, error) {
	d, err := n.Host.Next(ctx)
	if err == nil {
		n.r.delivered = append(n.r.delivered, nameOf(d))
	}
	return d, err
}

// nameOf tells deliveries apart.
func nameOf(d script.Delivery) string {
	if d.Result != nil {
		return d.Result.ID + " " + d.Result.Status
	}
	return fmt.Sprintf("%d", d.N)
}

func (r *rig) deps(journal engine.Journal) engine.Deps {
	return engine.Deps{
		Run: r.run, Journal: journal, Workspaces: spaces{filepath.Join(r.dir, "trees")},
		Launcher: &proc.Launcher{Binary: r.self, Args: []string{"__supervise"}},
		Kinds:    map[string]agent.Kind{agent.KindCommand: command.Kind()},
		Disk:     &limit.Disk{Dir: r.dir, Free: func() (int64, error) { return 1 << 40, nil }},
		Environ:  []string{"PATH=" + os.Getenv("PATH"), "RIG=" + r.dir}, PassEnv: []string{"RIG"}, Questions: r.questions,
		Root: r.dir, Cores: 2, Now: time.Now, Warn: func(string) {},
	}
}

func (r *rig) config() engine.Config {
	return engine.Config{Jobs: 8, MaxAgents: 10_000, Agents: map[string]*agent.Spec{
		"sh": {
			Name: "sh", Kind: agent.KindCommand, Command: []string{"sh"},
			Input: agent.InputStdin, Format: agent.FormatText, Success: agent.SuccessExit,
		},
		// paid reports its usage; its prompt, too, is a command for sh.
		"paid": {
			Name: "paid", Kind: agent.KindCommand,
			Command: []string{"sh", "-c", `sh >&2 && printf '{"type":"usage","output":7}\n{"type":"result","text":"paid"}\n'`},
			Input:   agent.InputStdin, Format: agent.FormatJSONL, Success: agent.SuccessAnswer,
		},
	}}
}

// play runs a script with the records of the journal, until it ends or stopAt.
func (r *rig) play(text string) (*script.Outcome, error) {
	return r.playWith(r.t.Context(), text, func(*engine.Engine) {})
}

func (r *rig) playWith(ctx context.Context, text string, begun func(*engine.Engine)) (*script.Outcome, error) {
	r.delivered = nil
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.killed = func() { cancel(errDead) }
	var prior *store.View
	if len(r.records) > 0 {
		prior = r.view()
	}
	e := engine.Open(ctx, r.deps(r), r.config(), prior)
	begun(e)
	outcome, err := Drive(ctx, Request{
		Engine: e, Tools: tools{rig: r}, Prior: prior, Machine: r.machine,
		Script: &event.Scripted{Name: "test.js", Text: text},
		Config: Config{Agent: "sh", Agents: []string{"paid", "sh"}, Checks: r.checks, Base: "base", BaseTree: "tree", MaxAgents: 10_000},
		Nested: func(context.Context, *script.Nested) (*script.Source, error) { return nil, errors.New("none") },
	})
	if err != nil {
		_ = e.Stop(&engine.Halt{Cause: task.CauseStopped, Reason: "killed"}) // its journal may be dead
	}
	if cerr := e.Close(); err == nil {
		err = cerr
	}
	return outcome, err
}

// cut leaves the journal as a process left it that was killed after n records,
// and puts the run in order.
func (r *rig) cut(n int) {
	r.t.Helper()
	r.records, r.stopAt = r.records[:n:n], 0
	v := r.view()
	v.Status, v.Died = store.RunStopped, true
	for _, a := range v.Agents {
		a.Supervisors = nil // of this very process's making, and gone
	}
	if err := engine.Recover(r.t.Context(), r.deps(r), r.config(), v); err != nil {
		r.t.Fatal(err)
	}
}

// ran returns the text that agents wrote to a file of the rig.
func (r *rig) ran() string {
	text, err := os.ReadFile(filepath.Join(r.dir, "ran"))
	if err != nil {
		return ""
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

// spaces are workspaces that are folders, and change nothing.
type spaces struct{ root string }

func (s spaces) Lease(_ context.Context, r worktree.LeaseRequest) (*worktree.Workspace, error) {
	w := &worktree.Workspace{Name: r.Name, Dir: filepath.Join(s.root, r.Name), Admin: "/admin/" + r.Name, Base: r.Base}
	return w, os.MkdirAll(w.Dir, 0o700)
}

func (s spaces) Capture(context.Context, worktree.CaptureRequest) (*worktree.Capture, error) {
	return &worktree.Capture{Complete: true, Tree: "tree"}, nil
}

func (s spaces) Release(_ context.Context, w worktree.Workspace, _ *worktree.Capture) (worktree.Released, error) {
	return worktree.Released{}, os.RemoveAll(w.Dir)
}

func (s spaces) Recycle(ctx context.Context, w worktree.Workspace, c *worktree.Capture) (worktree.Released, error) {
	return s.Release(ctx, w, c)
}

func (s spaces) Drop(_ context.Context, w worktree.Workspace) error { return os.RemoveAll(w.Dir) }

func (s spaces) Restore(context.Context, worktree.Workspace, git.Hash) error { return nil }

func (s spaces) Strays([]string) ([]worktree.Workspace, error) { return nil, nil }

func (s spaces) Room(context.Context, worktree.LeaseRequest) (int64, error) { return 1, nil }

// tools answer checks by their name.
type tools struct {
	Tools
	rig *rig
}

// Resolve knows a branch that is somewhere else each time.
func (t tools) Resolve(_ context.Context, name string) (commit, tree string, err error) {
	if name != "main" {
		return "", "", &script.Error{Name: "Error", Code: script.CodeUnknown, Message: "there is no " + name}
	}
	t.rig.branch++
	return fmt.Sprintf("commit-%d", t.rig.branch), fmt.Sprintf("tree-%d", t.rig.branch), nil
}

func (tools) Check(_ context.Context, r CheckRequest) (*script.CheckResult, error) {
	if r.Name == "unset" {
		return nil, &script.Error{Name: "Error", Message: "its setup failed"}
	}
	return &script.CheckResult{OK: r.Name == "good", Stdout: r.Name}, nil
}

func (tools) Files(_ context.Context, glob string) ([]string, error) { return []string{glob}, nil }
