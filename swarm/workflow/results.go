package workflow

import (
	"cmp"
	"fmt"

	"agentswarm/swarm/engine"
	"agentswarm/swarm/script"
	"agentswarm/swarm/task"
)

// resultOf is how an agent ended, as a script sees it.
func resultOf(id task.ID, call *task.Call, r task.Result) (*script.Result, error) {
	out := &script.Result{ID: string(id), Status: task.Word(r), Label: call.Label, Phase: call.Phase}
	switch r := r.(type) {
	case *task.Completed:
		text, structured, err := engine.WholeAnswer(r)
		if err != nil {
			return nil, fmt.Errorf("read the answer of %s: %w", id, err)
		}
		out.Output, out.Structured, out.Verified = &text, structured, r.Verified
	case *task.Failed:
		out.Error = &script.Failure{Kind: string(r.Kind), Message: r.Reason}
	case *task.Cancelled:
		out.Error = &script.Failure{Kind: string(r.Cause), Message: cmp.Or(r.Reason, "somebody cancelled it")}
	default:
		panic(fmt.Sprintf("unhandled %T", r))
	}
	work := r.Done()
	if u := work.Usage; u != (task.Usage{}) {
		out.Usage = &script.Usage{
			Input: u.Input, Output: u.Output, CacheRead: u.CacheRead,
			CacheWrite: u.CacheWrite, CostUSD: u.CostUSD,
		}
	}
	if p := work.Patch; p != nil {
		out.Patch = &script.Patch{
			ID: p.Commit, Base: p.Base, Files: orEmpty(p.Paths),
			Stat: script.Stat{Files: p.Files, Added: p.Added, Deleted: p.Deleted},
		}
	}
	return out, nil
}
