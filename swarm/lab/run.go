package lab

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// Failure is why agents left no transcript.
type Failure struct {
	Agent   string `json:"agent"` // family/mode/task, arm and repeat
	Kind    string `json:"kind"`
	Message string `json:"message,omitempty"`
}

// StoppedError says that the lab ended before all agents had.
type StoppedError struct {
	Code          int // the exit code of the command that could not go on
	Reason        string
	Done, Missing int
}

func (e *StoppedError) Error() string {
	return fmt.Sprintf("the lab stopped: %s; %d transcripts are recorded, %d are missing", e.Reason, e.Done, e.Missing)
}

// Hint returns the way to continue.
func (e *StoppedError) Hint() string { return "the same command with the same --out continues" }

// ExitCode is that of the command that could not go on.
func (e *StoppedError) ExitCode() int { return e.Code }

// Run runs the agents that are missing and records each that completes. Those
// that do not are told, in the order of their names, and missing the next time.
// The error is a [*StoppedError] where it did not get to the end.
func (p *Plan) Run(ctx context.Context) ([]Failure, error) {
	if err := p.begin(); err != nil {
		return nil, err
	}
	// The other tasks end with a task that cannot go on.
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	at := &atWork{plan: p, ctx: working, stop: stop}
	todo := make(chan *job)
	var workers sync.WaitGroup
	for range max(1, p.Jobs/(len(p.Arms)*p.Repeat)) {
		workers.Go(func() {
			for j := range todo {
				// A task that was handed over as the lab stopped is not begun,
				// because a select below takes any of two ready cases.
				if working.Err() == nil {
					at.do(j)
				}
			}
		})
	}
feed:
	for i := range p.jobs {
		if len(p.jobs[i].missing) == 0 {
			continue
		}
		select {
		case todo <- &p.jobs[i]:
		case <-working.Done():
			break feed
		}
	}
	close(todo)
	workers.Wait()
	slices.SortStableFunc(at.failures, func(a, b Failure) int { return strings.Compare(a.Agent, b.Agent) })
	return at.failures, at.end(ctx)
}

// atWork is a lab while its agents are.
type atWork struct {
	plan *Plan
	ctx  context.Context // as long as Run, which made it
	stop context.CancelCauseFunc

	mu       sync.Mutex // guards the fields below
	failures []Failure
	err      error
}

// end sums up why it ended.
func (a *atWork) end(ctx context.Context) error {
	p := a.plan
	if err := p.look(); err != nil {
		return errors.Join(a.err, err)
	}
	stopped := &StoppedError{Done: p.All() - p.Missing(), Missing: p.Missing()}
	var halted *haltError
	switch {
	case ctx.Err() != nil:
		stopped.Code, stopped.Reason = 130, context.Cause(ctx).Error()
		var coded interface{ ExitCode() int }
		if errors.As(context.Cause(ctx), &coded) {
			stopped.Code = coded.ExitCode()
		}
	case errors.As(a.err, &halted):
		stopped.Code, stopped.Reason = halted.code, halted.reason
	default:
		return a.err
	}
	return stopped
}

// haltError says that no further agent is to be started.
type haltError struct {
	code   int
	reason string
}

func (e *haltError) Error() string { return e.reason }

// do runs the agents of a task, and reports the result.
func (a *atWork) do(j *job) {
	before := len(j.missing)
	failures, err := a.plan.carryOut(a.ctx, j)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failures = append(a.failures, failures...)
	if err != nil && a.err == nil {
		a.err = err
		a.stop(err)
	}
	a.plan.Say(fmt.Sprintf("%s/%s/%s: %d of %d recorded", j.Family, j.Mode, j.Name, before-len(j.missing), before))
}

// bay is where the agents of a task work. Its name says nothing of the task:
// they can read it.
type bay struct{ dir, repo, list string }

func (p *Plan) bay(j *job) bay {
	sum := sha256.Sum256([]byte(j.Family + "/" + j.Mode + "/" + j.Name))
	dir := filepath.Join(p.Dir, "work", hex.EncodeToString(sum[:4]))
	return bay{dir: dir, repo: filepath.Join(dir, "project"), list: filepath.Join(dir, "tasks.jsonl")}
}

func (p *Plan) state() string { return filepath.Join(p.Dir, "state") }

// carryOut runs those agents of a task that left nothing in earlier runs.
func (p *Plan) carryOut(ctx context.Context, j *job) ([]Failure, error) {
	b := p.bay(j)
	if err := p.fill(ctx, j, b); err != nil {
		return nil, err
	}
	if err := p.harvestEarlier(ctx, j, b); err != nil || len(j.missing) == 0 {
		return nil, err
	}
	if err := replace(b.list, func(w io.Writer) error { return list(w, j) }); err != nil {
		return nil, err
	}
	// No route: the role commit would have another agent name each patch, which
	// is not counted and of no use to the lab.
	args := []string{
		"run", b.list, "--agent", p.Agent, "--model", p.Model, "--route", "off", "--json", "--yes", "--questions", "deny",
		"-j", strconv.Itoa(min(p.Jobs, len(j.missing))),
	}
	var out, told bytes.Buffer
	code := p.Swarm(ctx, Typed{Dir: b.repo, State: p.state(), Args: args, Stdout: &out, Stderr: &told})
	r, err := readRun(out.Bytes())
	if err != nil && code == 2 {
		return nil, &RefusedError{Text: err.Error()}
	}
	if err != nil {
		return nil, fmt.Errorf("run the agents of %s/%s/%s (exit %d): %w", j.Family, j.Mode, j.Name, code, err)
	}
	// Completed transcripts are kept, also those of a stopped run.
	failures, err := p.harvest(context.WithoutCancel(ctx), j, b, r)
	switch {
	case err != nil:
		return failures, err
	case code == 6:
		return failures, &haltError{code, "a run was paused: " + r.reason()}
	case code == 1 || code == 130 || code == 143:
		return failures, &haltError{code, fmt.Sprintf("a run ended with exit code %d", code)}
	}
	for _, f := range failures {
		// The next would not be let in either.
		if f.Kind == string(task.Auth) || f.Kind == string(task.Quota) {
			return failures, &haltError{6, f.Agent + ": " + f.Message}
		}
	}
	return failures, nil
}

// list writes the tasks for `run`: the same prompt for each agent.
func list(w io.Writer, j *job) error {
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	for _, c := range j.missing {
		t := struct {
			ID      string `json:"id"`
			Prompt  string `json:"prompt"`
			Variant string `json:"variant,omitempty"`
		}{ID: c.label(), Prompt: j.Prompt}
		if c.arm == Off {
			t.Variant = task.VariantOff
		}
		if err := lines.Encode(t); err != nil {
			return err
		}
	}
	return nil
}

// fill makes the repository of a task, if it is not there.
func (p *Plan) fill(ctx context.Context, j *job, b bay) error {
	whole := filepath.Join(b.dir, "whole")
	if _, err := os.Stat(whole); err == nil {
		return nil
	}
	// A half-made repository is the work of a lab that was stopped.
	if err := os.RemoveAll(b.repo); err != nil {
		return err
	}
	for _, f := range j.Files {
		name := filepath.Join(b.repo, filepath.FromSlash(f.Path))
		mode := os.FileMode(0o644)
		if bytes.HasPrefix([]byte(f.Text), []byte("#!")) {
			mode = 0o755
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(f.Text), mode); err != nil {
			return err
		}
	}
	g := git.New(p.Environ)
	who := []string{
		"GIT_AUTHOR_NAME=Someone", "GIT_AUTHOR_EMAIL=someone@localhost", "GIT_COMMITTER_NAME=Someone", "GIT_COMMITTER_EMAIL=someone@localhost",
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"}, {"add", "--all", "--force"}, {"commit", "--quiet", "--message=Begin"},
	} {
		if _, err := g.Run(ctx, git.Cmd{Dir: b.repo, Args: args, Env: who, Writes: true}); err != nil {
			return fmt.Errorf("make a repository of %s/%s/%s: %w", j.Family, j.Mode, j.Name, err)
		}
	}
	return os.WriteFile(whole, nil, 0o600)
}
