package store

import (
	"fmt"
	"slices"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// Status is where a run is. The zero value is none of them.
type Status string

// The states of a run.
const (
	RunRunning   Status = "running"
	RunPaused    Status = "paused"
	RunCompleted Status = "completed"
	RunDegraded  Status = "degraded" // some agents failed
	RunFailed    Status = "failed"
	RunStopped   Status = "stopped"
)

// ReasonDied is the reason of a run that stopped because its owner died.
const ReasonDied = "its process died"

// View is the state of a run by its records.
type View struct {
	Identity Identity

	Status Status
	Reason string
	Code   int // the exit code of the command that ran it, once it ended
	// Died is set where the run is stopped because its owner ended without a
	// record. Its agents keep their last status.
	Died bool

	Opened   *event.Opened // the latest; nil before the first
	Resumed  int           // how often
	Agents   []*Agent      // in call order
	Landings []*Landing    // in the order of their ids
	// Verdicts are runs of the checks of landings; see [View.VerdictsOn].
	Verdicts []Verdict
	refused  bool // a patch was left out because it builds on a refused patch
	// Questions are all that agents asked, in that order.
	Questions []*Question
	// Stop is the latest wish to end the whole run since it was opened.
	Stop *event.CancelAsked
	// Pause is why nothing new starts since it was opened; nil where it does.
	Pause *event.Paused
	// Quotas are the quota windows that are used up, in the order in which the run
	// met them. They outlive an owner. QuotaUse is how much of open ones is used, as
	// it was reported last.
	Quotas   []*event.QuotaClosed
	QuotaUse []*event.QuotaUsed
	// Inherited is the paid usage of its agents when it was opened.
	Inherited task.Usage

	// Script is the script of the latest owner; nil where the run has none.
	Script *event.Scripted
	// Shared is the workspace that shared calls are in together, nil where
	// there is none, or none any more. Tip is the commit that holds it as it was
	// captured last; empty before the first capture.
	Shared *event.Leased
	Tip    string
	// Entered are the values that entered the script beside the ends of agents.
	Entered []ScriptEntry
	// Logs are the lines it had for people, Phases the groups it began.
	Logs   []LogLine
	Phases []string
	// Returned is how the script ended under the latest owner; nil where it
	// has not.
	Returned *event.Returned

	Began time.Time // when it was first opened
	Ended time.Time // when it was closed; zero while it is open
	Last  int64     // the number of the last record
	// LastTime is when that was written.
	LastTime time.Time

	byID map[task.ID]*Agent
	asks []*Question // open ones of the script, under the latest owner
	work workTime
	took stopwatch // while an owner had the run open
	sign time.Time // the last sign of the agents that a recovery settles; else zero
	// scripted are the landings of the script; the agents share it.
	scripted *scriptLandings
}

// Agent is the state of an agent by the records.
type Agent struct {
	ID     task.ID
	Call   *task.Call
	Status task.Status
	// Copy is the copy of its workspace that its patch is of, as [Agent.AtCopy]
	// shows it; 0: the patch is its own.
	Copy int
	// Partial is set where that copy holds only some edits of the agent's patch.
	Partial bool
	// Module is the submodule that an address names; nil: all of the patch is.
	Module *task.ModulePatch
	// Improved is the patch of an earlier attempt that landed, or
	// the agent's own patch where Copy is set: the person who worked in
	// the copy began with it. It is nil where the copy may be of another attempt.
	Improved *task.Patch
	// Attempt is the latest that began, Attempts how many began; 0 for none.
	Attempt, Attempts int
	// Waits is how many of them were no more than waits.
	Waits int

	// Words are the messages to the agent while it worked, since it was last
	// sent back.
	Words []string
	// Sent are all messages to it, of all attempts, oldest first.
	Sent []*event.Sent

	// Leases are the workspaces that were not released, oldest first.
	Leases []*event.Leased
	// Supervisors are those that started and are not known to have ended.
	Supervisors []*event.Started
	// Exit, Captured and Checked are of the current attempt; nil where it
	// has not come so far.
	Exit     *event.Ended
	Captured *event.Captured
	Checked  *event.Checked
	// Earlier are the captures of attempts before the current attempt that hold
	// a patch, oldest first.
	Earlier []*event.Captured
	results []*event.Settled // of all attempts, oldest first
	// Round is the latest process of the agent in the current attempt; nil
	// before the first. Exit is the end of that process.
	Round *event.Started
	// Part is the change of all its attempts in the shared workspace, as far as
	// it was captured. PartBy is the number of the record that captured it.
	Part   *task.Patch
	PartBy int64
	// Prior is the usage of the conversation that it continues, when its agent
	// was last started.
	Prior task.Usage
	// Mounted is where the latest workspace is mounted; empty where it is not.
	Mounted string
	// Entered tells whether something was started in the current attempt.
	Entered bool
	// Cancel is the latest wish that named this agent, and none where it
	// was asked to try again since.
	Cancel *event.CancelAsked
	// Retry is the latest request for another attempt. Remarks are the texts of
	// such requests so far, oldest first.
	Retry   *event.RetryAsked
	Remarks []Remark
	// Markers are the conflict markers that its work began with; nil: there are none.
	Markers *event.Markers
	// Continued is the conversation that the current attempt continues; nil for
	// a new conversation.
	Continued *event.Continued
	// Spent is the paid usage of the attempts up to SpentBy.
	Spent   task.Usage
	SpentBy int
	// Paid is the same by attempts, oldest first.
	Paid []Paid
	// Review is a person's verdict on the current attempt's work.
	Review *event.Reviewed
	// Edits are the verdicts on single edits, of all attempts, oldest first.
	Edits []EditVerdict
	// OnEdits are the remarks of people on single edits, of all attempts, oldest
	// first. Those that were withdrawn are gone.
	OnEdits []*EditRemark
	// Appraisal is a reviewing agent's verdict on the current attempt's work;
	// nil where none has.
	Appraisal *event.Appraised
	// Titled are the models' subjects for the commits of its patches.
	Titled []*event.Titled
	// Open are the questions it waits for.
	Open []*Question
	// Held is the reason for which the agent's start waits; empty while it
	// waits for nothing, or for its turn in the run.
	Held string
	// Parked is the lane of the quota window that it waits for; empty: for none.
	Parked string
	// Again says why and when it is tried again; nil where it does not wait for
	// that.
	Again *Again
	// Retrying is a retry that the agent makes by itself. The journal does not hold
	// it: readers of the output set it, and it is nil without them.
	Retrying *Again
	// Switched is the model that its attempts use in place of its call's; nil for
	// none. Failures is how many of its tries were not good enough.
	Switched *event.Switched
	Failures int
	// Conflict is why the latest merge left its patch out; nil where none did, or
	// where that is over.
	Conflict *Conflict
	// Refusal is why the check of the latest merge left its patch out; nil if none
	// did, or if the patch has landed or changed since.
	Refusal *Refusal
	// CopyRefusals are the same of copies of its workspace, by their numbers.
	CopyRefusals map[int]*Refusal
	// Landings are the ids of landings and applies that hold this agent's
	// patch and were not undone.
	Landings []int
	// Found are the branches on which a merge found its changes already there.
	Found []string

	Asked   time.Time // when it was called
	Started time.Time // when its first attempt began
	Began   time.Time // when its current attempt did
	Exited  time.Time // when Exit was
	Ended   time.Time // when it settled
	// SettledBy is the number of the record by which it did; 0 where it has
	// not.
	SettledBy int64

	// Raced is the outcome of the race that the agent was part of; see
	// [Agent.Choice] for all choices of a script.
	Raced task.Selection

	landed *scriptLandings // of its run; nil of an agent that was never called
	clock  clock
	asking task.State // the state that its first open question interrupted
}

// Fold adds records up. The records of an unfinished run say that it runs;
// whether that is still true [Run.View] knows.
func Fold(id Identity, records []event.Record) *View {
	v := &View{Identity: id, Status: RunRunning, byID: map[task.ID]*Agent{}, scripted: &scriptLandings{}}
	for _, r := range records {
		v.Apply(r)
	}
	return v
}

// View reads the current state of the run. It returns an error if the journal
// cannot be read.
func (r *Run) View() (*View, error) {
	id, err := r.Identity()
	if err != nil {
		return nil, err
	}
	var last int64 = -1
	for {
		records, err := r.Records()
		if err != nil {
			return nil, err
		}
		v := Fold(id, records)
		if v.Status != RunRunning || r.Live() {
			return v, nil
		}
		// The owner may have closed the run, or another opened it, since it was
		// read: two looks must agree.
		if v.Last == last {
			v.Status, v.Reason, v.Died = RunStopped, ReasonDied, true
			return v, nil
		}
		last = v.Last
	}
}

// Agent is the agent of this id; nil where there is none.
func (v *View) Agent(id task.ID) *Agent { return v.byID[id] }

// Result is how the agent ended; nil while it has not.
func (a *Agent) Result() task.Result {
	r, _ := a.Status.(task.Result)
	return r
}

// Lease is the workspace of the current attempt; nil where it has none, or
// none any more.
func (a *Agent) Lease() *event.Leased {
	for _, l := range a.Leases {
		if l.Attempt == a.Attempt {
			return l
		}
	}
	return nil
}

// ByName reports whether a cancellation named this agent.
func (a *Agent) ByName() bool { return a.Cancel != nil && a.Cancel.Cause == task.CauseCancelled }

// Apply adds a record. Facts of an agent that was never called are dropped; an
// event that is no journal record changes nothing.
func (v *View) Apply(r event.Record) {
	before := v.LastTime
	v.Last, v.LastTime = r.N, r.Time
	v.work.note(r)
	v.noteSign(r)
	switch e := r.Event.(type) {
	case *event.Opened:
		v.rest(before)
		v.open(r.Time, e)
	case *event.Called:
		v.call(r.Time, e)
	case *event.Leased:
		v.lease(r.Time, e)
	case *event.Started:
		v.start(r.Time, e)
	case *event.Ended:
		v.about(e.Agent).exit(r.Time, e)
	case *event.Captured:
		v.capture(r.N, e)
	case *event.Checked:
		v.about(e.Agent).check(e)
	case *event.Settled:
		v.about(e.Agent).settle(r, e)
	case *event.Released:
		v.release(e)
	case *event.Retried:
		v.about(e.Agent).retried(r.Time, e)
	case *event.CancelAsked:
		v.cancel(e)
	case *event.RetryAsked:
		v.about(e.Agent).again(r.Time, e)
	case *event.Reviewed:
		a := v.about(e.Agent)
		if a.review(e); a.Accepted() {
			v.acquit(a, "")
		}
	case *event.EditsReviewed:
		a := v.about(e.Agent)
		a.Edits = append(a.Edits, EditVerdict{e, r.Time})
	case *event.Remarked:
		v.about(e.Agent).remarked(e)
	case *event.Appraised:
		v.about(e.Agent).appraise(e)
	case *event.Titled:
		a := v.about(e.Agent)
		a.Titled = append(a.Titled, e)
	case *event.Questioned:
		v.question(r.Time, e)
	case *event.Replied:
		v.reply(r.Time, e)
	case *event.Sent:
		v.about(e.Agent).sent(e)
	case *event.Verified:
		v.Verdicts = append(v.Verdicts, Verdict{Verified: e})
	case *event.Refused:
		v.refuse(e.Ref, e.Refused)
		v.endVerdicts()
		v.endSeries()
	case *event.Intended:
		v.Landings = append(v.Landings, &Landing{Intended: *e, Time: r.Time})
		if !e.More {
			v.endVerdicts()
		}
	case *event.Conflicted:
		v.conflicts(e.Ref, e.Tip, e.Conflicts)
		v.found(e.Ref, e.There)
	case *event.Landed:
		v.mark(e.ID, func(l *Landing) { l.Outcome = e })
		v.metBy(e)
	case *event.Undone:
		for _, l := range v.Series(v.Landing(e.ID)) {
			v.mark(l.ID, func(l *Landing) { l.Undone = true })
		}
		v.forgetMet(e.ID)
	case *event.Scripted, *event.Entered, *event.Logged, *event.Phased, *event.Returned:
		v.script(r)
	case *event.Chosen:
		v.choose(e)
	case *event.Paused:
		v.Pause = e
	case *event.Held:
		v.about(e.Agent).hold(r.Time, e)
	case *event.Switched:
		v.about(e.Agent).Switched = e
	case *event.QuotaClosed, *event.QuotaOpened, *event.QuotaUsed, *event.Parked:
		v.quota(r)
	case *event.Continued:
		v.resume(r.Time, e)
	case *event.Closed:
		v.Status, v.Reason, v.Code, v.Ended = Status(e.Status), e.Reason, e.Code, r.Time
		v.rest(v.closedAt(r.Time, before))
	case *event.Session, *event.Text, *event.ToolStart, *event.ToolEnd, *event.Turn,
		*event.Spent, *event.Asked, *event.Answered, *event.Erred, *event.Retry, *event.Raw:
	default:
		panic(fmt.Sprintf("unhandled %T", e))
	}
}

func (v *View) open(at time.Time, e *event.Opened) {
	v.asks = nil // the script that asked is gone
	v.wind(at)
	v.Status, v.Reason, v.Code, v.Ended = RunRunning, "", 0, time.Time{}
	v.Opened, v.Stop = e, nil
	v.Pause, v.Inherited = nil, v.Usage()
	if v.Began.IsZero() {
		v.Began = at
	}
	if e.Resumed {
		v.Resumed++
	}
}

// call puts an agent where its number says. A call is recorded once.
func (v *View) call(at time.Time, e *event.Called) {
	if v.byID[e.Agent] != nil {
		return
	}
	a := &Agent{ID: e.Agent, Call: e.Call, Asked: at, landed: v.scripted}
	a.queue(at)
	v.byID[a.ID] = a
	place, _ := slices.BinarySearchFunc(v.Agents, a.ID.Number(), func(b *Agent, n int) int {
		return b.ID.Number() - n
	})
	v.Agents = slices.Insert(v.Agents, place, a)
}

// about returns the agent of a record, or an unused agent for an unknown id.
func (v *View) about(id task.ID) *Agent {
	if a := v.byID[id]; a != nil {
		return a
	}
	return &Agent{}
}

func (v *View) cancel(e *event.CancelAsked) {
	if len(e.Agents) == 0 {
		v.Stop = e
	}
	for _, id := range e.Agents {
		v.about(id).Cancel = e
	}
}
