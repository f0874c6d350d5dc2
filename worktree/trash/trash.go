// Package trash keeps removed workspaces as entries with a record, and removes old
// entries. It does not decide which workspace goes there.
package trash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentswarm/internal/statefile"
	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
	"agentswarm/worktree/workspace"
)

// Record is the record of an entry of the trash. Swarm removes a folder only if
// it holds a record that names it.
type Record struct {
	Entry     string              `json:"entry"` // the name of the folder
	Time      time.Time           `json:"time"`
	Run       string              `json:"run"`
	Workspace workspace.Workspace `json:"workspace"`
	Commit    git.Hash            `json:"commit,omitempty"`
	// Whole says that the commit holds all of it.
	Whole bool `json:"whole"`
	// Large are files that are too large for the commit: the first of them.
	Large []string `json:"large,omitempty"`
}

const recordName = "swarm-trash.json"

// Trash is the trash as the workspaces of a run use it.
type Trash struct {
	Dir string // the folder of the trash
	Run string // the name of the run
}

// Add makes a folder in the trash and its record.
func (t Trash) Add(r Record) (entry string, err error) {
	r.Time, r.Run = time.Now(), t.Run
	name := fmt.Sprintf("%d-%s-%s", r.Time.Unix(), r.Run, r.Workspace.Name)
	r.Entry = name
	for n := 2; ; n++ {
		entry = filepath.Join(t.Dir, r.Entry)
		err := os.Mkdir(entry, 0o700)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
		r.Entry = fmt.Sprintf("%s.%d", name, n)
	}
	text, err := json.Marshal(r)
	if err == nil {
		err = disk.WriteFile(filepath.Join(entry, recordName), append(text, '\n'))
	}
	if err != nil {
		// Without a record swarm would not recognize it.
		return "", errors.Join(err, disk.RemoveAll(entry))
	}
	return entry, nil
}

// Find finds where an earlier try put a workspace; empty: nowhere.
func (t Trash) Find(w workspace.Workspace) (string, error) {
	entries, err := os.ReadDir(t.Dir)
	if err != nil {
		return "", err
	}
	for _, e := range slices.Backward(entries) {
		if !strings.Contains(e.Name(), "-"+w.Name) {
			continue
		}
		entry := filepath.Join(t.Dir, e.Name())
		r, err := Read(entry)
		if err != nil || r.Workspace != w {
			continue
		}
		if _, err := os.Lstat(filepath.Join(entry, "tree")); err == nil {
			return entry, nil
		}
	}
	return "", nil
}

// Read reads the record of an entry.
func Read(entry string) (Record, error) {
	var r Record
	text, err := statefile.Read(entry, filepath.Join(entry, recordName))
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err == nil && r.Entry != filepath.Base(entry) {
		err = fmt.Errorf("it is the record of %q", r.Entry)
	}
	if err != nil {
		return Record{}, fmt.Errorf("read the record of %s: %w", filepath.Base(entry), err)
	}
	return r, nil
}

// SweepRequest says how much the trash may keep.
type SweepRequest struct {
	Trash  string        // required
	Now    time.Time     // required
	Age    time.Duration // required; older entries go
	Size   int64         // required; beyond it the oldest go
	Lacks  Room          // room to make on the disk; the oldest go
	DryRun bool          // only list the entries to remove
}

// Room is space of a disk.
type Room struct{ Bytes, Files int64 }

// Swept is an entry of the trash.
type Swept struct {
	Path string
	Run  string
	Name string // of the workspace
	Time time.Time
	Size int64 // bytes on the disk
	// Large are files of which this is the only copy: the first of them.
	Large []string

	files    int64
	captured bool // a commit has the rest
}

// Sweep removes old workspaces from the trash, the oldest first. It leaves alone
// all that it did not put there itself. An entry with large files goes by its age
// only, and does not count for the size. Entries without a commit do not go to
// make room. Sweep returns the entries that went, and those with large files that
// stay although the trash is too large or room is lacking.
func Sweep(ctx context.Context, r SweepRequest) (gone, kept []Swept, err error) {
	all, err := listTrash(ctx, r.Trash)
	if err != nil {
		return nil, nil, fmt.Errorf("sweep the trash: %w", err)
	}
	var total int64
	old := func(s Swept) bool { return r.Now.Sub(s.Time) > r.Age }
	large := func(s Swept) bool { return len(s.Large) > 0 && !old(s) }
	for _, s := range all {
		if !large(s) {
			total += s.Size
		}
	}
	lacks := r.Lacks
	for _, s := range all {
		short := lacks.Bytes > 0 || lacks.Files > 0
		switch {
		case old(s):
		case large(s):
			if total > r.Size || short {
				kept = append(kept, s)
			}
			continue
		case total > r.Size, short && s.captured:
		default:
			continue
		}
		if err := ctx.Err(); err != nil {
			return gone, kept, context.Cause(ctx)
		}
		if !r.DryRun {
			if err := Remove(s.Path); err != nil {
				return gone, kept, fmt.Errorf("sweep the trash: %w", err)
			}
		}
		total -= s.Size
		lacks.Bytes, lacks.Files = lacks.Bytes-s.Size, lacks.Files-s.files
		gone = append(gone, s)
	}
	return gone, kept, nil
}

// Remove removes an entry, its record last: a crash must not leave a folder
// that swarm does not recognize.
func Remove(entry string) error {
	entries, err := os.ReadDir(entry)
	for _, e := range entries {
		if e.Name() != recordName {
			err = errors.Join(err, disk.RemoveAll(filepath.Join(entry, e.Name())))
		}
	}
	if err != nil {
		return err
	}
	return disk.RemoveAll(entry)
}

// listTrash lists the entries that are ours, the oldest first.
func listTrash(ctx context.Context, trash string) ([]Swept, error) {
	entries, err := os.ReadDir(trash)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Swept
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		path := filepath.Join(trash, e.Name())
		r, err := Read(path)
		if err != nil {
			continue
		}
		size, files := disk.Use(path)
		_, modules := os.Lstat(filepath.Join(path, "modules"))
		all = append(all, Swept{
			Path: path, Run: r.Run, Name: r.Workspace.Name, Time: r.Time, Size: size, Large: r.Large,
			files: files, captured: r.Commit != "" && errors.Is(modules, fs.ErrNotExist),
		})
	}
	slices.SortStableFunc(all, func(a, b Swept) int { return a.Time.Compare(b.Time) })
	return all, nil
}
