package merge

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"agentswarm/worktree/git"
)

// Hunk is a place where two changes of a text file meet. Lines count from 1;
// a side without lines starts where they would be.
type Hunk struct {
	Path                     string
	OursStart, OursLines     int    // in the target
	TheirsStart, TheirsLines int    // in the patch
	Text                     string // both sides between their markers
}

const (
	hunkFile = 4 << 20 // a larger file is named without its hunks
	hunkText = 2 << 10 // shown bytes of a hunk
	hunkMax  = 100     // hunks of a file
	nearby   = 3       // lines around a hunk that tell where it is
)

// hunks parses the conflict markers of a file of a merged tree.
func (m *merger) hunks(ctx context.Context, r merged, file string) ([]Hunk, error) {
	e, ok, err := m.find(ctx, r.Tree, file)
	if err != nil || !ok || !strings.HasPrefix(e.Mode, "100") {
		return nil, err
	}
	text, err := m.text(ctx, e.ID, hunkFile)
	if err != nil {
		return nil, err
	}
	found := parseHunks(text, string(r.ours), string(r.theirs))
	if len(found) == 0 {
		return nil, nil
	}
	var sides [4][]string // by number of the stage
	for _, s := range r.Stages {
		if s.Path == file {
			whole, err := m.text(ctx, s.ID, hunkFile)
			if err != nil {
				return nil, err
			}
			sides[s.Number] = splitLines(whole)
		}
	}
	hunks := make([]Hunk, 0, len(found))
	for _, h := range found {
		hunks = append(hunks, Hunk{
			Path: file, Text: h.shown,
			OursStart: h.locate(sides[2], h.ours), OursLines: len(h.ours),
			TheirsStart: h.locate(sides[3], h.theirs), TheirsLines: len(h.theirs),
		})
	}
	return hunks, nil
}

// text returns a blob with a limit of bytes; nil if the blob is larger.
func (m *merger) text(ctx context.Context, id git.Hash, most int64) ([]byte, error) {
	text, err := m.objects.Blob(ctx, id, most)
	if tooLarge(err) {
		return nil, nil
	}
	return text, err
}

// tooLarge reports whether a blob was not read for its size.
func tooLarge(err error) bool {
	_, large := errors.AsType[*git.SizeError](err)
	return large
}

// find looks a path up in a tree.
func (m *merger) find(ctx context.Context, tree git.Hash, file string) (git.TreeEntry, bool, error) {
	first, rest, deeper := strings.Cut(file, "/")
	entries, err := m.objects.Tree(ctx, tree)
	if err != nil {
		return git.TreeEntry{}, false, err
	}
	i := slices.IndexFunc(entries, func(e git.TreeEntry) bool { return e.Name == first })
	switch {
	case i < 0 || deeper && !entries[i].IsTree():
		return git.TreeEntry{}, false, nil
	case deeper:
		return m.find(ctx, entries[i].ID, rest)
	}
	return entries[i], true, nil
}

// marked is a hunk as its markers show it.
type marked struct {
	before, after []string // lines around it, as far as they are merged
	ours, theirs  []string
	shown         string
}

// locate finds the line of a whole file that a side of the hunk starts at.
// The merged file cannot be counted for that: outside of hunks it has lines
// of both. The best place is where most lines around agree; they are the
// same on both sides next to the hunk.
func (h *marked) locate(whole, side []string) int {
	at, best := 0, -1
	for i := 0; i+len(side) <= len(whole); i++ {
		if !slices.Equal(whole[i:i+len(side)], side) {
			continue
		}
		score := 0
		for k := 1; k <= len(h.before) && k <= i && whole[i-k] == h.before[len(h.before)-k]; k++ {
			score++
		}
		rest := whole[i+len(side):]
		for k := 0; k < len(h.after) && k < len(rest) && rest[k] == h.after[k]; k++ {
			score++
		}
		// The ends of a file match the ends of the merged file.
		if i == 0 && len(h.before) == 0 {
			score++
		}
		if len(rest) == 0 && len(h.after) == 0 {
			score++
		}
		if score > best {
			at, best = i, score
		}
	}
	return at + 1
}

// splitLines splits a text into lines without their ends: the last line of a
// merged file has an end even if it has none on its side.
func splitLines(text []byte) []string {
	var list []string
	for line := range bytes.Lines(text) {
		list = append(list, strings.TrimSuffix(string(line), "\n"))
	}
	return list
}

// parseHunks finds the conflict markers that name the two sides, which no file
// has by chance. Only the separator between the sides is plain: if a file has
// such a line itself, the first counts.
func parseHunks(content []byte, ours, theirs string) []marked {
	const outside, inOurs, inBase, inTheirs = 0, 1, 2, 3
	var found []marked
	var last []string
	var h marked
	var shown bytes.Buffer
	side := strings.NewReplacer(ours, "target", theirs, "patch")
	state := outside
	for raw := range bytes.Lines(content) {
		line := string(raw)
		text := strings.TrimSuffix(line, "\n")
		bare := strings.TrimRight(line, "\r\n")
		if state != outside && shown.Len()+len(line) <= hunkText {
			shown.WriteString(side.Replace(line))
		}
		switch {
		case state == outside && strings.HasPrefix(bare, "<<<<<<< "+ours):
			state, h = inOurs, marked{before: last}
			shown.Reset()
			shown.WriteString(side.Replace(line))
			last = nil
		case state == inOurs && strings.HasPrefix(bare, "||||||| "):
			state = inBase // the style zdiff3 shows it
		case (state == inOurs || state == inBase) && bare == "=======":
			state = inTheirs
		case state == inTheirs && strings.HasPrefix(bare, ">>>>>>> "+theirs):
			state = outside
			h.shown = strings.ToValidUTF8(shown.String(), "\uFFFD")
			if found = append(found, h); len(found) == hunkMax {
				return found
			}
		case state == inBase:
		case state == inOurs:
			h.ours = append(h.ours, text)
		case state == inTheirs:
			h.theirs = append(h.theirs, text)
		default:
			last = append(last[max(0, len(last)-nearby+1):len(last):len(last)], text)
			if n := len(found); n > 0 && len(found[n-1].after) < nearby {
				found[n-1].after = append(found[n-1].after, text)
			}
		}
	}
	return found
}
