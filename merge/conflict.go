package merge

import (
	"context"
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"
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
	// Text says what did not go together, one line for each.
	Text string
}

// conflict says why a patch was left out.
func (m *merger) conflict(ctx context.Context, p Patch, r merged) (Conflict, error) {
	c := Conflict{ID: p.ID}
	// Where a file and a folder meet, git renames the file to name~side.
	aside := regexp.MustCompile("~(" + string(r.ours) + "|" + string(r.theirs) + `)(_\d+)?$`)
	var stored []string
	for _, s := range r.Stages {
		stored = append(stored, s.Path)
		c.Paths = append(c.Paths, aside.ReplaceAllString(s.Path, ""))
	}
	named, folders := slices.Clone(c.Paths), false
	var lines []string
	sides := strings.NewReplacer(string(r.ours), "the target", string(r.theirs), p.name())
	for _, msg := range r.Messages {
		if !strings.HasPrefix(msg.Kind, "CONFLICT") {
			continue
		}
		folders = folders || strings.Contains(msg.Kind, "directory rename")
		lines = append(lines, sides.Replace(msg.Text))
		for _, p := range msg.Paths {
			named = append(named, aside.ReplaceAllString(p, ""))
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

// with lists the landed patches that touch the paths of a conflict, a path
// above or one below. Where a folder was renamed, those that touch anything
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
	if t.touched != nil {
		return t.touched, nil
	}
	changes, err := m.q.Changes(ctx, t.base, t.result)
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		t.touched = append(t.touched, c.Path)
	}
	m.trees[id] = t
	return t.touched, nil
}
