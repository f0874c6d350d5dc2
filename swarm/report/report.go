package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/landing/queue"
	"agentswarm/swarm/review"
	"agentswarm/swarm/review/mark"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// Input is the state of a run.
type Input struct {
	View   *store.View    // required
	Review *review.Report // required
	Marks  map[*review.Edit][]mark.Mark
	// Verdict is the verdict of a person on an edit; required.
	Verdict func(*review.Edit) task.Verdict
	// Skipped are the reasons for which patches are not in the review, by agent.
	Skipped map[string]string
	// Tail is the end of an output file; empty where it cannot be read. Required.
	Tail func(file string) string
}

// Report is a report that can be written.
type Report struct {
	Run, Status, Reason, Workflow, Base string
	Began, Took                         string
	Cost                                string
	Tokens                              int64
	Patches, Edits, Lines, ToRead       int
	Agents                              []Agent
	Classes                             []Class
	MoreClasses                         int // that are left out
	Refused                             []Refused
	Landings                            []Landing
	Timeline                            Timeline
}

// Agent is a row of the report.
type Agent struct {
	ID, Title, Status, Model, Took, Cost string
	Attempts, Files, Added, Deleted      int
	Verdict, VerdictReason, Check        string
	Landed                               bool
}

// Class is a class of edits with an example.
type Class struct {
	ID, Kind, Language string
	Edits              int
	Patches            []string // the first of them
	MorePatches        int
	Marks              []string
	Missing            []string
	Accepted, Rejected int
	Place, About       string // of the example
	Lines              []Line
	MoreLines          int
}

// Line is a line of an example: unchanged, removed or added.
type Line struct {
	Sign string // " ", "-" or "+"
	Text string
}

// Kind names the sign for a style sheet.
func (l Line) Kind() string {
	switch l.Sign {
	case "-":
		return "removed"
	case "+":
		return "added"
	}
	return "same"
}

// Refused is a patch that did not land, or an agent that failed, with evidence.
type Refused struct{ ID, Why, Command, Evidence string }

// Landing is a merge.
type Landing struct {
	Ref, Commit, State, At string
	Agents                 []string
}

const (
	mostLines   = 200 // of an example
	mostNames   = 40
	mostClasses = 1000
)

// New makes the report of a run.
func New(in Input) *Report {
	v := in.View
	end := cmp.Or(v.Ended, v.LastTime)
	usage := v.Usage()
	r := &Report{
		Run: v.Identity.Run, Status: string(v.Status), Reason: v.Reason, Workflow: v.Identity.Workflow.Text, Base: short(v.Identity.Base.Commit),
		Began: stamp(v.Began), Took: span(v.Began, end), Cost: cost(usage), Tokens: usage.Tokens(),
		Patches: in.Review.Patches, Edits: in.Review.Edits, Lines: in.Review.Lines, ToRead: in.Review.ToRead,
	}
	for _, a := range v.Agents {
		r.Agents = append(r.Agents, agentOf(a, end))
		r.Refused = append(r.Refused, in.refused(a)...)
	}
	for i, c := range in.Review.Classes {
		if i == mostClasses {
			r.MoreClasses = len(in.Review.Classes) - i
			break
		}
		r.Classes = append(r.Classes, in.class(c))
	}
	for _, l := range v.Landings {
		r.Landings = append(r.Landings, landingOf(l))
	}
	r.Timeline = timelineOf(v, end)
	return r
}

func agentOf(a *store.Agent, end time.Time) Agent {
	out := Agent{
		ID: string(a.ID), Title: engine.Title(a.ID, a.Call), Status: task.Word(a.Status), Attempts: a.Attempt, Cost: cost(a.Spent), Landed: a.Landed(),
	}
	if !a.Started.IsZero() {
		out.Took = span(a.Started, cmp.Or(a.Ended, end))
	}
	if p := a.Patch(); p != nil {
		out.Files, out.Added, out.Deleted = p.Size()
	}
	if r := a.Result(); r != nil {
		out.Model = r.Done().Model
	}
	if r, ok := a.Status.(*task.Completed); ok && r.Verified != nil {
		out.Check = map[bool]string{true: "passed", false: "failed"}[*r.Verified]
	}
	if a.Review != nil {
		out.Verdict, out.VerdictReason = string(a.Review.Verdict), a.Review.Reason
	}
	return out
}

// refused are the reasons for which the work of an agent is not taken.
func (in *Input) refused(a *store.Agent) []Refused {
	var all []Refused
	add := func(why, command, evidence string) {
		all = append(all, Refused{ID: string(a.ID), Why: why, Command: command, Evidence: evidence})
	}
	if why := in.Skipped[string(a.ID)]; why != "" {
		add("its patch could not be read: "+why, "", "")
	}
	switch r := a.Status.(type) {
	case *task.Failed:
		add("the agent failed, "+string(r.Kind)+": "+r.Reason, "", "")
	case *task.Completed:
		if r.Verified != nil && !*r.Verified {
			text := ""
			if a.Checked != nil {
				text = in.output(a.Checked.Output)
			}
			add("its check failed", "", text)
		}
	}
	if a.Refusal != nil && a.Refusal.Kind != event.RefusedStale {
		all = append(all, in.refusedByCheck(string(a.ID), a.Refusal))
	}
	for _, n := range slices.Sorted(maps.Keys(a.CopyRefusals)) {
		all = append(all, in.refusedByCheck((&store.Copy{Agent: a.ID, N: n}).Name(), a.CopyRefusals[n]))
	}
	if c := a.Conflict; c != nil {
		add("its patch conflicts with those of "+names(c.With), "", strings.Join(c.Paths, "\n"))
	}
	if a.Rejected() {
		add("a person rejected it", "", a.Review.Reason)
	}
	return all
}

// refusedByCheck is a patch that a merge refused, with the ends of the outputs of its
// check or with the lines that the patch takes back.
func (in *Input) refusedByCheck(id string, r *store.Refusal) Refused {
	if r.Kind == event.RefusedUndoes {
		out := Refused{ID: id, Why: "the merge: " + landing.RefusalText(r.Ref, r.Refusal)}
		for _, l := range r.Lines {
			out.Evidence += landing.TakenBackText(l) + "\n"
		}
		return out
	}
	out := Refused{ID: id, Why: "the check of the merge: " + landing.RefusalText(r.Ref, r.Refusal)}
	if r.Kind != string(queue.Dependency) { // the check ran on it
		out.Command = r.Command
	}
	for _, file := range r.Outputs {
		out.Evidence += in.output(file)
	}
	return out
}

// output is the end of both outputs of a check.
func (in *Input) output(file string) string {
	if file == "" {
		return ""
	}
	return in.Tail(file) + in.Tail(strings.TrimSuffix(file, ".out")+".err")
}

func names(ids []task.ID) string {
	all := make([]string, 0, len(ids))
	for _, id := range ids {
		all = append(all, string(id))
	}
	return strings.Join(all, ", ")
}

// class is a class with its shortest member.
func (in *Input) class(c *review.Class) Class {
	e := c.Example
	out := Class{
		ID: c.ID, Kind: string(c.Kind), Language: c.Language, Edits: len(c.Members), Patches: c.Patches(), Missing: c.Missing,
		Place: e.Patch + ", " + e.Place().String(), About: e.About,
	}
	if n := len(out.Patches) - mostNames; n > 0 {
		out.Patches, out.MorePatches = out.Patches[:mostNames], n
	}
	for _, m := range c.Members {
		switch in.Verdict(m) {
		case task.Accepted:
			out.Accepted++
		case task.Rejected:
			out.Rejected++
		}
		for _, found := range in.Marks[m] {
			text := found.Reason
			if found.Detail != "" {
				text += ": " + found.Detail
			}
			if !slices.Contains(out.Marks, text) && len(out.Marks) < mostNames {
				out.Marks = append(out.Marks, text)
			}
		}
	}
	for _, part := range []struct {
		sign  string
		lines []string
	}{{" ", e.Before}, {"-", e.Removed}, {"+", e.Added}, {" ", e.After}} {
		for _, text := range part.lines {
			if len(out.Lines) == mostLines {
				out.MoreLines++
				continue
			}
			out.Lines = append(out.Lines, Line{part.sign, text})
		}
	}
	return out
}

func landingOf(l *store.Landing) Landing {
	out := Landing{Ref: strings.TrimPrefix(l.Ref, "refs/heads/"), Commit: short(l.New), At: stamp(l.Time), State: "landed"}
	switch {
	case l.Undone:
		out.State = "undone"
	case !l.Stands():
		out.State = "did not land"
	}
	for _, id := range l.Agents {
		out.Agents = append(out.Agents, string(id))
	}
	return out
}

func short(commit string) string { return commit[:min(10, len(commit))] }

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

func span(from, to time.Time) string {
	if from.IsZero() || to.Before(from) {
		return ""
	}
	return to.Sub(from).Round(time.Second).String()
}

// cost is the known part of a cost.
func cost(u task.Usage) string {
	switch {
	case u.UnpricedTokens > 0 && u.CostUSD > 0:
		return fmt.Sprintf("at least $%.2f", u.CostUSD)
	case u.UnpricedTokens > 0:
		return "unknown"
	case u.CostUSD > 0:
		return fmt.Sprintf("$%.2f", u.CostUSD)
	}
	return ""
}
