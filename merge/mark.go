package merge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"agentswarm/worktree/git"
)

// Labels are the names that conflict markers give to the three versions.
type Labels struct {
	Ours   string `json:"ours"`   // the branch, such as "main 1a2b3c4d5e"
	Base   string `json:"base"`   // the version that both sides changed
	Theirs string `json:"theirs"` // the patch, such as "a7 (web)"
}

// MarkRequest asks for a patch on top of a commit, conflicts included.
type MarkRequest struct {
	Onto      git.Hash // required
	Patch     Patch    // required
	Labels    Labels   // required
	Committer git.Person
}

// Marked is a patch on top of a commit. Files that conflict hold markers.
type Marked struct {
	// Commit has the target as its only parent. It equals the target where the
	// patch changes nothing there.
	Commit git.Hash
	// Conflict is nil where the patch fits.
	Conflict *Conflict
	// Marks are the files with markers, by path in order.
	Marks []MarkedFile
}

// Markers are conflict markers that were handed out.
type Markers struct {
	Labels
	Files []MarkedFile
}

// MarkedFile is a file that holds conflict markers.
type MarkedFile struct {
	Path string `json:"path"`
	// Separators counts the lines of "=======" that belong to the file itself.
	Separators int `json:"separators,omitempty"`
}

// markedMax bounds a file whose markers are named and looked for, in bytes.
const markedMax = 64 << 20

// Mark merges a patch onto a commit, in memory. Where lines conflict, both
// versions and their base stay in the file between markers. All new objects are
// in the quarantine.
func Mark(ctx context.Context, q *git.Quarantine, req MarkRequest) (_ *Marked, err error) {
	objects := q.Objects()
	defer func() { err = errors.Join(err, objects.Close()) }()
	tree, _, err := objects.Commit(ctx, req.Onto)
	if err != nil {
		return nil, fmt.Errorf("mark conflicts: %w", err)
	}
	m := &merger{
		q: q, objects: objects, ask: q.Merger(), by: plain, req: Request{Onto: req.Onto, Committer: req.Committer},
		trees: map[string]patchTrees{}, bases: map[git.Hash]git.Hash{}, out: Outcome{Commit: req.Onto, Tree: tree},
	}
	marked, err := m.mark(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("mark conflicts of patch %s: %w", req.Patch.ID, err)
	}
	return marked, nil
}

func (m *merger) mark(ctx context.Context, req MarkRequest) (*Marked, error) {
	ends, err := m.ends(ctx, req.Patch)
	if err != nil {
		return nil, err
	}
	m.trees[req.Patch.ID] = ends
	result, err := m.threeWayBy(ctx, req.Patch, m.q.MergeTreeWithBase)
	if err != nil {
		return nil, err
	}
	out, tree := &Marked{Commit: req.Onto}, result.Tree
	if !result.clean {
		conflict, err := m.conflict(ctx, req.Patch, result)
		if err != nil {
			return nil, err
		}
		out.Conflict = &conflict
		if tree, out.Marks, err = m.nameMarkers(ctx, result, req); err != nil {
			return nil, err
		}
	}
	if tree == m.out.Tree {
		return out, nil
	}
	out.Commit, err = m.commitOnto(ctx, req.Patch, tree)
	return out, err
}

// nameMarkers gives the markers of a merged tree names that people know. Git
// names the sides by commits.
func (m *merger) nameMarkers(ctx context.Context, r merged, req MarkRequest) (git.Hash, []MarkedFile, error) {
	var paths []string
	for _, s := range r.Stages {
		paths = append(paths, s.Path)
	}
	tree := r.Tree
	var marks []MarkedFile
	for _, path := range unique(paths) {
		e, ok, err := m.find(ctx, tree, path)
		if err != nil {
			return "", nil, err
		}
		if !ok || !strings.HasPrefix(e.Mode, "100") {
			continue
		}
		text, err := m.text(ctx, e.ID, markedMax)
		if err != nil {
			return "", nil, err
		}
		named, separators, found := renameMarkers(text, markerNames{r: r, base: req.Patch.Base, labels: req.Labels})
		if !found {
			continue
		}
		id, err := m.objects.WriteBlob(ctx, named)
		if err != nil {
			return "", nil, err
		}
		if tree, err = m.replace(ctx, tree, path, id); err != nil {
			return "", nil, err
		}
		marks = append(marks, MarkedFile{Path: path, Separators: separators})
	}
	return tree, marks, nil
}

// replace puts another blob at the path of a file that a tree has.
func (m *merger) replace(ctx context.Context, tree git.Hash, path string, id git.Hash) (git.Hash, error) {
	first, rest, deeper := strings.Cut(path, "/")
	entries, err := m.objects.Tree(ctx, tree)
	if err != nil {
		return "", err
	}
	entries = slices.Clone(entries)
	i := slices.IndexFunc(entries, func(e git.TreeEntry) bool { return e.Name == first })
	if i < 0 {
		return "", fmt.Errorf("no %s in tree %s", path, tree.Short())
	}
	if deeper {
		if id, err = m.replace(ctx, entries[i].ID, rest, id); err != nil {
			return "", err
		}
	}
	entries[i].ID = id
	return m.objects.WriteTree(ctx, entries)
}

// markerNames are the names that git gives to the sides, and ours for them.
type markerNames struct {
	r      merged
	base   git.Hash
	labels Labels
}

// marker splits a line into a run of seven or more equal signs and the rest. An
// attribute of git can make markers longer.
func marker(line []byte) (sign byte, rest []byte, ok bool) {
	if len(line) == 0 || !bytes.ContainsRune([]byte("<|=>"), rune(line[0])) {
		return 0, nil, false
	}
	rest = bytes.TrimLeft(line, string(line[:1]))
	if len(line)-len(rest) < 7 {
		return 0, nil, false
	}
	return line[0], rest, true
}

// renameMarkers replaces the names in the markers of a merged file. It counts
// the separators that are no marker, and reports whether there are markers.
func renameMarkers(text []byte, n markerNames) (_ []byte, separators int, found bool) {
	var out bytes.Buffer
	inside := false
	for line := range bytes.Lines(text) {
		sign, rest, ok := marker(line)
		name := strings.TrimPrefix(string(rest), " ")
		to := ""
		switch {
		case !ok:
		case sign == '<' && strings.HasPrefix(name, string(n.r.ours)):
			to = n.labels.Ours + strings.TrimPrefix(name, string(n.r.ours))
			inside, found = true, true
		case sign == '>' && inside && strings.HasPrefix(name, string(n.r.theirs)):
			to = n.labels.Theirs + strings.TrimPrefix(name, string(n.r.theirs))
			inside = false
			separators-- // that between the sides
		case sign == '|' && inside && isBase(name, n.base):
			to = n.labels.Base + "\n"
			if strings.HasSuffix(name, "\r\n") {
				to = n.labels.Base + "\r\n"
			}
		case sign == '=' && strings.TrimRight(name, "\r\n") == "":
			separators++
		}
		if to == "" {
			out.Write(line)
			continue
		}
		out.Write(line[:len(line)-len(rest)])
		out.WriteString(" " + to)
	}
	return out.Bytes(), max(0, separators), found
}

// isBase reports whether git calls the ancestor so: by the start of its name,
// perhaps with a path.
func isBase(name string, base git.Hash) bool {
	name, _, _ = strings.Cut(strings.TrimRight(name, "\r\n"), ":")
	return len(name) >= 4 && strings.HasPrefix(string(base), name)
}

// UnresolvedRequest asks which files still hold conflict markers.
type UnresolvedRequest struct {
	From, To git.Hash     // required; the target, and the commit on top of it
	Labels   Labels       // those of the markers
	Marks    []MarkedFile // the files that were handed out with markers
}

// Unresolved lists the files of a commit that still hold a conflict marker of
// ours, in order: a line that names a side, or a separator that the file did
// not have. Files of others with markers of their own are none of them.
func Unresolved(ctx context.Context, q *git.Quarantine, req UnresolvedRequest) (_ []string, err error) {
	objects := q.Objects()
	defer func() { err = errors.Join(err, objects.Close()) }()
	m := &merger{q: q, objects: objects}
	changes, err := q.Changes(ctx, req.From, req.To)
	if err != nil {
		return nil, fmt.Errorf("look for conflict markers: %w", err)
	}
	own := map[string]int{} // separators of the files that were handed out
	for _, f := range req.Marks {
		own[f.Path] = f.Separators
	}
	var left []string
	for _, c := range changes {
		if !strings.HasPrefix(c.NewMode, "100") {
			continue
		}
		text, err := m.text(ctx, c.New, markedMax)
		if err != nil {
			return nil, fmt.Errorf("look for conflict markers in %s: %w", c.Path, err)
		}
		separators, handed := own[c.Path]
		if !handed {
			separators = anyNumber
		}
		if unresolved(text, req.Labels, separators) {
			left = append(left, c.Path)
		}
	}
	return unique(left), nil
}

// unresolved is the conflict of a patch whose files still hold markers; nil if none does.
func (m *merger) unresolved(ctx context.Context, p Patch) (*Conflict, error) {
	if p.Markers == nil {
		return nil, nil
	}
	ends := m.trees[p.ID]
	changed, err := m.changed(ctx, "", ends.base, ends.result)
	if err != nil {
		return nil, err
	}
	c := &Conflict{ID: p.ID, Text: "conflict markers are left in it"}
	for _, path := range changed {
		e, there, err := m.find(ctx, ends.result, path)
		if err != nil {
			return nil, err
		}
		if !there || !strings.HasPrefix(e.Mode, "100") {
			continue
		}
		text, err := m.text(ctx, e.ID, markedMax)
		if err != nil {
			return nil, err
		}
		separators := anyNumber
		if at := slices.IndexFunc(p.Markers.Files, func(f MarkedFile) bool { return f.Path == path }); at >= 0 {
			separators = p.Markers.Files[at].Separators
		}
		if unresolved(text, p.Markers.Labels, separators) {
			c.Paths = append(c.Paths, path)
		}
	}
	if len(c.Paths) == 0 {
		return nil, nil
	}
	c.With, err = m.with(ctx, meeting{paths: c.Paths})
	return c, err
}

// anyNumber of separators may be in a file that was handed out without markers.
const anyNumber = -1

// unresolved reports whether a text holds a marker that names a side, or more
// separators than it may have.
func unresolved(text []byte, l Labels, separators int) bool {
	count := 0
	for line := range bytes.Lines(text) {
		sign, rest, ok := marker(line)
		if !ok {
			continue
		}
		name := strings.TrimRight(strings.TrimPrefix(string(rest), " "), "\r\n")
		side := map[byte]string{'<': l.Ours, '|': l.Base, '>': l.Theirs}[sign]
		switch {
		case sign == '=' && name == "":
			count++
		case sign != '=' && (name == side || strings.HasPrefix(name, side+":")):
			return true
		}
	}
	return separators != anyNumber && count > separators
}
