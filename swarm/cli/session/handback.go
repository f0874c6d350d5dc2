package session

import (
	"context"
	"errors"
	"fmt"

	"agentswarm/internal/termtext"
	"agentswarm/roles"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/landing/handback"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// MergeHandingBack merges, and hands patches that are left out back to agents. It returns the
// errors of the merge and of the runner.
func (s *Session) MergeHandingBack(ctx context.Context, r lander.MergeRequest, runner handback.Runner) (*lander.Report, error) {
	config, err := EngineConfig(s.Owner.View())
	if err != nil {
		return nil, err
	}
	return handback.Merge(ctx, handback.Request{
		Lander: s.Lander(), Merge: r, Review: config.Review, Slow: slowModel(s.Env, config), Runner: runner,
	})
}

// slowModel returns the model of the role slow for agents of a run.
func slowModel(env cmdline.Env, config engine.Config) func(*store.Agent) *task.Choice {
	return func(a *store.Agent) *task.Choice {
		if a.Call.Slow != nil {
			return a.Call.Slow
		}
		call := *a.Call
		call.Model, call.Effort = "", ""
		call.Input = &task.TypedAgentInput{Role: roles.Slow, Prompt: task.Prompt(a.Call.Input)}
		_, err := engine.Assign(config, cmdline.Kinds(env).ByName(), engine.AssignRequest{Call: &call, Named: true})
		if err != nil || call.Model == "" || call.Model == a.Now().Model {
			return nil // it keeps its own
		}
		return &task.Choice{Model: call.Model, Effort: call.Effort}
	}
}

// Attest writes the note about a merge, unless that failed or moved nothing. For patches
// that had landed before it writes the note of their landing, which a crash may have left
// out.
func (s *Session) Attest(ctx context.Context, r lander.MergeRequest, report *lander.Report, mergeErr error) error {
	nothing, none := errors.AsType[*lander.NothingError](mergeErr)
	switch {
	case none && nothing.Done && report == nil:
		ref, err := lander.TargetRef(ctx, s.Repo, r.Into)
		if err != nil {
			return errors.Join(mergeErr, err)
		}
		attested, err := s.Lander().Attest(ctx, ref)
		if err == nil {
			s.Notices.print(AttestedText(attested))
		}
		return errors.Join(mergeErr, err)
	case mergeErr != nil || !report.Moved():
		return mergeErr
	}
	var err error
	if report.Attested, err = s.Lander().Attest(ctx, report.Ref); err != nil {
		report.Attested, report.Stopped = nil, err // it has landed
	}
	return err
}

// AttestedText names a note about a merge.
func AttestedText(a *lander.Attested) string {
	how := "not signed"
	if a.Signed {
		how = "signed"
	}
	return fmt.Sprintf("attested %s by a note below %s (%s)", termtext.Count(len(a.Commits), "commit", "commits"), a.Ref, how)
}
