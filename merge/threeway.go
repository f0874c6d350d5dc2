package merge

import (
	"context"
	"errors"
	"slices"
	"strings"

	"agentswarm/worktree/git"
)

// merged is git's result for a patch.
type merged struct {
	*git.MergeResult
	// ours and theirs are the commits that were merged: git calls the sides
	// by them.
	ours, theirs git.Hash
	clean        bool
}

// threeWay lets git merge a patch onto the present tree.
//
// The merge must start from the patch's own base, which need not be in the
// history of the target. A snapshot of uncommitted work is not in it, and its
// content must not land. Git 2.39 cannot be given a base, so the target's tree
// becomes a temporary commit whose parent is the base.
func (m *merger) threeWay(ctx context.Context, p Patch) (merged, error) {
	if m.by == plain {
		return m.threeWayBy(ctx, p, m.q.MergeTree)
	}
	return m.threeWayBy(ctx, p, m.ask.Merge)
}

// mergeTwo merges two commits from their common ancestor.
type mergeTwo func(ctx context.Context, ours, theirs git.Hash) (*git.MergeResult, error)

// threeWayBy is threeWay by a given way to merge two commits.
func (m *merger) threeWayBy(ctx context.Context, p Patch, merge mergeTwo) (merged, error) {
	ours, err := m.objects.WriteCommit(ctx, git.CommitRequest{
		Tree: m.out.Tree, Parents: []git.Hash{p.Base}, Message: "target\n",
		Author: m.req.Committer, Committer: m.req.Committer,
	})
	if err != nil {
		return merged{}, err
	}
	if err := m.objects.Flush(); err != nil {
		return merged{}, err
	}
	result, err := merge(ctx, ours, p.Commit)
	var crash *git.CrashError
	if errors.As(err, &crash) {
		result, err = m.unmergeable(ctx, p, crash)
	}
	if err != nil {
		return merged{}, err
	}
	return merged{MergeResult: result, ours: ours, theirs: p.Commit, clean: result.Clean}, nil
}

// unmergeable is the conflict of a patch that makes git crash: in all paths
// that both sides touch, or that lie above or below such a path.
func (m *merger) unmergeable(ctx context.Context, p Patch, crash *git.CrashError) (*git.MergeResult, error) {
	ends := m.trees[p.ID]
	ours, err := m.q.Changes(ctx, ends.base, m.out.Tree)
	if err != nil {
		return nil, err
	}
	theirs, err := m.q.Changes(ctx, ends.base, ends.result)
	if err != nil {
		return nil, err
	}
	result := &git.MergeResult{Tree: m.out.Tree}
	msg := git.MergeMessage{Kind: "CONFLICT (crash)", Text: crash.Error()}
	for _, c := range theirs {
		if slices.ContainsFunc(ours, func(o git.Change) bool { return overlap(o.Path, c.Path) }) {
			msg.Paths = append(msg.Paths, c.Path)
		}
	}
	result.Messages = []git.MergeMessage{msg}
	return result, nil
}

// overlap reports whether two paths are equal, or whether a path is above the
// other.
func overlap(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}
