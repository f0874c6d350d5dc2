package merge

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"agentswarm/worktree/git"
)

// Merge merges patches onto a commit, in memory: no checkout, no index and
// no ref is touched, and all that is made is in the quarantine.
//
// A patch in conflict is left out and does not stop the others. An error
// means that merging could not be done, not that patches do not fit.
func Merge(ctx context.Context, q *git.Quarantine, req Request) (*Outcome, error) {
	return merge(ctx, q, req, q.Repo().ObjectFormat == "sha1")
}

// merge splices where that is allowed and right. Where it is not allowed the
// outcome must be the same, which a test holds it to.
func merge(ctx context.Context, q *git.Quarantine, req Request, splice bool) (_ *Outcome, err error) {
	objects := q.Objects()
	defer func() { err = errors.Join(err, objects.Close()) }()
	tree, _, err := objects.Commit(ctx, req.Onto)
	if err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	m := &merger{
		q: q, objects: objects, req: req, splicing: splice,
		trees: map[string]patchTrees{},
		out:   Outcome{Commit: req.Onto, Tree: tree},
	}
	for _, p := range req.Patches {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("merge: %w", context.Cause(ctx))
		}
		if err := m.add(ctx, p); err != nil {
			return nil, fmt.Errorf("merge patch %s: %w", p.ID, err)
		}
	}
	return &m.out, nil
}

// merger is a merge that is going on.
type merger struct {
	q        *git.Quarantine
	objects  *git.Objects
	req      Request
	splicing bool
	trees    map[string]patchTrees // by id of the patch
	out      Outcome
}

// patchTrees are the two ends of a patch, and what lies between once it was
// asked for.
type patchTrees struct {
	base, result git.Hash
	touched      []string
}

// add merges the next patch onto what there is.
func (m *merger) add(ctx context.Context, p Patch) error {
	if _, again := m.trees[p.ID]; again || p.ID == "" {
		return errors.New("ids must be unique and not empty")
	}
	ends, err := m.ends(ctx, p)
	if err != nil {
		return err
	}
	m.trees[p.ID] = ends
	message, err := p.message()
	if err != nil {
		return err
	}
	tree, spliced, err := m.splice(ctx, ends)
	if err != nil {
		return err
	}
	if !spliced {
		result, err := m.threeWay(ctx, p)
		if err != nil {
			return err
		}
		if !result.clean {
			conflict, err := m.conflict(ctx, p, result)
			m.out.Conflicts = append(m.out.Conflicts, conflict)
			return err
		}
		tree = result.Tree
	}
	if tree == m.out.Tree {
		m.out.Empty = append(m.out.Empty, p.ID)
		return nil
	}
	commit, err := m.objects.WriteCommit(ctx, git.CommitRequest{
		Tree: tree, Parents: []git.Hash{m.out.Commit}, Message: message,
		Author: p.Author, Committer: m.req.Committer,
	})
	if err != nil {
		return err
	}
	m.out.Commit, m.out.Tree = commit, tree
	m.out.Landed = append(m.out.Landed, Landed{ID: p.ID, Commit: commit, Spliced: spliced})
	return nil
}

// ends finds the trees of a patch. Its commit must stand on its base: the
// three-way merge finds the base by that.
func (m *merger) ends(ctx context.Context, p Patch) (patchTrees, error) {
	result, parents, err := m.objects.Commit(ctx, p.Commit)
	if err != nil {
		return patchTrees{}, err
	}
	if !slices.Equal(parents, []git.Hash{p.Base}) {
		return patchTrees{}, fmt.Errorf("commit %s has other parents than its base %s",
			p.Commit.Short(), p.Base.Short())
	}
	base, _, err := m.objects.Commit(ctx, p.Base)
	if err != nil {
		return patchTrees{}, err
	}
	return patchTrees{base: base, result: result}, nil
}
