package lander

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"agentswarm/swarm/captureref"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/landing/queue"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// commandOf is the text of the check of a candidate.
func (m *queuedMerge) commandOf(c landing.Candidate) string {
	if c.Screen {
		return m.screen
	}
	return m.verify
}

// known implements Known of [landing.GateRequest]: the verdicts that the journal holds and
// that still count, and a pass of an agent's own check on the same tree.
func (m *queuedMerge) known(ctx context.Context, c landing.Candidate) ([]landing.Verdict, error) {
	var found []landing.Verdict
	for _, e := range m.report.View.VerdictsOn(string(c.Tree), m.commandOf(c), string(m.move.tip)) {
		v := journaledVerdict(e)
		m.learn(c, v)
		found = append(found, v)
	}
	if c.Screen || len(c.Set) != 1 {
		return found, nil
	}
	passed, err := m.passedAlone(ctx, c)
	if passed {
		found = append([]landing.Verdict{{Passed: true, Earlier: true}}, found...)
	}
	return found, err
}

// passedAlone reports whether an agent's own check passed on the tree of a candidate.
func (m *queuedMerge) passedAlone(ctx context.Context, c landing.Candidate) (bool, error) {
	config, err := engine.RecordedConfig(m.report.View)
	if err != nil {
		return false, err
	}
	a := m.report.View.Agent(task.ID(c.Set[0]))
	if !landing.PassedAlone(a, config.Verify, m.verify) {
		return false, nil
	}
	tree, err := m.Repo.TreeOf(ctx, git.Hash(a.Patch().Commit))
	return tree == c.Tree, err
}

// tried are the sets that the check has run on, whose verdicts count for this landing.
func (m *queuedMerge) tried() []queue.Tried {
	var sets []queue.Tried
	for _, e := range m.report.View.Tried(m.verify, string(m.move.tip)) {
		ids := make([]string, len(e.Agents))
		for i, id := range e.Agents {
			ids[i] = string(id)
		}
		sets = append(sets, queue.Tried{Set: ids, Passed: e.Passed})
	}
	return sets
}

// learn notes the time and the memory that a check needed. The time that it takes on the branch itself bounds it
// elsewhere.
func (m *queuedMerge) learn(c landing.Candidate, v landing.Verdict) {
	m.slots.Learn(v.Load)
	if len(c.Set) == 0 && v.Passed {
		m.limits.Learn(m.commandOf(c), v.Elapsed)
	}
}

func journaledVerdict(e store.Verdict) landing.Verdict {
	took := time.Duration(e.MS) * time.Millisecond
	return landing.Verdict{
		Passed: e.Passed, Hung: e.Hung, Code: e.Code, Output: e.Output, Elapsed: took,
		Load:    landing.Load{CPU: time.Duration(e.CPUMS) * time.Millisecond, Wall: took, MaxRSS: e.MaxRSS},
		Earlier: e.Earlier, Ahead: e.Ahead, Text: func() string { return landing.CheckOutput(e.Output) },
	}
}

// check runs the command in a workspace of its own and journals the verdict.
func (m *queuedMerge) check(ctx context.Context, c landing.Candidate) (landing.Verdict, error) {
	name, err := m.publish(ctx, c)
	if err != nil {
		return landing.Verdict{}, err
	}
	out := filepath.Join(VerificationsOf(m.Run), name, "verify")
	run, err := m.runMergeCheck(ctx, mergeCheck{
		quarantine: m.work.quarantine, name: name, command: m.commandOf(c), tip: m.move.tip, commit: c.Commit,
		dir: filepath.Dir(out), out: out, limits: &m.limits, low: m.ahead,
	})
	exit := run.exit
	switch {
	case err != nil:
		return landing.Verdict{}, err
	case !run.late && exit.Reason != proc.Exited && exit.Reason != proc.OutputLimit:
		return landing.Verdict{}, &landing.NoVerdictError{Reason: exit.Words()}
	}
	e := &event.Verified{
		Ref: m.report.Ref, Tip: string(m.move.tip), Tree: string(c.Tree), Command: m.commandOf(c), Agents: taskIDs(c.Set),
		Passed: run.passed(), Screen: c.Screen, Code: landing.CodeOf(run.late, exit),
		Hung: landing.Hung(run.late, exit), Output: out + ".out", MS: run.took.Milliseconds(),
		CPUMS: exit.CPU.Milliseconds(), MaxRSS: exit.MaxRSS,
	}
	if m.ahead {
		// The load of a machine on which agents work says nothing of the check, and
		// may be why it hung or why the branch itself failed.
		e.Ahead, e.CPUMS, e.MaxRSS = true, 0, 0
	}
	if !m.ahead || e.Passed || len(c.Set) > 0 && !e.Hung {
		_, err = m.Owner.Append(e)
	}
	v := journaledVerdict(store.Verdict{Verified: e})
	m.learn(c, v)
	return v, err
}

// publish brings a candidate into the repository, where workspaces find it, under
// a ref of its own. The name is not taken by another verification of this run.
func (m *queuedMerge) publish(ctx context.Context, c landing.Candidate) (name string, err error) {
	m.publishing.Lock()
	defer m.publishing.Unlock()
	m.made++
	name = fmt.Sprintf("%s.%d.%d", c.Tree.Short(), time.Now().UnixNano(), m.made)
	if slices.Contains(m.have, c.Commit) {
		return name, nil
	}
	err = m.work.quarantine.Publish(ctx, git.PublishRequest{
		Refs: []git.RefUpdate{{Ref: captureref.Candidates(m.Run.ID) + c.Commit.Short(), New: c.Commit, Any: true}}, Have: m.have,
		Message: "swarm merge " + m.Run.ID,
	})
	m.have = append(m.have, c.Commit)
	return name, err
}

// verified reports a verification that has ended.
func (m *queuedMerge) verified(v landing.Verification) {
	if m.ahead && v.Reused {
		return // it was reported
	}
	m.Lander.report(&Verified{Verification: v, Ref: m.report.Ref, IDs: m.report.IDs(v.Set)})
}

// slow reports a check that is overdue.
func (m *queuedMerge) slow(c landing.Candidate, began time.Time) {
	m.Lander.report(&Overdue{Candidate: c, Ref: m.report.Ref, IDs: m.report.IDs(c.Set), Began: began})
}
