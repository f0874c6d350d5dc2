package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// Subjects has a model write the subjects of the commits of patches.
type Subjects interface {
	// Ask returns the call that asks for it; nil: no agent is asked. Its error
	// is reported with the default subject.
	Ask(context.Context, SubjectRequest) (*task.Call, error)
	// Read is the subject that an answer gives.
	Read(*task.Completed) (string, error)
}

// SubjectRequest is a patch whose commit is to be called something.
type SubjectRequest struct {
	Agent  task.ID
	Call   *task.Call
	Result *task.Completed // with a patch
}

// subjectTime is the default time limit of a call for a subject.
const subjectTime = 2 * time.Minute

// subjects are those of the run's commits. All belongs to the loop.
type subjects struct {
	asked map[string]bool          // commits that need not be asked for, or are
	open  map[string]chan struct{} // closed once it is known, by commit
	owed  []SubjectRequest         // to be asked for
	said  bool                     // the user was told that a subject is missing
}

func newSubjects() subjects {
	return subjects{asked: map[string]bool{}, open: map[string]chan struct{}{}}
}

// remember takes over the subjects that earlier owners have asked for.
func (s *subjects) remember(a *store.Agent) {
	for _, t := range a.Titled {
		s.asked[t.Commit] = true
	}
}

// names reports whether an agent is asked for the subject of a commit. Such an
// agent does no work of the task: no workflow hears of it, it counts only for
// the budget, and its failure holds nothing else up.
func (a *agentState) names() bool { return a.call.SubjectOf != "" }

// owesSubject notes that the commit of an agent that has settled is to be asked
// for. It is held open until that is over, so that the run does not end before.
func (e *Engine) owesSubject(a *agentState) {
	done, ok := a.result.(*task.Completed)
	switch {
	case !ok || e.deps.Subjects == nil || e.ending || e.paused:
		return // a resume asks
	case done.Patch == nil || a.call.Stage != nil && a.call.Stage.Reads:
		return
	case done.Verified != nil && !*done.Verified || e.named.asked[done.Patch.Commit]:
		return // nothing that fails its check lands
	}
	e.named.asked[done.Patch.Commit] = true
	e.named.open[done.Patch.Commit] = make(chan struct{})
	e.named.owed = append(e.named.owed, SubjectRequest{Agent: a.id, Call: a.call, Result: done})
	e.open++
}

// askSubjects makes the calls for the subjects that are still owed.
func (e *Engine) askSubjects(life context.Context) {
	owed := e.named.owed
	e.named.owed = nil
	for _, r := range owed {
		e.work.Go(func() {
			call, err := e.deps.Subjects.Ask(life, r)
			t := &event.Titled{Agent: r.Agent, Attempt: r.Result.Attempts, Commit: r.Result.Patch.Commit}
			e.do(func(context.Context) { e.askSubject(call, t, err) })
		})
	}
}

// askSubject queues the call that asks for a subject before all that waits: it
// is short, and others wait for it.
func (e *Engine) askSubject(call *task.Call, t *event.Titled, err error) {
	if err == nil && call == nil {
		e.closeSubject(t.Commit)
		return
	}
	var ids []task.ID
	if err == nil {
		call.SubjectOf, call.Timeout = t.Commit, cmp.Or(call.Timeout, subjectTime)
		ids, err = e.take([]*task.Call{call})
	}
	if err != nil && e.ending {
		e.closeSubject(t.Commit) // that the run ends is no reason: a resume asks
		return
	}
	if err != nil {
		t.Reason = err.Error()
		e.title(t)
		return
	}
	e.open-- // the call takes the place of the open subject
	if at := slices.Index(e.queue, ids[0]); at > 0 {
		e.queue = slices.Insert(slices.Delete(e.queue, at, at+1), 0, ids[0])
	}
}

// takeSubject reads the subject from an agent's answer. A wrong answer costs
// only the subject.
func (e *Engine) takeSubject(a *agentState) {
	t := &event.Titled{Commit: a.call.SubjectOf, By: a.id}
	for _, id := range e.order {
		if p := e.agents[id].left.Patch; p != nil && p.Commit == t.Commit {
			t.Agent, t.Attempt = id, e.agents[id].left.Attempts
			break
		}
	}
	switch r := a.result.(type) {
	case *task.Completed:
		subject, err := e.deps.readSubject(r)
		if t.Subject = subject; err != nil {
			t.Subject, t.Reason = "", err.Error()
		}
	case *task.Failed:
		t.Reason = cmp.Or(r.Reason, string(r.Kind))
	case *task.Cancelled:
		if e.ending && r.Cause == task.CauseStopped {
			e.closeSubject(t.Commit) // a resume asks again
			return
		}
		t.Reason = cmp.Or(r.Reason, string(r.Cause))
	default:
		panic(fmt.Sprintf("unhandled %T", r))
	}
	e.title(t)
}

// readSubject reads an answer.
func (d *Deps) readSubject(r *task.Completed) (string, error) {
	if d.Subjects == nil {
		return "", fmt.Errorf("no reader is configured")
	}
	return d.Subjects.Read(r)
}

// title journals the result for a subject. It warns once if a subject is
// missing.
func (e *Engine) title(t *event.Titled) {
	defer e.closeSubject(t.Commit)
	if t.Agent == "" || e.append(t) != nil || t.Subject != "" || e.named.said {
		return
	}
	e.named.said = true
	e.deps.Warn(fmt.Sprintf("the commit of %s is called as without a role commit: %s", t.Agent, t.Reason))
}

// closeSubject lets those go on who wait for a subject.
func (e *Engine) closeSubject(commit string) {
	e.open--
	e.out = append(e.out, &Named{commit}) // a workflow that waits for the end looks again
	if done := e.named.open[commit]; done != nil {
		close(done)
		delete(e.named.open, commit)
	}
}

// postpone keeps a subject that the budget does not allow until the running
// agents have ended, and then gives it up.
func (e *Engine) postpone(late []task.ID, a *agentState) []task.ID {
	if e.running > 0 {
		return append(late, a.id)
	}
	e.settle(a, &task.Cancelled{Cause: task.CauseBudget, Reason: e.spentText(), Work: a.left})
	return late
}

// count counts the attempts that the run may make.
func (e *Engine) count(a *agentState, by int) {
	if !a.names() {
		e.started += by
	}
}

// hurry ends a subject that takes too long, whatever it waits for.
func (e *Engine) hurry(ctx context.Context, a *agentState) {
	if !a.names() {
		return
	}
	cancel := a.cancel
	most := a.call.Timeout + subjectTime/2
	late := time.AfterFunc(most, func() {
		cancel(&Halt{Cause: task.CauseCancelled, Reason: fmt.Sprintf("it was not there within %s", most)})
	})
	context.AfterFunc(ctx, func() { late.Stop() })
}

// AwaitSubjects waits until the subjects of commits are known, as far as anybody
// is asked for them.
func (e *Engine) AwaitSubjects(ctx context.Context, commits []string) {
	var open []chan struct{}
	e.do(func(context.Context) {
		for _, commit := range commits {
			if done := e.named.open[commit]; done != nil {
				open = append(open, done)
			}
		}
	})
	for _, done := range open {
		select {
		case <-done:
		case <-ctx.Done():
			return
		case <-e.Halted():
			return
		}
	}
}
