package merge

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"agentswarm/merge/takeback"
	"agentswarm/worktree/git"
)

// Undoing is a patch that was left out, since its merge would take lines back that
// landed after its work began.
type Undoing struct {
	ID string
	// With are the ids of the patches that landed before and touch these paths; empty
	// if the lines are of the target itself.
	With  []string
	Paths []string    // the files, in order
	Lines []TakenBack // the first of the lines
	More  int         // how many lines there are beside these
	Tree  git.Hash    // of the merge that was given up
}

// TakenBack is a line of a file that a patch takes back. For a file that is no text it
// has the path only.
type TakenBack struct {
	Path string
	takeback.Line
}

// Resolution is the conflict that a patch resolves.
type Resolution struct {
	Patch git.Hash // the commit that conflicted; empty: it was no conflict of text
	Hunks []Hunk   // the places that were shown, by the lines of the commit the patch stands on
}

// maxUndoing bounds the lines that are named.
const maxUndoing = 20

// undoing finds the lines that a merge of the patch takes back; nil if there are none.
// tree is the result of the merge.
//
// A merge of three versions loses no line that was added since the base, and no merge
// driver runs. So only work that began before the base of its patch is looked at.
func (m *merger) undoing(ctx context.Context, p Patch, tree git.Hash) (*Undoing, error) {
	if p.Origin == "" || p.Origin == p.Base || tree == m.out.Tree {
		return nil, nil
	}
	origin, _, err := m.objects.Commit(ctx, p.Origin)
	if err != nil {
		return nil, err
	}
	landed, err := m.changed(ctx, "", origin, m.out.Tree)
	if err != nil {
		return nil, err
	}
	made, err := m.changed(ctx, "", m.out.Tree, tree)
	if err != nil {
		return nil, err
	}
	g := guard{merger: m, patch: p, origin: origin, tree: tree, made: made, elsewhere: map[string]map[string]int{}}
	u := &Undoing{ID: p.ID, Tree: tree}
	for _, path := range made {
		if !slices.Contains(landed, path) {
			continue
		}
		lines, err := g.file(ctx, path)
		if err != nil {
			return nil, err
		}
		if len(lines) > 0 {
			u.Paths = append(u.Paths, path)
		}
		for _, l := range lines {
			if len(u.Lines) == maxUndoing {
				u.More++
				continue
			}
			u.Lines = append(u.Lines, TakenBack{path, l})
		}
	}
	if len(u.Paths) == 0 {
		return nil, nil
	}
	u.With, err = m.with(ctx, meeting{paths: u.Paths})
	return u, err
}

// guard looks for lines that the merge of a patch takes back.
type guard struct {
	*merger
	patch        Patch
	origin, tree git.Hash                  // at the start of the work, and of the merge
	made         []string                  // files that the patch changes
	elsewhere    map[string]map[string]int // lines that it adds, by file
}

// file finds the lines in a file.
func (g *guard) file(ctx context.Context, path string) ([]takeback.Line, error) {
	var entries [3]git.TreeEntry // before, now, after
	for i, tree := range []git.Hash{g.origin, g.out.Tree, g.tree} {
		e, _, err := g.find(ctx, tree, path)
		if err != nil {
			return nil, err
		}
		entries[i] = e
	}
	before, now, after := entries[0], entries[1], entries[2]
	texts, all, err := g.texts(ctx, entries[:])
	if err != nil {
		return nil, err
	}
	if !all {
		if after == before && now != before {
			return []takeback.Line{{}}, nil
		}
		return nil, nil
	}
	t := takeback.Texts{Before: texts[0], Now: texts[1], After: texts[2]}
	find := takeback.Find
	if r := g.patch.Resolves; r != nil {
		theirs, err := g.theirs(ctx, path)
		if err != nil {
			return nil, err
		}
		find = func(t takeback.Texts) []takeback.Line { return takeback.FindInResolution(t, r.regions(path, theirs)) }
	}
	if lines := find(t); len(lines) == 0 {
		return nil, nil
	}
	if t.Elsewhere, err = g.addedElsewhere(ctx, path); err != nil {
		return nil, err
	}
	return find(t), nil
}

// regions are the places of a file that the resolution was shown.
func (r *Resolution) regions(path string, theirs []string) (out []takeback.Region) {
	for _, h := range r.Hunks {
		if h.Path != path {
			continue
		}
		from := min(max(0, h.TheirsStart-1), len(theirs))
		to := min(from+h.TheirsLines, len(theirs))
		out = append(out, takeback.Region{Start: h.OursStart, Lines: h.OursLines, Theirs: theirs[from:to]})
	}
	return out
}

// theirs are the lines of a file in the patch that conflicted.
func (g *guard) theirs(ctx context.Context, path string) ([]string, error) {
	if g.patch.Resolves.Patch == "" {
		return nil, nil
	}
	tree, _, err := g.objects.Commit(ctx, g.patch.Resolves.Patch)
	if err != nil {
		return nil, err
	}
	e, there, err := g.find(ctx, tree, path)
	if err != nil || !there || !strings.HasPrefix(e.Mode, "100") {
		return nil, err
	}
	text, err := g.text(ctx, e.ID, hunkFile)
	return splitLines(text), err
}

// texts reads versions of a file. all is false if a version is no comparable text.
func (g *guard) texts(ctx context.Context, entries []git.TreeEntry) (texts [][]byte, all bool, err error) {
	for _, e := range entries {
		switch {
		case e == git.TreeEntry{}:
			texts = append(texts, nil)
			continue
		case !strings.HasPrefix(e.Mode, "100"):
			return nil, false, nil
		}
		text, err := g.objects.Blob(ctx, e.ID, hunkFile)
		if tooLarge(err) || bytes.IndexByte(text, 0) >= 0 {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		texts = append(texts, text)
	}
	return texts, true, nil
}

// addedElsewhere counts the lines that the patch adds to other files than this.
func (g *guard) addedElsewhere(ctx context.Context, but string) (map[string]int, error) {
	all := map[string]int{}
	for _, path := range g.made {
		if path == but {
			continue
		}
		added, looked := g.elsewhere[path]
		if !looked {
			var err error
			if added, err = g.added(ctx, path); err != nil {
				return nil, err
			}
			g.elsewhere[path] = added
		}
		for key, n := range added {
			all[key] += n
		}
	}
	return all, nil
}

// added counts the lines that the patch adds to a file.
func (g *guard) added(ctx context.Context, path string) (map[string]int, error) {
	var entries []git.TreeEntry
	for _, tree := range []git.Hash{g.out.Tree, g.tree} {
		e, _, err := g.find(ctx, tree, path)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	texts, all, err := g.texts(ctx, entries)
	if err != nil || !all {
		return nil, err
	}
	added := takeback.Count(texts[1])
	for key, n := range takeback.Count(texts[0]) {
		if added[key] -= n; added[key] <= 0 {
			delete(added, key)
		}
	}
	return added, nil
}
