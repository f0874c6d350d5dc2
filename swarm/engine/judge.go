package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"agentswarm/risk"
	"agentswarm/swarm/ask"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/event"
	"agentswarm/swarm/inbox"
	"agentswarm/swarm/prompt"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
)

// Judge decides on an action before a person is asked, and records the
// decision. Its methods are called from several goroutines.
type Judge interface {
	Judge(JudgeRequest) *Ruling
	// Record stores the settlement of an action.
	Record(*Ruling, Settlement)
	// Contract returns the rules of judgement, as text for the agent.
	Contract(*task.Call, worktree.Workspace) (string, error)
}

// contractFile holds it, beside the prompt.
const contractFile = "contract"

// contract writes the rules by which the agent's actions are judged.
func (t *attempt) contract() error {
	if t.engine.deps.Judge == nil {
		return nil
	}
	text, err := t.engine.deps.Judge.Contract(t.call, *t.space)
	if err != nil {
		return fmt.Errorf("write the contract of the agent: %w", err)
	}
	t.words = text
	if t.kind() == nil && t.call.Stage != nil {
		// The contract is the only file for a command, so it also holds the
		// stage.
		text = strings.TrimSpace(strings.TrimSpace(text)+"\n\n"+(&prompt.Parts{Stage: t.call.Stage}).Commission()) + "\n"
	}
	return t.engine.deps.Run.WriteFile(filepath.Join(t.dir, contractFile), []byte(text))
}

// JudgeRequest is an action, and whose it is.
type JudgeRequest struct {
	Agent     task.ID
	Attempt   int
	Call      *task.Call
	Workspace worktree.Workspace
	Base      string // the commit that the workspace starts from
	Action    ask.Action
	Denied    event.Files // the denied file actions of the agent
	Guard     bool        // a guard asks
}

// Ruling is the decision about an action.
type Ruling struct {
	Request JudgeRequest
	Verdict risk.Verdict
	Tier    risk.Tier
	Reason  string
	Instead string
	Rules   []string
	Hint    string // for a person who is asked
	// Own is set where all that the action destroys is the agent's own, and the sandbox
	// protects all other files.
	Own bool
	// Confined says that the risky part of the action destroys only the agent's
	// own files. The action may proceed once the workspace is captured.
	Confined bool
	// Call names the call of a program that the action is, and nothing but
	// that; empty where it is more, or not known exactly.
	Call  string
	Files *event.Files // that a person is asked about; nil: there are none
	// Detail is a value of the judge, given back when it records the end.
	Detail any
}

// Settlement is the final decision about an action, and who made it.
type Settlement struct {
	Allow    bool
	By       task.By
	Question string // its id, where somebody was asked
	Reason   string
	Snapshot string // the commit of a capture that was made before
}

// AskSockets provides the sockets for the hooks of agents.
type AskSockets interface {
	// Listen opens a socket for an attempt. It returns the address for the
	// agent; close ends the open requests.
	Listen(ctx context.Context, agent task.ID, attempt int, decide func(context.Context, ask.Request) ask.Answer) (address string, close func() error, err error)
}

// questionTime is the default wait of a question about an action. An agent
// without an answer costs its place; hours of it were seen elsewhere.
const questionTime = 10 * time.Minute

// HookEnded is the reason that closes a question whose hook has ended, while its
// agent still runs.
const HookEnded = "the program that asked has ended"

// refusal is the text that an agent gets for a denied action.
func (r *Ruling) refusal() string {
	if instead := r.instead(); instead != "" {
		return r.Reason + ". Instead: " + instead
	}
	return r.Reason
}

// NoOtherWay is the advice to an agent in place of an action that was asked about
// and denied. Another way to the same effect would pass over the denial.
const NoOtherWay = "go on without it, or say in your answer that it is needed; do not do the same in another way"

// instead is the advice to an agent in place of an action. A filter refuses where
// an action was to happen, and knows better; a denial is about its effect.
func (r *Ruling) instead() string {
	if r.Verdict == risk.Ask {
		return NoOtherWay
	}
	return r.Instead
}

// looked returns the risk and the visible form of a question's action.
func looked(r *Ruling, action json.RawMessage) inbox.Looked {
	if r == nil {
		return inbox.Looked{Shown: veiled(action)}
	}
	return inbox.Looked{
		Risk:  &event.Risk{Tier: r.Tier.String(), Rules: r.Rules, Reason: r.Reason, Hint: r.Hint, Own: r.Own, Files: r.Files},
		Shown: veiled(action),
	}
}

// judged is the ruling on an action of an agent that asks by its protocol; nil
// where there is none, because the action is not of a form that can be judged,
// or was denied already.
func (e *Engine) judged(t *attempt, action json.RawMessage, denied string) *Ruling {
	if e.deps.Judge == nil || denied != "" || t.space == nil {
		return nil
	}
	a, ok := actionOf(action)
	if !ok || a.Tool != "" {
		return nil // a tool of the agent's own is a person's to judge
	}
	return e.deps.Judge.Judge(t.judging(a))
}

func (t *attempt) judging(a ask.Action) JudgeRequest {
	if a.Cwd == t.space.Path() {
		a.Cwd = "" // the same question of several agents does not depend on the folder
	}
	var denied event.Files
	t.engine.do(func(context.Context) { denied = t.engine.box.Denied(t.id) })
	return JudgeRequest{
		Agent: t.id, Attempt: t.n, Call: t.call, Workspace: *t.space, Base: string(t.start), Action: a, Denied: denied,
	}
}

// listen opens the socket that hooks of the attempt's agent ask on.
func (t *attempt) listen(ctx context.Context) (address string, done func(), err error) {
	if t.engine.deps.Judge == nil {
		return "", func() {}, nil
	}
	address, end, err := t.engine.deps.AskSockets.Listen(ctx, t.id, t.n, t.answerHook)
	if err != nil {
		return "", nil, fmt.Errorf("listen to the agent: %w", err)
	}
	return address, func() {
		if err := end(); err != nil {
			t.engine.deps.Warn(fmt.Sprintf("%s: %v", t.id, err))
		}
	}, nil
}

// answerHook answers a hook: it allows all actions, or returns the reason against the
// first denied action.
func (t *attempt) answerHook(ctx context.Context, r ask.Request) ask.Answer {
	for _, a := range r.Actions {
		if !a.Whole() {
			return ask.Answer{Reason: "an action names one of command, write, git and tool"}
		}
		if answer := t.rule(ctx, a, r.Guard); !answer.Allow {
			return answer
		}
	}
	return ask.Answer{Allow: true}
}

// rule says whether an action may be, and asks a person where it must.
func (t *attempt) rule(ctx context.Context, a ask.Action, guard bool) ask.Answer {
	e := t.engine
	request := t.judging(a)
	request.Guard = guard
	text, err := json.Marshal(request.Action)
	if err != nil {
		return ask.Answer{Reason: err.Error()}
	}
	ruling := e.deps.Judge.Judge(request)
	if why := t.guard.forbids(ctx, &event.Asked{Action: veiled(text)}); why != "" {
		e.deps.Judge.Record(ruling, Settlement{By: task.ByScript, Reason: why})
		return ask.Answer{Reason: why}
	}
	switch ruling.Verdict {
	case risk.Proceed:
		e.deps.Judge.Record(ruling, Settlement{Allow: true, By: task.ByRisk})
		return ask.Answer{Allow: true}
	case risk.Deny:
		e.deps.Judge.Record(ruling, Settlement{By: task.ByRisk, Reason: ruling.Reason})
		return ask.Answer{Reason: ruling.Reason, Instead: ruling.instead()}
	case risk.Ask:
		if ruling.Confined && !t.call.Shared {
			if answer, ok := t.confined(ctx, ruling); ok {
				return answer
			}
		}
		if e.begins(ruling) {
			e.deps.Judge.Record(ruling, Settlement{Allow: true, By: task.ByRule, Reason: "it begins what was just allowed"})
			return ask.Answer{Allow: true}
		}
		r := e.askPerson(ctx, t, text, ruling)
		if r.Allow {
			return ask.Answer{Allow: true}
		}
		answer := ask.Answer{Reason: ruling.Reason + "; " + cmp.Or(r.Reason, "a person said no"), Instead: ruling.instead()}
		if inbox.HasOwnReason(r) {
			answer.Instead = "" // the reason of the person holds
		}
		return answer
	}
	panic(fmt.Sprintf("unhandled %s", ruling.Verdict))
}

// confined allows an action that destroys only the agent's own files, after a
// capture of them. It is false if the capture failed: a person is asked.
func (t *attempt) confined(ctx context.Context, ruling *Ruling) (ask.Answer, bool) {
	c, err := t.snapshot(ctx)
	if err != nil {
		t.engine.deps.Warn(fmt.Sprintf("%s: capture it before an action: %v", t.id, err))
		return ask.Answer{}, false
	}
	t.engine.deps.Judge.Record(ruling, Settlement{Allow: true, By: task.ByRisk, Snapshot: c})
	return ask.Answer{Allow: true}, true
}

// snapshot captures the workspace while its agent waits for an answer, and
// returns the commit; empty where nothing is changed in it.
func (t *attempt) snapshot(ctx context.Context) (string, error) {
	t.snapping.Lock()
	defer t.snapping.Unlock()
	t.snapshots++
	name := fmt.Sprintf(".before-%d", t.snapshots)
	r := captureRequest(t.engine.deps, t.id, t.n, t.call, *t.space)
	r.Live = true // other processes of the agent may be at work
	if text := briefOf(t.call); text != nil {
		r.Aside = &worktree.Aside{Name: briefFile, Text: text} // it may yet read it
	}
	r.Objects, r.PatchFile = r.Objects+name, r.PatchFile+name
	r.Ref, r.HeadRef = r.Ref+name, captureref.Head(r.Ref+name)
	c, err := t.engine.deps.Workspaces.Capture(ctx, r)
	if err != nil {
		return "", err
	}
	if !c.Complete {
		return "", errors.New("not all of it could be read")
	}
	if c.Commit == "" {
		return "", nil
	}
	return string(c.Commit), nil
}

// askPerson puts a question into the inbox, and waits for its end: an answer,
// the end of the asking agent, or the deadline.
func (e *Engine) askPerson(ctx context.Context, t *attempt, action json.RawMessage, ruling *Ruling) *event.Replied {
	answer := make(chan *event.Replied, 1)
	var q *event.Questioned
	ok := e.do(func(context.Context) {
		var r *event.Replied
		q, r = e.box.AskAbout(t.id, t.n, &event.Asked{Action: action}, looked(ruling, action))
		e.keepRuling(q, ruling)
		e.heard.wait(q.ID, answer)
		if err := e.append(q); err != nil {
			e.heard.deliver(q.ID, &event.Replied{ID: q.ID, By: task.ByEnd, Reason: err.Error()})
		} else if r != nil {
			_ = e.reply(q, r)
		}
	})
	if !ok {
		return &event.Replied{By: task.ByEnd, Reason: "the run has ended"}
	}
	line := e.lines.get(t.id)
	if line != nil {
		line.Waits()
		defer line.Answered()
	}
	select {
	case r := <-answer: // at the latest the reply that no answer came in time
		return r
	case <-ctx.Done():
		e.giveUp(q, task.ByEnd, HookEnded)
	}
	return <-answer
}

// giveUp closes a question without an answer. A question that was answered
// meanwhile keeps its answer.
func (e *Engine) giveUp(q *event.Questioned, by task.By, why string) {
	r := &event.Replied{ID: q.ID, By: by, Reason: why}
	ok := e.do(func(context.Context) {
		if !e.box.EndOne(q.ID) {
			return
		}
		_ = e.append(r)     // a journal that fails has ended the run
		_ = e.deliver(q, r) // an agent that does not listen gets nothing
	})
	if !ok {
		e.heard.deliver(q.ID, &event.Replied{ID: q.ID, By: task.ByEnd, Reason: "the run has ended"})
	}
}

// rulings are those that questions are open about. They belong to the loop.
type rulings map[string]openRuling

// openRuling is a ruling that waits for a person, with the timer that gives up.
type openRuling struct {
	*Ruling
	late *time.Timer
}

// keepRuling stores the ruling of a question, if there is any. The wait for
// approval is bounded: an action without an answer in time is denied.
func (e *Engine) keepRuling(q *event.Questioned, ruling *Ruling) {
	if ruling == nil {
		return
	}
	if e.rulings == nil {
		e.rulings = rulings{}
	}
	limit := cmp.Or(e.config.QuestionTime, questionTime)
	e.rulings[q.ID] = openRuling{ruling, time.AfterFunc(limit, func() {
		e.giveUp(q, task.ByTime, fmt.Sprintf("no answer came within %s", limit))
	})}
}

// settleRuling records the end of a question about an action.
func (e *Engine) settleRuling(q *event.Questioned, r *event.Replied) {
	e.box.Ended(q, r)
	open, ok := e.rulings[q.ID]
	if !ok {
		return
	}
	delete(e.rulings, q.ID)
	open.late.Stop()
	if r.Allow {
		e.allowed.add(open.Ruling, e.deps.Now())
	}
	e.deps.Judge.Record(open.Ruling, Settlement{Allow: r.Allow, By: r.By, Question: q.ID, Reason: r.Reason})
}
