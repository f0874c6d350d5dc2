package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// MergeResult is the result of a three-way merge of two commits.
type MergeResult struct {
	// Tree holds the merge; where there are conflicts, files with markers.
	Tree Hash
	// Stages are the versions that did not go together; empty when clean.
	Stages []Stage
	// Messages are git's reports about paths and the reasons of conflicts.
	Messages []MergeMessage
	// Clean is set when nothing conflicts.
	Clean bool
}

// Stage is one of up to three versions of a path in conflict.
type Stage struct {
	Path   string
	Mode   string
	ID     Hash
	Number int // 1 the base's, 2 ours, 3 theirs
}

// MergeMessage is a report of git about some paths.
type MergeMessage struct {
	Paths []string
	Kind  string // stable: "Auto-merging", "CONFLICT (contents)", …
	Text  string
}

// CrashError says that git gave up on a merge by a fault of its own. It does
// so on the same commits every time.
type CrashError struct{ Reason string }

func (e *CrashError) Error() string { return "git crashed: " + oneLine(e.Reason) }

// crashed matches a failed assertion of the merge on stderr. A killed git
// prints none, and a retry may succeed.
var crashed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`merge-\w+\.c:\d+`) })

// MergeTree merges two commits from their common ancestor, in memory.
//
// The quarantine's configuration names the merge drivers; a frozen
// configuration names none. Git 2.39 fails an assertion on some renames where a
// file met a link: MergeTree then retries without the search for renames. It
// returns a [*CrashError] if the retry fails too.
func (q *Quarantine) MergeTree(ctx context.Context, ours, theirs Hash) (*MergeResult, error) {
	return q.mergeStyled(ctx, ours, theirs, "merge")
}

// MergeTreeWithBase is [Quarantine.MergeTree] with conflict markers that show
// the lines of the common ancestor, too (the style zdiff3 of git).
func (q *Quarantine) MergeTreeWithBase(ctx context.Context, ours, theirs Hash) (*MergeResult, error) {
	return q.mergeStyled(ctx, ours, theirs, "zdiff3")
}

func (q *Quarantine) mergeStyled(ctx context.Context, ours, theirs Hash, style string) (*MergeResult, error) {
	style = "merge.conflictStyle=" + style // the last value given counts
	m, err := q.mergeTree(ctx, ours, theirs, "merge.renames=true", "diff.renames=true", style)
	var crash *CrashError
	if errors.As(err, &crash) {
		m, err = q.mergeTree(ctx, ours, theirs, "merge.renames=false", "diff.renames=false", style)
	}
	if err != nil {
		return nil, fmt.Errorf("merge %s: %w", theirs.Short(), err)
	}
	return m, nil
}

// mergeTree merges once. Its settings are given here and not left to the user's
// configuration, so that a merge is the same for all users.
func (q *Quarantine) mergeTree(ctx context.Context, ours, theirs Hash, config ...string) (*MergeResult, error) {
	out, err := q.Run(ctx, Cmd{
		Args:   []string{"merge-tree", "--write-tree", "-z", string(ours), string(theirs)},
		Config: append(mergeConfig(), config...),
	})
	var bad *Error
	switch {
	case errors.As(err, &bad) && bad.Code == -1 && crashed().MatchString(bad.Stderr):
		return nil, &CrashError{Reason: bad.Stderr}
	case err != nil && (bad == nil || bad.Code != 1):
		return nil, err
	}
	m, perr := parseMergeTree(out)
	if perr != nil {
		return nil, perr
	}
	m.Clean = err == nil
	return m, nil
}

// mergeConfig decides how merges are made, but for renames.
func mergeConfig() []string {
	return []string{
		"merge.directoryRenames=conflict", "merge.renameLimit=7000",
		"merge.renormalize=false", "merge.conflictStyle=merge", "merge.verbosity=2",
	}
}

// parseMergeTree reads `merge-tree --write-tree -z`: the tree, the versions
// in conflict, an empty record, messages. The last two are left out where
// there is no conflict. Advice about submodules may follow, without a NUL.
func parseMergeTree(out []byte) (*MergeResult, error) {
	out = out[:bytes.LastIndexByte(out, 0)+1]
	f := &fields{rest: out}
	m := &MergeResult{}
	var err error
	if m.Tree, err = parseTreeName(f.next()); err != nil {
		return nil, err
	}
	for !f.done() {
		rec := f.next()
		if rec == "" {
			break
		}
		s, err := parseStage(rec)
		if err != nil {
			return nil, err
		}
		m.Stages = append(m.Stages, s)
	}
	for !f.done() {
		n, err := strconv.Atoi(f.next())
		if err != nil || n < 0 || n > len(f.rest) {
			return nil, errors.New("git merge-tree: unexpected count of paths")
		}
		var msg MergeMessage
		for range n {
			msg.Paths = append(msg.Paths, f.next())
		}
		msg.Kind = f.next()
		if f.done() {
			return nil, errors.New("git merge-tree: a message without text")
		}
		msg.Text = strings.TrimSuffix(f.next(), "\n")
		m.Messages = append(m.Messages, msg)
	}
	return m, nil
}

// parseTreeName reads the tree that a merge came to.
func parseTreeName(text string) (Hash, error) {
	if strings.Trim(text, "0123456789abcdef") != "" || len(text) < 40 {
		return "", fmt.Errorf("git merge-tree: unexpected tree %.80q", text)
	}
	return Hash(text), nil
}

// parseStage reads "mode id stage\tpath".
func parseStage(rec string) (Stage, error) {
	head, path, ok := strings.Cut(rec, "\t")
	f := strings.Fields(head)
	if !ok || len(f) != 3 || path == "" {
		return Stage{}, fmt.Errorf("git merge-tree: unexpected record %.80q", rec)
	}
	n, err := strconv.Atoi(f[2])
	if err != nil || n < 1 || n > 3 {
		return Stage{}, fmt.Errorf("git merge-tree: unexpected stage in %.80q", rec)
	}
	return Stage{Path: path, Mode: f[0], ID: Hash(f[1]), Number: n}, nil
}

// fields splits text into fields that end in NUL.
type fields struct{ rest []byte }

func (f *fields) done() bool { return len(f.rest) == 0 }

func (f *fields) next() string {
	field, rest, _ := bytes.Cut(f.rest, []byte{0})
	f.rest = rest
	return string(field)
}
