package merge

import (
	"context"
	"slices"

	"agentswarm/worktree/git"
)

// splice merges a patch onto the tree there is without git, and reports
// whether it could.
//
// It goes down three trees at once: the patch's base, the target, and the
// patch. An entry that one side left alone is taken from the other; one that
// both changed is gone into where it is a folder on both sides, new or old.
// Anything else stops it. So it stops where both touch one path, be it in
// the same way; where one side has a file and the other a folder; and where
// one side took away a folder in which the other did something. The last is
// what git could see as a renamed folder, and the first two are where it
// could conflict: past them there is nothing left for git to decide, and a
// renamed file that the other side did not touch merges like any other.
func (m *merger) splice(ctx context.Context, p patchTrees) (git.Hash, bool, error) {
	if !m.splicing {
		return "", false, nil
	}
	tree, ok, err := m.spliceFolder(ctx, fork{base: p.base, ours: m.out.Tree, theirs: p.result})
	if ok && tree == "" {
		tree = m.q.Repo().EmptyTree()
	}
	return tree, ok, err
}

// fork is a folder in three trees; base is empty where both sides made it.
type fork struct{ base, ours, theirs git.Hash }

// spliceFolder returns the merged folder, an empty name where nothing is
// left in it.
func (m *merger) spliceFolder(ctx context.Context, f fork) (git.Hash, bool, error) {
	switch {
	case f.theirs == f.base:
		return f.ours, true, nil
	case f.ours == f.base:
		return f.theirs, true, nil
	}
	var sides [3]map[string]git.TreeEntry
	var names []string
	for i, tree := range []git.Hash{f.base, f.ours, f.theirs} {
		sides[i] = map[string]git.TreeEntry{}
		if tree == "" {
			continue
		}
		entries, err := m.objects.Tree(ctx, tree)
		if err != nil {
			return "", false, err
		}
		for _, e := range entries {
			sides[i][e.Name] = e
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	merged := make([]git.TreeEntry, 0, len(names))
	for _, name := range names {
		e, ok, err := m.spliceEntry(ctx, sides[0][name], sides[1][name], sides[2][name])
		if !ok || err != nil {
			return "", false, err
		}
		if e != (git.TreeEntry{}) {
			merged = append(merged, e)
		}
	}
	if len(merged) == 0 {
		return "", true, nil
	}
	tree, err := m.objects.WriteTree(ctx, merged)
	return tree, err == nil, err
}

// spliceEntry merges one name. An entry that is not there is the zero value.
func (m *merger) spliceEntry(ctx context.Context, base, ours, theirs git.TreeEntry) (git.TreeEntry, bool, error) {
	none := git.TreeEntry{}
	switch {
	case theirs == base:
		return ours, true, nil
	case ours == base:
		return theirs, true, nil
	case !ours.IsTree() || !theirs.IsTree() || base != none && !base.IsTree():
		return none, false, nil
	}
	tree, ok, err := m.spliceFolder(ctx, fork{base: base.ID, ours: ours.ID, theirs: theirs.ID})
	if !ok || err != nil || tree == "" {
		return none, ok, err
	}
	return git.TreeEntry{Name: ours.Name, Mode: git.TreeMode, ID: tree}, true, nil
}
