package merge

import (
	"context"
	"errors"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"agentswarm/worktree/git"
)

// Conflict is a patch that was left out.
type Conflict struct {
	ID string
	// With are the ids of the patches that landed before and touch these
	// paths; empty where it is the target itself.
	With []string
	// Paths are the files, in order.
	Paths []string
	// Hunks are the places in text files where both sides changed lines.
	Hunks []Hunk
	// Modules are the submodules among the paths.
	Modules []ModuleConflict
	// Text describes the conflicts, a line for each.
	Text string
}

// conflict says why a patch was left out.
func (m *merger) conflict(ctx context.Context, p Patch, r merged) (Conflict, error) {
	c := Conflict{ID: p.ID}
	// Where a file and a folder meet, git renames the file to name~side.
	aside := regexp.MustCompile("~(" + string(r.ours) + "|" + string(r.theirs) + `)(_\d+)?$`)
	plain := func(path string) string { return aside.ReplaceAllString(path, "") }
	var stored []string
	for _, s := range r.Stages {
		stored = append(stored, s.Path)
		c.Paths = append(c.Paths, plain(s.Path))
	}
	c.Modules = moduleConflicts(r.Stages, plain)
	named, folders := slices.Clone(c.Paths), false
	var lines []string
	for _, module := range c.Modules {
		lines = append(lines, module.Between("the target", p.name()))
	}
	sides := strings.NewReplacer(string(r.ours), "the target", string(r.theirs), p.name())
	for _, msg := range r.Messages {
		if !strings.HasPrefix(msg.Kind, "CONFLICT") {
			continue
		}
		folders = folders || strings.Contains(msg.Kind, "directory rename")
		if !c.ofModules(msg, plain) { // git gives advice for a checkout that there is not
			lines = append(lines, sides.Replace(msg.Text))
		}
		for _, p := range msg.Paths {
			named = append(named, plain(p))
		}
	}
	if len(c.Paths) == 0 {
		c.Paths = slices.Clone(named)
	}
	c.Paths, named, stored = unique(c.Paths), unique(named), unique(stored)
	c.Text = strings.Join(lines, "\n")
	var err error
	for _, path := range stored {
		hunks, herr := m.hunks(ctx, r, path)
		c.Hunks = append(c.Hunks, hunks...)
		err = errors.Join(err, herr)
	}
	with, werr := m.with(ctx, meeting{paths: named, folders: folders})
	c.With = with
	return c, errors.Join(err, werr)
}

func unique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// meeting is where a patch met something.
type meeting struct {
	paths   []string
	folders bool // git thinks that a whole folder was renamed
}

// with lists the landed patches that touch the paths of a conflict, or a path
// above or below. If a folder was renamed, it lists those that touch any path
// in the folders of these paths.
func (m *merger) with(ctx context.Context, at meeting) ([]string, error) {
	var with []string
	for _, l := range m.out.Landed {
		touched, err := m.touched(ctx, l.ID)
		if err != nil {
			return nil, err
		}
		meets := func(p string) bool {
			return slices.ContainsFunc(at.paths, func(q string) bool {
				return overlap(p, q) || at.folders && path.Dir(p) == path.Dir(q)
			})
		}
		if slices.ContainsFunc(touched, meets) {
			with = append(with, l.ID)
		}
	}
	return with, nil
}

// touched lists the paths of a patch, once.
func (m *merger) touched(ctx context.Context, id string) ([]string, error) {
	t := m.trees[id]
	if t.looked {
		return t.touched, nil
	}
	var err error
	if t.touched, err = m.changed(ctx, "", t.base, t.result); err != nil {
		return nil, err
	}
	t.looked = true
	m.trees[id] = t
	return t.touched, nil
}

// changed lists the files that differ below a folder of two trees, either of
// which may be empty. A conflict asks this of every patch before it, so that
// a process for each would be most of the merge.
func (m *merger) changed(ctx context.Context, above string, from, to git.Hash) ([]string, error) {
	var sides [2][]git.TreeEntry
	for i, tree := range []git.Hash{from, to} {
		if tree == "" {
			continue
		}
		entries, err := m.objects.Tree(ctx, tree)
		if err != nil {
			return nil, err
		}
		sides[i] = entries
	}
	names := map[string]bool{}
	differing(sides[0], sides[1], func(e git.TreeEntry) { names[e.Name] = true })
	var paths []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		var folders [2]git.Hash
		file := false
		for i, entries := range sides {
			switch e := named(entries, name); {
			case e.IsTree():
				folders[i] = e.ID
			case e != git.TreeEntry{}:
				file = true
			}
		}
		if file {
			paths = append(paths, above+name)
		}
		if folders[0] == folders[1] {
			continue
		}
		below, err := m.changed(ctx, above+name+"/", folders[0], folders[1])
		if err != nil {
			return nil, err
		}
		paths = append(paths, below...)
	}
	return paths, nil
}
