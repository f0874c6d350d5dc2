package merge

import (
	"context"
	"slices"

	"agentswarm/worktree/git"
)

// splice merges a patch onto the present tree without git, and reports whether
// it could.
//
// It walks three trees at once: the patch's base, the target, and the patch. If
// only one side changed an entry, that side's entry is taken. If both changed
// it, and it is a folder on both sides, new or old, its entries are merged in
// turn. Any other case ends the splice. So it ends where both sides touch the
// same path, also in the same way; where one side has a file and the other a
// folder; and where one side removed a folder that the other changed. In the
// last case git could see a renamed folder, and in the first two a conflict is
// possible. Git has no choice left in all other cases, and a renamed file that
// the other side did not touch merges like any other.
func (m *merger) splice(ctx context.Context, p patchTrees) (git.Hash, bool, error) {
	if m.by != quick {
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
	var sides [3][]git.TreeEntry
	for i, tree := range []git.Hash{f.base, f.ours, f.theirs} {
		if tree == "" {
			continue
		}
		entries, err := m.objects.Tree(ctx, tree)
		if err != nil || !orderly(entries) {
			return "", false, err
		}
		sides[i] = entries
	}
	merged, ok, err := m.spliceEntries(ctx, sides[0], sides[1], sides[2])
	if !ok || err != nil || len(merged) == 0 {
		return "", ok, err
	}
	tree, err := m.objects.RewriteTree(ctx, f.ours, merged)
	return tree, err == nil, err
}

// orderly reports whether a tree is in git's order, without two entries of a
// name. Old tools made others, which are for git to judge.
func orderly(entries []git.TreeEntry) bool {
	for i := 1; i < len(entries); i++ {
		if git.CompareEntries(entries[i-1], entries[i]) >= 0 {
			return false
		}
	}
	return true
}

// spliceEntries merges the entries of a folder: the patch's changes replace
// ours, and all other entries are ours.
func (m *merger) spliceEntries(ctx context.Context, base, ours, theirs []git.TreeEntry) ([]git.TreeEntry, bool, error) {
	changed := map[string]bool{}
	differing(base, theirs, func(e git.TreeEntry) { changed[e.Name] = true })
	merged := make([]git.TreeEntry, 0, len(ours)+len(changed))
	for _, e := range ours {
		if !changed[e.Name] {
			merged = append(merged, e)
		}
	}
	for name := range changed {
		e, ok, err := m.spliceEntry(ctx, named(base, name), named(ours, name), named(theirs, name))
		if !ok || err != nil {
			return nil, false, err
		}
		if e != (git.TreeEntry{}) {
			at, _ := slices.BinarySearchFunc(merged, e, git.CompareEntries)
			merged = slices.Insert(merged, at, e)
		}
	}
	return merged, true, nil
}

// differing calls f for every entry that only one of two lists has.
func differing(a, b []git.TreeEntry, f func(git.TreeEntry)) {
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(a) > 0 && len(b) > 0 && a[0] == b[0]:
			a, b = a[1:], b[1:]
		case len(b) == 0 || len(a) > 0 && git.CompareEntries(a[0], b[0]) <= 0:
			f(a[0])
			a = a[1:]
		default:
			f(b[0])
			b = b[1:]
		}
	}
}

// named finds the entry of a name, be it a file or a folder.
func named(entries []git.TreeEntry, name string) git.TreeEntry {
	for _, mode := range []string{"", git.TreeMode} {
		like := git.TreeEntry{Name: name, Mode: mode}
		if i, ok := slices.BinarySearchFunc(entries, like, git.CompareEntries); ok {
			return entries[i]
		}
	}
	return git.TreeEntry{}
}

// spliceEntry merges the entries of a single name. The zero value is a missing
// entry.
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
