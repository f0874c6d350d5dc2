package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/command"
	"agentswarm/swarm/ask"
	"agentswarm/swarm/event"
	"agentswarm/swarm/hook"
	"agentswarm/swarm/inbox"
	"agentswarm/swarm/limit"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

// TestMain lets the test binary be the supervisor, and the hook of an agent.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "__hook" {
		syscall.Exit(hook.Plain.Run(context.Background(), hook.Streams{
			Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Socket: os.Getenv(ask.Variable),
		}))
	}
	if len(os.Args) > 1 && os.Args[1] == "__quota_talker" {
		syscall.Exit(quotaTalker())
	}
	if len(os.Args) > 2 && os.Args[1] == "__guard" {
		code := 0
		if a, err := ask.Once(os.Getenv(ask.Variable), ask.Action{Command: os.Args[2]}); err != nil || !a.Allow {
			code = 126
		}
		syscall.Exit(code)
	}
	if len(os.Args) > 1 && os.Args[1] == "__supervise" {
		syscall.Exit(proc.Supervise(func(json.RawMessage) error { return nil }))
	}
	os.Exit(m.Run())
}

// rig is a run with a real journal and real processes, and workspaces that
// are plain folders.
type rig struct {
	t      *testing.T
	deps   Deps
	config Config
	spaces *spaces
	owner  *store.Owner
	// dir is a folder through which agents report to the test.
	dir string

	mu   sync.Mutex                // guards fail
	fail func(e event.Event) error // of the journal; nil never fails
}

func newRig(t *testing.T) *rig {
	t.Helper()
	dir := t.TempDir()
	state := store.Open(filepath.Join(dir, "state"), "repo", filepath.Join(dir, "repo"))
	run, owner, err := state.Create(store.Identity{
		Base: store.Base{Commit: "base", Tree: "tree", Kind: store.BaseHead},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = owner.Close() })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, owner: owner, dir: t.TempDir(), spaces: &spaces{root: state.Trees(run.ID)}}
	r.config = Config{Jobs: 4, MaxAgents: 100}
	r.deps = Deps{
		Run: run, Journal: r, Workspaces: r.spaces,
		Launcher: &proc.Launcher{Binary: self, Args: []string{"__supervise"}},
		Kinds:    map[string]agent.Kind{agent.KindCommand: command.Kind()},
		Joiner:   r.spaces,
		Disk:     &limit.Disk{Dir: dir, Free: func() (int64, error) { return 1 << 40, nil }},
		Environ:  []string{"PATH=" + os.Getenv("PATH"), "RIG=" + r.dir},
		PassEnv:  []string{"RIG", "JOURNAL", "GONE"},
		Root:     dir, Cores: 2, Now: time.Now,
		Warn: func(string) {},
	}
	return r
}

// hurry lets a hundredth of each wait for the next attempt pass.
func (r *rig) hurry() {
	r.deps.pass = func(ctx context.Context, gap time.Duration) (context.Context, context.CancelFunc) {
		return context.WithTimeout(ctx, gap/100)
	}
}

// Append makes the rig a journal that can be made to fail.
func (r *rig) Append(e event.Event) (event.Record, error) {
	r.mu.Lock()
	fail := r.fail
	r.mu.Unlock()
	if fail != nil {
		if err := fail(e); err != nil {
			return event.Record{}, err
		}
	}
	return r.owner.Append(e)
}

// AppendAll is Append for many.
func (r *rig) AppendAll(events []event.Event) (records []event.Record, err error) {
	for _, e := range events {
		record, err := r.Append(e)
		if err != nil {
			return records, err
		}
		records = append(records, record)
	}
	return records, nil
}

// append writes records as an earlier owner would have.
func (r *rig) append(events ...event.Event) {
	r.t.Helper()
	for _, e := range events {
		if _, err := r.owner.Append(e); err != nil {
			r.t.Fatal(err)
		}
	}
}

// view folds the current journal.
func (r *rig) view() *store.View {
	r.t.Helper()
	records, err := r.deps.Run.Records()
	if err != nil {
		r.t.Fatal(err)
	}
	id, err := r.deps.Run.Identity()
	if err != nil {
		r.t.Fatal(err)
	}
	return store.Fold(id, records)
}

// kinds are the records of an agent, in order.
func (r *rig) kinds(id task.ID) string {
	r.t.Helper()
	records, err := r.deps.Run.Records()
	if err != nil {
		r.t.Fatal(err)
	}
	var kinds []string
	for _, rec := range records {
		text, err := json.Marshal(rec.Event)
		if err != nil {
			r.t.Fatal(err)
		}
		var of struct {
			Agent task.ID `json:"agent"`
			Step  string  `json:"step"`
		}
		if json.Unmarshal(text, &of) == nil && of.Agent == id {
			kinds = append(kinds, strings.TrimSuffix(event.Kind(rec.Event)+":"+of.Step, ":"))
		}
	}
	return strings.Join(kinds, " ")
}

// sh is a call of a text of sh.
func sh(text string) *task.Call {
	return &task.Call{
		Input: &task.TypedAgentInput{}, Command: []string{"sh", "-c", text}, Base: "base", BaseTree: "tree",
	}
}

// play makes calls and waits until all have settled.
func (r *rig) play(calls ...*task.Call) map[task.ID]Settled {
	r.t.Helper()
	e := Open(r.t.Context(), r.deps, r.config, r.view())
	for _, c := range calls {
		if _, err := e.Start(c); err != nil {
			r.t.Fatal(err)
		}
	}
	all := r.collect(e, len(calls))
	if err := e.Close(); err != nil {
		r.t.Fatal(err)
	}
	return all
}

func (r *rig) collect(e *Engine, n int) map[task.ID]Settled {
	all := map[task.ID]Settled{}
	for range n {
		s := settled(e)
		if _, twice := all[s.Agent]; twice {
			r.t.Errorf("%s settled twice", s.Agent)
		}
		all[s.Agent] = *s
	}
	return all
}

// await waits until an agent has made a file in the rig's folder.
func (r *rig) await(name string) {
	r.t.Helper()
	for deadline := time.Now().Add(10 * time.Minute); ; time.Sleep(time.Millisecond) { // a poll for a process
		if _, err := os.Stat(filepath.Join(r.dir, name)); err == nil {
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("%s never came", name)
		}
	}
}

// lines reads the words that agents wrote to a file in the rig's folder.
func (r *rig) lines(name string) []string {
	text, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text))
}

// spaces are workspaces in plain folders. Each file in a folder is a change.
type spaces struct {
	root    string
	backend worktree.Backend

	// lease and capture, where set, may answer with an error.
	lease   func(name string) error
	capture func(name string) error
	recycle func() // nil: it is not called

	mu       sync.Mutex // guards the fields below
	captured []string
	recycled []string // with no process left
	released []string // "a1.1", or "a1.1 trash" without a capture
	dropped  []string
	works    map[git.Hash]map[string]string // the files of commits
	joins    []JoinRequest
}

// Join names a commit after those it is made of. A patch that touches a file
// called conflict fits nowhere.
func (s *spaces) Join(_ context.Context, r JoinRequest) (git.Hash, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.joins = append(s.joins, r)
	joined := r.Base
	for i, p := range r.Patches {
		if slices.Contains(p.Paths, "conflict") {
			return "", &JoinError{Agent: r.From[i], With: r.From[:i], Paths: []string{"conflict"}}
		}
		joined += "+" + git.Hash(r.From[i])
	}
	return joined, nil
}

// Restore writes the files of a commit.
func (s *spaces) Restore(_ context.Context, w worktree.Workspace, commit git.Hash) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	work := s.works[commit]
	if work == nil {
		return fmt.Errorf("no commit %s", commit)
	}
	for name, text := range work {
		if err := os.WriteFile(filepath.Join(w.Dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (s *spaces) Room(context.Context, worktree.LeaseRequest) (int64, error) { return 1, nil }

func (s *spaces) Lease(_ context.Context, r worktree.LeaseRequest) (*worktree.Workspace, error) {
	if s.lease != nil {
		if err := s.lease(r.Name); err != nil {
			return nil, err
		}
	}
	w := &worktree.Workspace{
		Name: r.Name, Backend: s.backend, Dir: filepath.Join(s.root, r.Name), Admin: "/admin/" + r.Name, Base: r.Base, Index: r.Saved,
	}
	return w, os.MkdirAll(w.Dir, 0o700)
}

func (s *spaces) Capture(ctx context.Context, r worktree.CaptureRequest) (*worktree.Capture, error) {
	s.mu.Lock()
	s.captured = append(s.captured, r.Workspace.Name)
	s.mu.Unlock()
	if s.capture != nil {
		if err := s.capture(r.Workspace.Name); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	files, err := os.ReadDir(r.Workspace.Dir)
	if err != nil {
		return nil, &worktree.GoneError{Dir: r.Workspace.Dir}
	}
	kept := &worktree.Capture{Complete: true, Tree: "t", Changed: len(files) > 0}
	for _, f := range files {
		kept.Files = append(kept.Files, git.Change{Path: f.Name()})
	}
	if kept.Changed {
		kept.Commit, kept.Ref = git.Hash("commit-of-"+r.Workspace.Name), r.Ref
		kept.Patch, kept.Stat.Files = r.PatchFile, len(files)
		return kept, s.hold(kept.Commit, r.Workspace.Dir, files)
	}
	return kept, nil
}

// hold records the files of a commit.
func (s *spaces) hold(commit git.Hash, dir string, files []os.DirEntry) error {
	work := map[string]string{}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return err
		}
		work[f.Name()] = string(text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.works == nil {
		s.works = map[git.Hash]map[string]string{}
	}
	s.works[commit] = work
	return nil
}

func (s *spaces) Release(_ context.Context, w worktree.Workspace, c *worktree.Capture) (worktree.Released, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c == nil {
		s.released = append(s.released, w.Name+" trash")
	} else {
		s.released = append(s.released, w.Name)
	}
	return worktree.Released{}, os.RemoveAll(w.Dir)
}

func (s *spaces) Recycle(ctx context.Context, w worktree.Workspace, c *worktree.Capture) (worktree.Released, error) {
	s.mu.Lock()
	s.recycled = append(s.recycled, w.Name)
	s.mu.Unlock()
	if s.recycle != nil {
		s.recycle()
	}
	return s.Release(ctx, w, c)
}

func (s *spaces) Drop(_ context.Context, w worktree.Workspace) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropped = append(s.dropped, w.Name)
	return os.RemoveAll(w.Dir)
}

func (s *spaces) Strays(known []string) ([]worktree.Workspace, error) {
	var all []worktree.Workspace
	entries, _ := os.ReadDir(s.root)
	for _, e := range entries {
		if !slices.Contains(known, e.Name()) {
			all = append(all, worktree.Workspace{Name: e.Name(), Dir: filepath.Join(s.root, e.Name())})
		}
	}
	return all, nil
}

// is fails the test unless two things print alike.
func is(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// settled is the next agent that ends.
func settled(e *Engine) *Settled { return (<-e.News()).(*Settled) }

// answerTo answers a question, and returns the error of that.
func answerTo(e *Engine, a inbox.Answer) error {
	_, err := e.Answer(a)
	return err
}
