package host

import (
	"context"

	"agentswarm/swarm/reviewer"
	"agentswarm/swarm/task"
	"agentswarm/swarm/workflow"
	"agentswarm/worktree/git"
)

// Evidence returns the known facts of the work of an ended agent.
func (t *Tools) Evidence(ctx context.Context, r workflow.EvidenceRequest) (*workflow.Evidence, error) {
	request := reviewer.EvidenceRequest{Config: t.config.Engine, Result: r.Result, From: git.Hash(r.Base), To: git.Hash(r.Base), Store: t.Store, Repo: t.config.Repo}
	patch := r.Result.Done().Patch
	if patch != nil {
		request.From, request.To, request.Modules = git.Hash(patch.Base), git.Hash(patch.Commit), patch.Modules
	}
	if r.Since != "" {
		request.From, request.Modules = git.Hash(r.Since), nil
	}
	m, err := reviewer.Evidence(ctx, request)
	if err != nil {
		if patch != nil {
			if lost := t.Lost(ctx, patch); lost != nil {
				return nil, lost
			}
		}
		return nil, err
	}
	out := &workflow.Evidence{Text: m.Text(), Manifest: m}
	if done, ok := r.Result.(*task.Completed); ok {
		out.Verified = done.Verified
	}
	return out, nil
}
