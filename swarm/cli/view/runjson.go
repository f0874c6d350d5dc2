package view

import (
	"cmp"
	"slices"
	"time"

	"agentswarm/roles"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/ledger"
	"agentswarm/swarm/script"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/swarm/workflow/library"
)

// RunObject is swarm.run/1, described in docs/json.md.
type RunObject struct {
	Schema   string           `json:"schema"`
	Run      string           `json:"run"`
	Status   string           `json:"status"`
	Reason   string           `json:"reason,omitempty"`
	Base     string           `json:"base"`
	Workflow string           `json:"workflow"`
	Result   any              `json:"result,omitempty"`
	Error    *ErrorObject     `json:"error,omitempty"`
	Agents   []AgentObject    `json:"agents"`
	Phases   []phaseObject    `json:"phases,omitempty"`
	Logs     []logObject      `json:"logs,omitempty"`
	Landing  *landingObject   `json:"landing,omitempty"`
	Usage    *task.Usage      `json:"usage,omitempty"`
	Paid     *task.Usage      `json:"paid,omitempty"`
	Budget   *BudgetObject    `json:"budget,omitempty"`
	After    *time.Time       `json:"resume_after,omitempty"`
	Quotas   []quotaObject    `json:"quota_windows,omitempty"`
	QuotaUse []quotaUseObject `json:"quota_use,omitempty"`
	Created  time.Time        `json:"created"`
	Ended    *time.Time       `json:"ended,omitempty"`
	Duration int64            `json:"duration_ms"`
	// Recovery is set if the owner of the run died and the run was not
	// recovered.
	Recovery *RecoveryObject `json:"recovery,omitempty"`
}

type ErrorObject struct {
	Kind    string `json:"kind"`
	Message string `json:"message,omitempty"`
}

// phaseObject is a group of the agents of a script.
type phaseObject struct {
	Title  string `json:"title"`
	Agents int    `json:"agents"`
	Failed int    `json:"failed"`
}

// logObject is a line that a script had for people.
type logObject struct {
	Time  time.Time `json:"t"`
	Phase string    `json:"phase,omitempty"`
	Text  string    `json:"text"`
}

type AgentObject struct {
	ID         string         `json:"id"`
	Label      string         `json:"label,omitempty"`
	Item       string         `json:"item,omitempty"`
	Phase      string         `json:"phase,omitempty"`
	Stage      string         `json:"stage,omitempty"` // of a pipeline, that it is
	Kind       string         `json:"kind"`
	Role       string         `json:"role,omitempty"`  // empty: default
	Model      string         `json:"model,omitempty"` // that answered, or that it was told to use
	Attempt    int            `json:"attempt,omitempty"`
	Status     string         `json:"status"`
	State      string         `json:"state,omitempty"` // finer than Status; empty once it has ended
	WaitsFor   string         `json:"waits_for,omitempty"`
	Retry      *retryObject   `json:"retry,omitempty"`
	Error      *ErrorObject   `json:"error,omitempty"`
	Changed    *bool          `json:"changed,omitempty"`
	Verified   *bool          `json:"verified,omitempty"`
	Reviewed   *bool          `json:"reviewed,omitempty"` // by an agent: whether it passed
	Problems   []string       `json:"problems,omitempty"` // that reviewer found
	Landed     *bool          `json:"landed,omitempty"`
	Conflict   *metObject     `json:"conflict,omitempty"` // by which a merge left it out
	Review     *reviewObject  `json:"review,omitempty"`
	Choice     task.Selection `json:"choice,omitempty"`    // of the script
	ChosenBy   string         `json:"chosen_by,omitempty"` // the function of the script that made it
	DependsOn  []string       `json:"depends_on,omitempty"`
	Patch      *PatchObject   `json:"patch,omitempty"`
	Output     string         `json:"output,omitempty"`
	OutputFile string         `json:"output_file,omitempty"`
	Usage      *task.Usage    `json:"usage,omitempty"`
	Duration   int64          `json:"duration_ms,omitempty"`
	Worked     int64          `json:"worked_ms,omitempty"`
	Checked    int64          `json:"checked_ms,omitempty"`
	Waited     int64          `json:"waited_ms,omitempty"`
	Notes      []string       `json:"notes,omitempty"`
	Ignored    []task.Ignored `json:"ignored,omitempty"`
	Large      []task.Ignored `json:"large_files,omitempty"`
	LargeMore  int            `json:"large_files_more,omitempty"`

	StateText string `json:"-"` // where it is, for a person
	refusal   *store.Refusal
}

type PatchObject struct {
	Ref     string `json:"ref"`
	File    string `json:"file,omitempty"` // empty: its text is too long to be kept
	Commit  string `json:"commit"`
	Files   int    `json:"files"`
	Added   int    `json:"added"`
	Deleted int    `json:"deleted"`
	// OutOfScope are the first few files it changes that its task's paths do
	// not allow.
	OutOfScope []string `json:"out_of_scope,omitempty"`
	// Replaced are the first few submodules that it puts plain files in the
	// place of.
	Replaced []string `json:"replaced,omitempty"`
	// Marked are the first few files that control agents, git or continuous
	// integration.
	Marked []string `json:"marked,omitempty"`
	// Modules are the patches of submodules.
	Modules []task.ModulePatch `json:"submodules,omitempty"`

	of *task.Patch
}

func NewPatchObject(p *task.Patch) *PatchObject {
	files, added, deleted := p.Size()
	return &PatchObject{
		Ref: p.Ref, File: p.File, Commit: p.Commit, Files: files, Added: added, Deleted: deleted,
		OutOfScope: p.OutOfScope, Replaced: p.Replaced, Marked: p.Marked,
		Modules: p.Modules, of: p,
	}
}

// reviewObject is a person's verdict on an agent's work.
type reviewObject struct {
	Verdict string `json:"verdict"` // accepted or rejected
	Reason  string `json:"reason,omitempty"`
}

type landingObject struct {
	Ref       string           `json:"ref,omitempty"`
	Commit    string           `json:"commit,omitempty"`
	Landed    []task.ID        `json:"landed"`
	Conflicts []ConflictObject `json:"conflicts"`
	Verified  *bool            `json:"verified,omitempty"`
	Undone    bool             `json:"undone,omitempty"`
}

// ConflictObject is a patch that was left out of a landing. With is the
// patch that landed first; absent where it is the branch itself.
type ConflictObject struct {
	Agent task.ID      `json:"agent"`
	With  task.ID      `json:"with,omitempty"`
	Also  []task.ID    `json:"also,omitempty"` // later ones on the same paths
	Paths []string     `json:"paths"`
	Hunks []event.Hunk `json:"hunks,omitempty"`
	Text  string       `json:"text,omitempty"`
}

// metObject is the conflict that stands between a patch and a branch.
type metObject struct {
	Ref string `json:"ref"`
	Tip string `json:"tip"` // where the branch was
	ConflictObject
}

func newMetObject(c *store.Conflict) *metObject {
	if c == nil {
		return nil
	}
	return &metObject{Ref: c.Ref, Tip: c.Tip, ConflictObject: newConflictObjects([]event.Conflict{c.Conflict})[0]}
}

func newConflictObjects(all []event.Conflict) []ConflictObject {
	out := make([]ConflictObject, 0, len(all))
	for _, c := range all {
		o := ConflictObject{Agent: c.Agent, Paths: c.Paths, Hunks: c.Hunks, Text: c.Text}
		if len(c.With) > 0 {
			o.With, o.Also = c.With[0], c.With[1:]
		}
		out = append(out, o)
	}
	return out
}

// NewRunObject returns a run as a JSON object.
func NewRunObject(v *store.View, now time.Time) RunObject {
	id := v.Identity
	o := RunObject{
		Schema: "swarm.run/1", Run: id.Run, Status: string(v.ShownStatus()), Reason: v.Reason,
		Base: id.Base.Commit, Workflow: string(id.Workflow.Kind), Created: id.Created,
		Agents: make([]AgentObject, 0, len(v.Agents)), Recovery: NewRecoveryObject(v),
	}
	// A command that uses the configuration reports an unreadable one.
	config, _ := session.EngineConfig(v)
	for _, a := range v.Agents {
		o.Agents = append(o.Agents, NewAgentObject(config, v, a, now))
	}
	if usage := v.Usage(); usage != (task.Usage{}) {
		o.Usage, o.Paid = &usage, paidObject(v)
	}
	o.Budget = newBudgetObject(v, now)
	if v.Pause != nil && v.Status == store.RunPaused {
		o.After = v.Pause.Until
	}
	o.quotas(v, now)
	if !v.Ended.IsZero() {
		o.Ended = &v.Ended
	}
	o.Duration = v.Took(now).Milliseconds()
	o.script(v)
	if len(landing.Workers(v)) == 1 && v.Script == nil {
		if done, ok := v.Agents[0].Status.(*task.Completed); ok && done.Answer != "" {
			o.Result = done.Answer
		}
	}
	o.Landing = newLandingObject(v)
	return o
}

// script adds the fields of a run with a script.
func (o *RunObject) script(v *store.View) {
	if r := v.Returned; r != nil {
		if r.Value != nil {
			o.Result = r.Value
		}
		if r.Error != nil {
			kind := task.Other
			if script.Code(r.Error.Code) == script.CodeBudget {
				kind = task.CauseBudget
			}
			o.Error = &ErrorObject{Kind: string(kind), Message: (&library.Error{Err: ThrownBy(r.Error), Thrown: true}).Error()}
		}
	}
	at := map[string]int{}
	phase := func(title string) *phaseObject {
		if _, known := at[title]; !known {
			at[title] = len(o.Phases)
			o.Phases = append(o.Phases, phaseObject{Title: title})
		}
		return &o.Phases[at[title]]
	}
	for _, title := range v.Phases {
		phase(title)
	}
	for _, a := range v.Agents {
		if a.Call.Phase == "" {
			continue
		}
		p := phase(a.Call.Phase)
		p.Agents++
		if _, failed := a.Status.(*task.Failed); failed {
			p.Failed++
		}
	}
	for _, line := range v.Logs {
		o.Logs = append(o.Logs, logObject{line.Time, line.Phase, line.Text})
	}
}

// Only keeps the agents that were named; none named keeps all.
func (o RunObject) Only(named []*store.Agent) RunObject {
	if len(named) == 0 {
		return o
	}
	o.Agents = slices.DeleteFunc(slices.Clone(o.Agents), func(a AgentObject) bool {
		return !slices.ContainsFunc(named, func(n *store.Agent) bool { return string(n.ID) == a.ID })
	})
	return o
}

// newLandingObject is the latest merge of a run; nil where there was none.
func newLandingObject(v *store.View) *landingObject {
	for i := len(v.Landings) - 1; i >= 0; i-- {
		l := v.Landings[i]
		if l.Verb != session.VerbMerge || l.Outcome == nil || !l.Outcome.OK {
			continue
		}
		o := &landingObject{
			Ref: l.Ref, Commit: l.New, Landed: l.Agents, Conflicts: newConflictObjects(l.Conflicts),
			Verified: l.Verified, Undone: l.Undone,
		}
		if o.Landed == nil {
			o.Landed = []task.ID{}
		}
		return o
	}
	return nil
}

func NewAgentObject(c engine.Config, v *store.View, a *store.Agent, now time.Time) AgentObject {
	spec := engine.SpecOf(c, a.Now())
	o := AgentObject{
		ID: string(a.ID), Label: engine.Title(a.ID, a.Call), Item: a.Call.Item, Phase: a.Call.Phase,
		Kind: spec.Kind, Model: spec.Model, Attempt: a.Attempt, Status: task.Word(a.Status),
		DependsOn: a.Call.DependsOn, WaitsFor: a.Held, StateText: a.StateText(),
	}
	times := a.Times(v.Until(now))
	o.Worked, o.Checked, o.Waited = times.Worked.Milliseconds(), times.Checked.Milliseconds(), times.Waited.Milliseconds()
	if running, ok := a.Status.(*task.Running); ok {
		o.State = string(running.State)
	}
	if again := a.NextTry(); again != nil && v.Status == store.RunRunning {
		o.Retry = &retryObject{Kind: string(again.Kind), Message: again.Reason, At: again.At}
	}
	if role := ledger.RoleOf(v, a.Call.Input); role != roles.Default {
		o.Role = role
	}
	if a.Call.Stage != nil {
		o.Stage = a.Call.Stage.Name
	}
	choice := a.Choice()
	o.Choice, o.ChosenBy = choice.Of, choice.By
	if a.Review != nil {
		o.Review = &reviewObject{Verdict: string(a.Review.Verdict), Reason: a.Review.Reason}
	}
	if found := a.Appraisal; found != nil {
		o.Reviewed, o.Problems = &found.Pass, found.Problems
	}
	r := a.Result()
	if r == nil {
		if !a.Started.IsZero() {
			o.Duration = max(0, v.Until(now).Sub(a.Started).Milliseconds())
		}
		return o
	}
	work := r.Done()
	changed, landed := work.Patch != nil, a.Landed()
	o.Conflict, o.refusal = newMetObject(a.Conflict), a.Refusal
	o.Changed = &changed
	if changed {
		o.Landed = &landed
		o.Patch = NewPatchObject(work.Patch)
	}
	o.Model = cmp.Or(work.Model, o.Model)
	o.Output, o.OutputFile = work.Output, work.OutputFile
	o.Notes, o.Ignored = work.Notes, work.Ignored
	o.Large, o.LargeMore = work.Large, work.LargeMore
	if work.Usage != (task.Usage{}) {
		o.Usage = &work.Usage
	}
	if !work.Started.IsZero() && !work.Ended.IsZero() {
		o.Duration = work.Ended.Sub(work.Started).Milliseconds()
	}
	switch r := r.(type) {
	case *task.Completed:
		o.Verified = r.Verified
	case *task.Failed:
		o.Error = &ErrorObject{Kind: string(r.Kind), Message: r.Reason}
	case *task.Cancelled:
		o.Error = &ErrorObject{Kind: string(r.Cause), Message: r.Reason}
	}
	return o
}

// Timeless returns the object without the fields that the clock alone changes.
func (o RunObject) Timeless() RunObject {
	o.Duration, o.Agents = 0, slices.Clone(o.Agents)
	for i := range o.Agents {
		a := &o.Agents[i]
		a.Duration, a.Worked, a.Checked, a.Waited = 0, 0, 0, 0
	}
	if o.Budget != nil && o.Budget.Spent != nil {
		budget, spent := *o.Budget, *o.Budget.Spent
		spent.Time, budget.Spent = 0, &spent
		o.Budget = &budget
	}
	return o
}

// RecoveryObject says that recovery of a run is pending.
type RecoveryObject struct {
	Workspaces int    `json:"workspaces"` // that are not captured yet
	Command    string `json:"command"`    // that captures them
}

func NewRecoveryObject(v *store.View) *RecoveryObject {
	if !v.Died {
		return nil
	}
	return &RecoveryObject{Workspaces: v.Uncaptured(), Command: cmdline.Program + " gc"}
}
