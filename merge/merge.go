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
	return merge(ctx, q, req, quick)
}

// way is how patches are merged. The outcome must be the same whichever it
// is, which tests hold it to.
type way int

const (
	plain  way = iota // a git process for each
	asking            // a single git process for all
	quick             // in process where that is right, else as asking
)

func merge(ctx context.Context, q *git.Quarantine, req Request, by way) (_ *Outcome, err error) {
	objects, ask := q.Objects(), q.Merger()
	defer func() { err = errors.Join(err, ask.Close(), objects.Close()) }()
	objects.Hold()
	tree, _, err := objects.Commit(ctx, req.Onto)
	if err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	m := &merger{
		q: q, objects: objects, ask: ask, req: req, by: by,
		trees: map[string]patchTrees{}, bases: map[git.Hash]git.Hash{},
		out: Outcome{Commit: req.Onto, Tree: tree},
	}
	for _, p := range req.Patches {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("merge: %w", context.Cause(ctx))
		}
		if err := m.add(ctx, p); err != nil {
			return nil, fmt.Errorf("merge patch %s: %w", p.ID, err)
		}
	}
	if err := m.squash(ctx); err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	if err := objects.Flush(); err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	return &m.out, nil
}

// merger is a merge that is going on.
type merger struct {
	q       *git.Quarantine
	objects *git.Objects // hold new objects in memory until git needs them
	ask     *git.Merger
	req     Request
	by      way
	trees   map[string]patchTrees // by id of the patch
	bases   map[git.Hash]git.Hash // trees of the bases of patches
	landed  []Patch               // those that the single commit is made of
	out     Outcome
}

// patchTrees are the trees before and after a patch, and the paths between them
// once they were computed.
type patchTrees struct {
	base, result git.Hash
	touched      []string
	looked       bool // touched is computed
}

// add merges the next patch onto the present result.
func (m *merger) add(ctx context.Context, p Patch) error {
	if _, again := m.trees[p.ID]; again || p.ID == "" {
		return errors.New("ids must be unique and not empty")
	}
	ends, err := m.ends(ctx, p)
	if err != nil {
		return err
	}
	if p, ends, err = m.rest(ctx, p, ends); err != nil {
		return err
	}
	m.trees[p.ID] = ends
	if conflict, err := m.unresolved(ctx, p); err != nil || conflict != nil {
		if err == nil {
			m.out.Conflicts = append(m.out.Conflicts, *conflict)
		}
		return err
	}
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
	if undoing, err := m.undoing(ctx, p, tree); err != nil || undoing != nil {
		if err == nil {
			m.out.Undoing = append(m.out.Undoing, *undoing)
		}
		return err
	}
	if tree == m.out.Tree {
		m.out.Empty = append(m.out.Empty, p.ID)
		return nil
	}
	if m.req.Squash != nil {
		m.out.Tree = tree
		m.landed = append(m.landed, p)
		m.out.Landed = append(m.out.Landed, Landed{ID: p.ID, Spliced: spliced})
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

// squash makes a single commit of all patches, where the request wants that.
func (m *merger) squash(ctx context.Context) error {
	if m.req.Squash == nil || len(m.landed) == 0 {
		return nil
	}
	var err error
	m.out.Commit, err = m.commitOnto(ctx, m.req.Squash.squashed(m.landed), m.out.Tree)
	for i := range m.out.Landed {
		m.out.Landed[i].Commit = m.out.Commit
	}
	return err
}

// commitOnto commits a tree on top of the target, with the message and the author
// of a patch.
func (m *merger) commitOnto(ctx context.Context, p Patch, tree git.Hash) (git.Hash, error) {
	message, err := p.message()
	if err != nil {
		return "", err
	}
	return m.objects.WriteCommit(ctx, git.CommitRequest{
		Tree: tree, Parents: []git.Hash{m.req.Onto}, Message: message,
		Author: p.Author, Committer: m.req.Committer,
	})
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
	base, ok := m.bases[p.Base] // most patches have the same
	if !ok {
		if base, _, err = m.objects.Commit(ctx, p.Base); err != nil {
			return patchTrees{}, err
		}
		m.bases[p.Base] = base
	}
	return patchTrees{base: base, result: result}, nil
}
