package git

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Change is a path that differs between two trees. Renames are not detected: a
// rename is a deletion and an addition.
type Change struct {
	Path             string
	OldMode, NewMode string // six octal digits; "000000" where absent
	Old, New         Hash
	Status           byte // A, D, M or T
}

// Changes lists the differences between two trees or commits, by path.
func (q *Quarantine) Changes(ctx context.Context, from, to Hash) ([]Change, error) {
	return changes(ctx, q.repo.memo, q.Run, from, to)
}

// changes returns those that are kept, else those that git finds.
func changes(ctx context.Context, m *memo, run func(context.Context, Cmd) ([]byte, error), from, to Hash) ([]Change, error) {
	if all, ok := m.changesOf(from, to); ok {
		return all, nil
	}
	out, err := run(ctx, Cmd{Args: []string{
		"diff-tree", "-r", "-z", "--raw", "--no-renames", "--full-index",
		"--no-ext-diff", "--ignore-submodules=none", string(from), string(to),
	}})
	if err != nil {
		return nil, fmt.Errorf("compare trees: %w", err)
	}
	all, err := parseRaw(out)
	if err == nil {
		m.addChanges(from, to, all)
	}
	return all, err
}

// parseRaw reads `--raw -z` without renames: ":old new hash hash S\0path\0".
func parseRaw(out []byte) ([]Change, error) {
	var changes []Change
	for len(out) > 0 {
		head, rest, ok := bytes.Cut(out, []byte{0})
		path, rest, ok2 := bytes.Cut(rest, []byte{0})
		f := strings.Fields(strings.TrimPrefix(string(head), ":"))
		if !ok || !ok2 || len(f) != 5 || len(f[4]) != 1 {
			return nil, fmt.Errorf("compare trees: unexpected record %q", head)
		}
		changes = append(changes, Change{
			Path: string(path), OldMode: f[0], NewMode: f[1],
			Old: Hash(f[2]), New: Hash(f[3]), Status: f[4][0],
		})
		out = rest
	}
	return changes, nil
}

// WritePatch writes the change between two trees as a patch that `git apply`
// takes: binary, full ids, no renames.
func (q *Quarantine) WritePatch(ctx context.Context, w io.Writer, from, to Hash) error {
	_, err := q.Run(ctx, patchCmd(w, string(from), string(to)))
	if err != nil {
		return fmt.Errorf("write patch: %w", err)
	}
	return nil
}

// WritePatch writes the change between two trees of the repository. An empty
// name stands for the empty tree.
func (r *Repo) WritePatch(ctx context.Context, w io.Writer, from, to Hash) error {
	if _, err := r.Run(ctx, patchCmd(w, r.orEmpty(from), r.orEmpty(to))); err != nil {
		return fmt.Errorf("write patch: %w", err)
	}
	return nil
}

// WritePatchBelow is [Repo.WritePatch] with all paths below a folder, unless that is empty.
func (r *Repo) WritePatchBelow(ctx context.Context, w io.Writer, s PatchBelow) error {
	if s.Below == "" {
		return r.WritePatch(ctx, w, s.From, s.To)
	}
	cmd := patchCmd(w, r.orEmpty(s.From), r.orEmpty(s.To))
	last := len(cmd.Args) - 2
	cmd.Args = slices.Insert(cmd.Args, last, "--src-prefix=a/"+s.Below+"/", "--dst-prefix=b/"+s.Below+"/")
	if _, err := r.Run(ctx, cmd); err != nil {
		return fmt.Errorf("write patch: %w", err)
	}
	return nil
}

// PatchBelow is the change between two trees or commits, whose paths are shown below
// a folder.
type PatchBelow struct {
	From, To Hash
	Below    string
}

// WriteStat writes the change between two trees as git's --stat, in lines of at
// most width columns; 0 is 80. Names are quoted as git does.
func (r *Repo) WriteStat(ctx context.Context, w io.Writer, q StatRequest) error {
	stat := "--stat"
	if q.Width > 0 {
		stat += "=" + strconv.Itoa(q.Width)
	}
	_, err := r.Run(ctx, Cmd{Stdout: w, Args: []string{
		"diff-tree", "-r", stat, "--summary", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color",
		"--ignore-submodules=none", r.orEmpty(q.From), r.orEmpty(q.To),
	}})
	if err != nil {
		return fmt.Errorf("measure change: %w", err)
	}
	return nil
}

// StatRequest is a change that is to be shown in short.
type StatRequest struct {
	From, To Hash // required
	Width    int  // in columns; 0: as git does without a terminal
}

// PathsPatch is the change of some paths between two trees or commits.
type PathsPatch struct {
	From, To Hash     // required
	Paths    []string // as git stores them; required
}

// WritePathsPatch writes the change of some paths as a patch.
func (r *Repo) WritePathsPatch(ctx context.Context, w io.Writer, p PathsPatch) error {
	cmd := patchCmd(w, r.orEmpty(p.From), r.orEmpty(p.To))
	cmd.Args = append(cmd.Args, "--")
	for _, path := range p.Paths {
		cmd.Args = append(cmd.Args, ":(top,literal)"+path)
	}
	if _, err := r.Run(ctx, cmd); err != nil {
		return fmt.Errorf("write patch: %w", err)
	}
	return nil
}

func patchCmd(w io.Writer, from, to string) Cmd {
	args := append([]string{"diff-tree"}, patchArgs()...)
	return Cmd{
		Stdout: w, Args: append(args, from, to),
		Config: []string{"diff.algorithm=myers", "diff.suppressBlankEmpty=false"},
	}
}

// patchArgs make a patch the same wherever it is made.
func patchArgs() []string {
	return []string{
		"-r", "-p", "--binary", "--full-index", "--no-renames",
		"--no-ext-diff", "--no-textconv", "--no-color", "--unified=3",
		"--inter-hunk-context=0", "--submodule=short", "--ignore-submodules=none",
		"--src-prefix=a/", "--dst-prefix=b/", "--diff-algorithm=myers",
	}
}

// Stat is the size of a change. Binary files count as files only.
type Stat struct {
	Files, Added, Deleted int
}

// Stat measures the change between two trees.
func (q *Quarantine) Stat(ctx context.Context, from, to Hash) (Stat, error) {
	return statBy(ctx, q.Run, from, to)
}

// Stat measures the change between two trees of the repository.
func (r *Repo) Stat(ctx context.Context, from, to Hash) (Stat, error) {
	return statBy(ctx, r.Run, from, to)
}

func statBy(ctx context.Context, run func(context.Context, Cmd) ([]byte, error), from, to Hash) (Stat, error) {
	out, err := run(ctx, Cmd{Args: []string{
		"diff-tree", "-r", "-z", "--numstat", "--no-renames", "--no-ext-diff",
		"--no-textconv", string(from), string(to),
	}, Config: []string{"core.bigFileThreshold=256m"}}) // git holds smaller files in memory
	if err != nil {
		return Stat{}, fmt.Errorf("measure change: %w", err)
	}
	var s Stat
	for rec := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		f := strings.SplitN(rec, "\t", 3)
		if len(f) != 3 {
			continue
		}
		s.Files++
		if n, err := strconv.Atoi(f[0]); err == nil {
			s.Added += n
		}
		if n, err := strconv.Atoi(f[1]); err == nil {
			s.Deleted += n
		}
	}
	return s, nil
}
