package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentswarm/merge"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/refusal"
	"agentswarm/swarm/script"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/swarm/workflow"
)

// Land moves a branch to the merge of patches, of all of them or of none,
// because a script that lands three wants all three. An obstacle, be it a
// conflict, a failed check or a moved branch, is an outcome and no error. Land
// returns a [*script.Error] for a request that it refuses.
//
// A landing that an earlier owner of the run began is found by its key. A
// completed landing is reported and not made again. A landing that was given
// up, or undone since, is made anew.
func (t *Tools) Land(ctx context.Context, r workflow.LandRequest) (*script.Landing, error) {
	if err := t.landable(ctx, r); err != nil {
		return nil, err
	}
	if err := t.landing.Acquire(ctx, 1); err != nil {
		return nil, context.Cause(ctx)
	}
	defer t.landing.Release(1)
	t.awaitSubjects(ctx, r.Patches)
	author, err := t.config.Author()
	if err != nil {
		return nil, err
	}
	request := lander.TogetherRequest{Into: r.Into, Key: r.Key, Author: author}
	for _, p := range r.Patches {
		request.Patches = append(request.Patches, lander.Patch{Agent: p.Agent, Patch: p.Patch})
	}
	if r.Verify != "" {
		request.Check = func(ctx context.Context, target lander.CheckTarget) (string, error) {
			return t.verify(ctx, r.Verify, target)
		}
	}
	out, err := t.config.Lander.LandTogether(ctx, request)
	if _, refused := errors.AsType[*refusal.Error](err); refused && r.Into == "" {
		return nil, script.Refuse(script.CodeOption, "land: no branch is checked out here; say which one is meant with into")
	} else if refused {
		return nil, script.Refuse(script.CodeOption, "land: into is %q, which is not a name that a branch can have", script.Clip(r.Into))
	}
	if err != nil {
		return nil, err
	}
	landed := &script.Landing{
		Landed: out.Landed, Ref: out.Ref, Commit: out.Commit, Applied: []string{}, Verified: out.Verified, Reason: out.Reason,
		Conflicts: landingConflicts(t.config.View(), r.Patches, out.Conflicts),
	}
	if out.Landed {
		landed.Applied = commitsOf(r.Patches)
	}
	return landed, nil
}

// subjectTime is how long a landing of a script waits for the subjects of its commits.
const subjectTime = 2 * time.Minute

// awaitSubjects waits until the subjects of the patches' commits are known.
func (t *Tools) awaitSubjects(ctx context.Context, patches []workflow.Patch) {
	ctx, cancel := context.WithTimeout(ctx, subjectTime)
	defer cancel()
	t.config.Await(ctx, commitsOf(patches))
}

// landable refuses a landing that nothing could come of.
func (t *Tools) landable(ctx context.Context, r workflow.LandRequest) error {
	if len(r.Patches) == 0 {
		return script.Refuse(script.CodeOption, "land: no patches are given")
	}
	if err := t.mergeable(ctx, "land", r.Patches); err != nil {
		return err
	}
	seen := map[task.ID]bool{}
	for _, p := range r.Patches {
		if seen[p.Agent] {
			return script.Refuse(script.CodeOption, "land: two patches of %s are named, and each holds all of its work", p.Agent)
		}
		seen[p.Agent] = true
	}
	if r.Verify != "" {
		if err := t.known("land: verify", r.Verify); err != nil {
			return err
		}
	}
	return t.config.MayLand()
}

// verify runs a configured check on the result of a landing. It returns why the check
// failed; empty: it passed.
func (t *Tools) verify(ctx context.Context, name string, target lander.CheckTarget) (failed string, err error) {
	result, err := t.check(ctx, checkRun{name: name, commit: target.Commit, landing: &target})
	if err != nil || result.OK {
		return "", err
	}
	return fmt.Sprintf("check %s failed: exit status %d", name, result.ExitCode), nil
}

// commitsOf are the ids by which a script knows patches.
func commitsOf(patches []workflow.Patch) []string {
	ids := make([]string, len(patches))
	for i, p := range patches {
		ids[i] = p.Commit
	}
	return ids
}

// landingConflicts are conflicts between patches that are named by agents.
func landingConflicts(v *store.View, patches []workflow.Patch, all []merge.Conflict) []script.Conflict {
	commits := map[string]string{}
	for _, a := range v.Agents {
		if p := a.Patch(); p != nil {
			commits[string(a.ID)] = p.Commit
		}
	}
	for _, p := range patches {
		commits[string(p.Agent)] = p.Commit
	}
	for i := range all {
		all[i].ID = commits[all[i].ID]
		for k, id := range all[i].With {
			all[i].With[k] = commits[id]
		}
	}
	return scriptConflicts(all)
}
