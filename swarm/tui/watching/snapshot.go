package watching

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/activity"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// Group is a group of agents by the next action of a person. Its text is the title.
type Group string

// The groups in their order.
const (
	NeedsYou Group = "needs you"
	Working  Group = "working"
	Failed   Group = "failed"
	Ready    Group = "ready"
	Queued   Group = "queued"
	Done     Group = "done"
)

func groups() []Group { return []Group{NeedsYou, Working, Failed, Ready, Queued, Done} }

// Question is an open question.
type Question struct {
	ID string
	// Wants is the action in a line, Whole all of it. Both are foreign text.
	Wants, Whole string
	// Shown is the digest of the action that the person sees.
	Shown string
	// Words is set where any text is an answer, not only yes or no.
	Words bool
}

// Row is an agent, or the script where ID is empty.
type Row struct {
	ID    task.ID
	Label string // foreign text
	Group Group
	State string
	For   time.Duration // in the state; of an agent that ended, its work
	// Doing is the present work, or why it failed: foreign text.
	Doing string
	// Landing is the outcome of its patch at a landing.
	Landing   string
	Tokens    int64
	USD       float64
	Attempt   int
	Question  *Question // the oldest
	Questions int
	Patch     bool
	Running   bool
	// Started and Ended are zero where it has not come so far.
	Started, Ended time.Time
}

// Key names the row.
func (r *Row) Key() string { return cmp.Or(string(r.ID), "script") }

// Snapshot is a run at a moment. It does not change.
type Snapshot struct {
	Run, Status string
	Live        bool
	Done, Total int
	Growing     bool // more agents may start
	Took, Left  time.Duration
	Tokens      int64
	Spent       string // tokens and money
	Phase       string // of its script; foreign text
	Rows        []Row
	Landings    []string // the latest first
	Note        string
	Began, Now  time.Time
}

// Input holds the sources of a snapshot.
type Input struct {
	View *store.View // required
	// Doing is the present work of live agents.
	Doing map[task.ID]activity.Now
	// Questions are the open questions of agents, oldest first; those of the script
	// have an empty id.
	Questions map[task.ID][]Question
	// Review is the review mode of the run; see [landing.Landable].
	Review string
	// Budget is the total that Spent is compared with.
	Budget task.Amount
	Now    time.Time
}

// Take makes a snapshot. It keeps nothing of the view.
func Take(in Input) *Snapshot {
	v := in.View
	n := v.Counts()
	s := &Snapshot{
		Run: v.Identity.Run, Status: string(v.ShownStatus()), Live: v.Status == store.RunRunning,
		Done: n.Done(), Total: n.Total(), Growing: v.Growing(),
		Took: v.Took(in.Now), Began: v.Began, Now: v.Until(in.Now),
	}
	if v.Reason != "" && !s.Live {
		s.Status += ": " + v.Reason
	}
	if left, ok := v.Left(in.Now); ok && !s.Growing {
		s.Left = left
	}
	if len(v.Phases) > 0 {
		s.Phase = v.Phases[len(v.Phases)-1]
	}
	if w := v.QuotaWait(); w != nil && s.Live {
		s.Note = w.Text(in.Now)
	}
	if v.Pause != nil {
		s.Note = "pausing: " + v.Pause.Reason
	}
	used, spent := v.Usage(), v.Spent(in.Now)
	if open := in.Questions[""]; len(open) > 0 {
		s.Rows = append(s.Rows, Row{
			Label: "the script", Group: NeedsYou, State: "asks", Doing: open[0].Wants, Question: &open[0], Questions: len(open),
		})
	}
	for _, a := range v.Agents {
		does := in.Doing[a.ID]
		more := does.Uncounted(a)
		used.Add(more)
		part := more.Spent()
		spent.Tokens, spent.USD = spent.Tokens+part.Tokens, spent.USD+part.USD
		s.Rows = append(s.Rows, rowOf(in, a, does))
	}
	s.Tokens = used.Tokens()
	s.Spent = spentText(used, spent, in.Budget)
	s.Landings = landingLines(v)
	return s
}

func spentText(used task.Usage, spent, budget task.Amount) string {
	parts := []string{engine.SpentText(spent, budget)}
	if budget.Tokens == 0 {
		parts = append(parts, termtext.Tokens(used.Tokens()))
	}
	if budget.USD == 0 && used.CostUSD > 0 {
		parts = append(parts, task.Dollars(used.CostUSD))
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "  ")
}

func rowOf(in Input, a *store.Agent, does activity.Now) Row {
	used := a.Spent
	r := Row{
		ID: a.ID, Label: engine.Title(a.ID, a.Call), Attempt: a.Attempt, Landing: landingOf(a), Patch: a.Patch() != nil,
		Started: a.Started, Ended: a.Ended,
	}
	open := in.Questions[a.ID]
	if len(open) > 0 {
		r.Question, r.Questions = &open[0], len(open)
	}
	switch s := a.Status.(type) {
	case *task.Running:
		used.Add(does.Uncounted(a))
		r.Running, r.State, r.For, r.Doing = true, s.State.Text(), in.Now.Sub(s.Since), does.Text
		liveGroup(&r, a, s, does)
	case task.Result:
		times := a.Times(in.Now)
		r.State, r.For = task.Word(s), times.Worked+times.Checked
		used = s.Done().Usage
		endedGroup(&r, a, s, in.Review)
	}
	r.Tokens, r.USD = used.Tokens(), used.CostUSD
	return r
}

// liveGroup is the group of an agent that has not ended.
func liveGroup(r *Row, a *store.Agent, s *task.Running, does activity.Now) {
	again := cmp.Or(a.NextTry(), does.Again)
	switch {
	case r.Question != nil:
		r.Group, r.Doing = NeedsYou, r.Question.Wants
	case s.State.Coarse() == task.Queued:
		r.Group, r.Doing = Queued, a.Held
	default:
		r.Group = Working
	}
	if again != nil && r.Question == nil {
		r.Doing = fmt.Sprintf("tries again after %s: %s", again.Kind, again.Reason)
	}
}

// endedGroup is the group of an agent that has ended.
func endedGroup(r *Row, a *store.Agent, s task.Result, review string) {
	why := landing.Landable(review, a)
	switch {
	case a.Landed():
		r.Group = Done
	case a.Conflict != nil:
		r.Group, r.Doing = NeedsYou, "conflicts with "+branch(a.Conflict.Ref)+": r tries it again on top of that"
	case a.Failed():
		r.Group, r.Doing = Failed, causeOf(s)
	case a.Refusal != nil || a.Rejected() || a.Appraisal != nil && !a.Appraisal.Pass:
		r.Group = Failed
		if why != nil {
			r.Doing = why.Error()
		}
	case r.Patch && why == nil:
		r.Group = Ready
	case errors.Is(why, landing.ErrUnreviewed):
		r.Group, r.Doing = Queued, "waits for its review"
	case r.Patch:
		r.Group, r.Doing = Done, why.Error()
	default:
		r.Group, r.Doing = Done, causeOf(s)
	}
	if _, cancelled := s.(*task.Cancelled); cancelled && r.Group != Done && !a.Accepted() {
		r.Group, r.Doing = Done, causeOf(s)
	}
}

// causeOf is why an agent did not complete, or why its check failed.
func causeOf(r task.Result) string {
	switch r := r.(type) {
	case *task.Completed:
		for _, note := range r.Notes {
			if how, found := strings.CutPrefix(note, "verify: "); found {
				return "check failed: " + how
			}
		}
		if r.Verified != nil && !*r.Verified {
			return "check failed"
		}
		return ""
	case *task.Failed:
		return r.Kind.Explain(r.Reason)
	case *task.Cancelled:
		return r.Cause.Explain(r.Reason)
	default:
		panic("unhandled result")
	}
}

// landingOf is the outcome of the patch of an agent at a landing.
func landingOf(a *store.Agent) string {
	switch {
	case a.Landed():
		return "landed"
	case a.Conflict != nil:
		return "conflict"
	case a.Refusal != nil:
		return "refused"
	case a.Accepted():
		return "accepted"
	case a.Rejected():
		return "rejected"
	}
	if done, ok := a.Status.(*task.Completed); ok && done.Verified != nil && *done.Verified {
		return "verified"
	}
	return ""
}

func branch(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }

// mostLandings bounds the lines about landings.
const mostLandings = 200

// landingLines tell of landings and of the checks that ran for them, the latest
// first. The checks of a landing in progress come before all landings.
func landingLines(v *store.View) []string {
	var earlier, current []string
	for _, e := range v.Verdicts {
		if e.Earlier {
			earlier = append(earlier, checkLine(e))
		} else {
			current = append(current, checkLine(e))
		}
	}
	all := earlier
	for _, l := range v.Landings {
		all = append(all, landingLine(l))
	}
	all = append(all, current...)
	slices.Reverse(all)
	return all[:min(len(all), mostLandings)]
}

// checkLine is a run of a check for a landing.
func checkLine(e store.Verdict) string {
	word := "failed"
	switch {
	case e.Hung:
		word = "did not end in time"
	case e.Passed:
		word = "passed"
	}
	on := "the branch itself"
	if len(e.Agents) > 0 {
		on = termtext.Count(len(e.Agents), "patch", "patches") + " (" + firstIDs(e.Agents) + ")"
	}
	return fmt.Sprintf("check %s in %s: %s on %s", word, termtext.Duration(time.Duration(e.MS)*time.Millisecond), on, branch(e.Ref))
}

// landingLine is a merge, an apply or an undo.
func landingLine(l *store.Landing) string {
	text := fmt.Sprintf("%s %d: %s", l.Verb, l.ID, termtext.Count(len(l.Agents), "patch", "patches"))
	if l.Ref != "" {
		text += " on " + branch(l.Ref)
	}
	switch {
	case l.Outcome == nil:
		text += ", in progress"
	case !l.Outcome.OK:
		text += ", did not happen: " + l.Outcome.Reason
	case l.Undone:
		text += ", undone"
	default:
		text += ", landed"
	}
	if n := len(l.Refused); n > 0 {
		text += ", " + termtext.Count(n, "patch refused", "patches refused")
	}
	if n := len(l.Conflicts); n > 0 {
		text += ", " + termtext.Count(n, "conflict", "conflicts")
	}
	return text
}

func firstIDs(ids []task.ID) string {
	const most = 6
	var all []string
	for i, id := range ids {
		if i == most {
			all = append(all, "…")
			break
		}
		all = append(all, string(id))
	}
	return strings.Join(all, " ")
}
