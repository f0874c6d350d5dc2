// Package reviewer makes the calls of agents that look at finished work: a reviewer
// of each patch, and a namer of its commit. It reads their answers. The agents change
// nothing, and the engine runs them.
package reviewer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/manifest"
	"agentswarm/swarm/stage"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// Role is the role of a reviewer.
const Role = "smol"

// Starter starts calls and journals facts. [engine.Engine] is a Starter.
type Starter interface {
	Start(*task.Call) (task.ID, error)
	Note(event.Event) error
}

// Request holds the facts about a run that its reviews need.
type Request struct {
	Engine Starter               // required
	Config engine.Config         // of the run
	Kinds  map[string]agent.Kind // by name
	Run    *store.Run            // required
	Repo   *git.Repo             // required
	Frozen *git.Frozen           // of the run; required
	Prior  *store.View           // records of earlier owners; nil: there are none
	Warn   func(text string)     // a patch is not reviewed
}

// Reviews has each patch of a run reviewed, and journals the verdicts. A nil
// pointer reviews nothing.
type Reviews struct {
	Request
	calls map[task.ID]*task.Call
	works map[task.ID]attempt // by the agent that reviews it
	store *git.Quarantine     // only read
}

// attempt is an attempt of an agent.
type attempt struct {
	agent task.ID
	n     int
}

// New returns the reviews of a run; nil if the run has none. The error is that of the
// file system.
func New(r Request) (*Reviews, error) {
	if r.Config.Review != landing.ReviewAuto {
		return nil, nil // a run without reviews is no error
	}
	q, err := openStore(r.Frozen, filepath.Join(r.Run.Dir, landing.ReviewStage))
	if err != nil {
		return nil, err
	}
	v := &Reviews{Request: r, store: q, calls: map[task.ID]*task.Call{}, works: map[task.ID]attempt{}}
	if r.Prior != nil {
		for _, a := range r.Prior.Agents {
			v.calls[a.ID] = a.Call
		}
	}
	return v, nil
}

// openStore returns a quarantine for reading captured commits, in a new folder.
func openStore(frozen *git.Frozen, dir string) (*git.Quarantine, error) {
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return nil, err
	}
	return frozen.Quarantine(filepath.Join(dir, "objects"))
}

// Close removes the folder of the reviews. The error is that of the file system.
func (v *Reviews) Close() error {
	if v == nil {
		return nil
	}
	return os.RemoveAll(filepath.Join(v.Run.Dir, landing.ReviewStage))
}

// Began notes the calls of the workflow.
func (v *Reviews) Began(ids []task.ID, calls []*task.Call) {
	if v == nil {
		return
	}
	for i, id := range ids {
		v.calls[id] = calls[i]
	}
}

// Take begins the review of work that has ended, or journals the verdict of a reviewer.
// The error is that of the journal.
func (v *Reviews) Take(ctx context.Context, news engine.News) error {
	end, ok := news.(*engine.Settled)
	if v == nil || !ok {
		return nil
	}
	done, ok := end.Result.(*task.Completed)
	if !ok {
		return nil // a failure needs no review
	}
	if of, ok := v.works[end.Agent]; ok {
		return v.record(of, end.Agent, done)
	}
	call := v.calls[end.Agent]
	if call == nil || call.Stage != nil || done.Patch == nil {
		return nil
	}
	if err := v.begin(ctx, end.Agent, done); err != nil && !errors.Is(err, engine.ErrClosed) {
		// The other agents of the run go on.
		v.Warn(fmt.Sprintf("%s is not reviewed: %v", end.Agent, err))
	}
	return nil // a resume begins the reviews of a run that was stopped
}

// begin starts the review of a work. A work that failed its check needs none.
func (v *Reviews) begin(ctx context.Context, id task.ID, done *task.Completed) error {
	if done.Verified != nil && !*done.Verified {
		return nil
	}
	shown, err := Evidence(ctx, EvidenceRequest{
		Config: v.Config, Result: done, Store: v.store, Repo: v.Repo, Modules: done.Patch.Modules, From: git.Hash(done.Patch.Base), To: git.Hash(done.Patch.Commit),
	})
	if err != nil {
		return err
	}
	call := v.call(id, done, shown)
	at, err := v.Repo.TreeOf(ctx, git.Hash(call.Base))
	if err != nil {
		return err
	}
	call.BaseTree = string(at)
	reviewer, err := v.Engine.Start(call)
	if err != nil {
		return err
	}
	v.calls[reviewer], v.works[reviewer] = call, attempt{id, done.Attempts}
	return nil
}

// call returns the call for the review of a work, in a workspace with its patch.
func (v *Reviews) call(id task.ID, done *task.Completed, shown *manifest.Manifest) *task.Call {
	work := v.calls[id]
	ask := stage.Review{Task: task.Prompt(work.Input), Change: shown.Text()}
	for _, f := range shown.Files {
		ask.Paths = append(ask.Paths, f.Path)
	}
	prompt, brief := ask.Ask()
	call := newCall(callRequest{
		of: id, work: work, role: Role, stage: landing.ReviewStage, words: stage.Reviewing, prompt: prompt, schema: stage.Verdict(),
	})
	call.Base, call.Stage.Brief = done.Patch.Commit, brief
	call = routed(v.Config, v.Kinds, call)
	call.ReadOnly = abilities(v.Config, v.Kinds, call.Agent).ReadOnly
	return call
}

// abilities returns the options that an agent of a run has.
func abilities(c engine.Config, kinds map[string]agent.Kind, name string) agent.Abilities {
	if spec := c.Agents[name]; spec != nil {
		return kinds[spec.Kind].Can
	}
	return agent.Abilities{}
}

// routed gives a review the agent and model of its role. An agent that cannot take that
// model keeps its own.
func routed(c engine.Config, kinds map[string]agent.Kind, call *task.Call) *task.Call {
	own := *call
	if _, err := engine.Assign(c, kinds, engine.AssignRequest{Call: &own}); err != nil {
		return call
	}
	return &own
}

// CallsOf returns the reviews that the patches of calls may cause, with their agents and
// models but without prompts.
func CallsOf(c engine.Config, kinds map[string]agent.Kind, calls []*task.Call) (all []*task.Call) {
	if c.Review != landing.ReviewAuto {
		return nil
	}
	for _, work := range calls {
		if work.Stage == nil && !engine.SpecOf(c, work).ReadOnly {
			all = append(all, routed(c, kinds, newCall(callRequest{work: work, role: Role, stage: landing.ReviewStage})))
		}
	}
	return all
}

// record journals the verdict of a reviewer, unless an earlier owner did.
func (v *Reviews) record(of attempt, by task.ID, done *task.Completed) error {
	verdict := verdictOf(done)
	found := &event.Appraised{Agent: of.agent, Attempt: of.n, Pass: verdict.Pass, By: by}
	for _, p := range verdict.Problems {
		found.Problems = append(found.Problems, p.String())
	}
	if v.Prior != nil {
		if a := v.Prior.Agent(of.agent); a != nil && a.Appraisal != nil && a.Appraisal.By == by && a.Appraisal.Attempt == found.Attempt {
			return nil
		}
	}
	return v.Engine.Note(found)
}

// verdictOf returns the verdict in the answer of a reviewer. An answer that cannot be
// read passes no patch, and does not stop the run.
func verdictOf(done *task.Completed) manifest.Verdict {
	_, answer, err := engine.WholeAnswer(done)
	if err == nil {
		var verdict manifest.Verdict
		if verdict, err = manifest.Read(answer); err == nil {
			return verdict
		}
	}
	return manifest.Verdict{Problems: []manifest.Problem{{Problem: "the verdict of its reviewer cannot be read: " + err.Error()}}}
}

// Unreviewed reports whether a work of a run waits for a review that did not begin.
func Unreviewed(c engine.Config, v *store.View) bool {
	if c.Review != landing.ReviewAuto {
		return false
	}
	for _, a := range landing.Workers(v) {
		done, ok := a.Status.(*task.Completed)
		if ok && done.Patch != nil && a.Appraisal == nil && (done.Verified == nil || *done.Verified) {
			return true
		}
	}
	return false
}

// callRequest names the work that an agent looks at.
type callRequest struct {
	of   task.ID
	work *task.Call
	// role and stage are of the new agent, and words its instructions.
	role, stage, words string
	prompt             string
	schema             []byte
}

// newCall returns a call with the agent of the work, which changes nothing.
func newCall(r callRequest) *task.Call {
	return &task.Call{
		Input: &task.TypedAgentInput{Role: r.role, Prompt: r.prompt}, Agent: r.work.Agent,
		Label: fmt.Sprintf("%s of %s", r.stage, engine.Title(r.of, r.work)), Phase: r.stage, Schema: r.schema,
		Stage: &task.Stage{Name: r.stage, Roster: []string{r.stage}, Words: r.words, Reads: true},
	}
}
