package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/activity"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/script"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// CauseOf returns the cause for which an agent did not complete, or an empty text.
func CauseOf(r task.Result) string {
	switch r := r.(type) {
	case *task.Completed:
		if r.Verified != nil && !*r.Verified {
			return checkCause(r)
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

// ThrownBy returns the script error of a journal's record.
func ThrownBy(e *event.ScriptError) *script.Error {
	return &script.Error{
		Name: e.Name, Code: script.Code(e.Code), Message: e.Message, Where: e.Where, Line: e.Line,
	}
}

// checkCause is why the check of an agent failed: how it ended, and its last
// line.
func checkCause(r *task.Completed) string {
	for _, note := range r.Notes {
		if how, found := strings.CutPrefix(note, "verify: "); found {
			return CheckFailed + ": " + how
		}
	}
	return CheckFailed
}

// refusalCause is why a merge refused a patch, with the last line of the check that did.
// It is empty if none did.
func refusalCause(a *store.Agent) string {
	r := a.Refusal
	if r == nil || r.Kind == event.RefusedStale {
		return ""
	}
	text := "merge refused: " + landing.RefusalText(r.Ref, r.Refusal)
	if n := len(r.Outputs); n > 0 {
		file := r.Outputs[n-1]
		said := cmp.Or(activity.LastLine(file), activity.LastLine(strings.TrimSuffix(file, ".out")+".err"))
		if said != "" {
			text += ": " + shortNote(said)
		}
	}
	return text
}

// CheckFailed begins the cause of an agent whose check failed.
const CheckFailed = "check failed"

// Denials returns the questions of incomplete agents that were denied because no person could
// be asked.
func Denials(v *store.View) []*store.Question {
	var all []*store.Question
	for _, q := range v.Questions {
		a := v.Agent(q.Agent)
		if q.Reply == nil || q.Reply.By != task.ByPolicy || q.Reply.Allow {
			continue
		}
		if a == nil || a.Attempt != q.Attempt || a.ByName() || isCompleted(a) {
			continue
		}
		all = append(all, q)
	}
	return all
}

// printDenied tells of questions that somebody should have answered.
func printDenied(w io.Writer, v *store.View) {
	all := Denials(v)
	if len(all) == 0 {
		return
	}
	var who []string
	for _, q := range all {
		if id := string(q.Agent); !slices.Contains(who, id) {
			who = append(who, id)
		}
	}
	fmt.Fprintf(w, "%s denied, as no person could be asked (--questions wait lets them wait): %s\n",
		termtext.Count(len(all), "question was", "questions were"), termtext.List(who, 5))
}
