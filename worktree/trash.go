package worktree

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"agentswarm/internal/statefile"
	"agentswarm/worktree/git"
)

// trashed is the record of an entry of the trash. Only a folder that holds
// one which names it is ours to remove.
type trashed struct {
	Entry     string    `json:"entry"` // the name of the folder
	Time      time.Time `json:"time"`
	Run       string    `json:"run"`
	Workspace Workspace `json:"workspace"`
	Commit    git.Hash  `json:"commit,omitempty"`
	// Whole says that the commit holds all of it.
	Whole bool `json:"whole"`
	// Large are files that are too large for the commit: the first of them.
	Large []string `json:"large,omitempty"`
}

const recordName = "swarm-trash.json"

// newEntry makes a folder in the trash and its record.
func (t *Trees) newEntry(r trashed) (entry string, err error) {
	r.Time, r.Run = time.Now(), filepath.Base(t.Dir)
	name := fmt.Sprintf("%d-%s-%s", r.Time.Unix(), r.Run, r.Workspace.Name)
	r.Entry = name
	for n := 2; ; n++ {
		entry = filepath.Join(t.Trash, r.Entry)
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
		err = writeFile(filepath.Join(entry, recordName), append(text, '\n'))
	}
	if err != nil {
		// Without a record nobody would know it for ours.
		return "", errors.Join(err, RemoveAll(entry))
	}
	return entry, nil
}

// entryOf finds where an earlier try put a workspace.
func (t *Trees) entryOf(w Workspace) (string, error) {
	entries, err := os.ReadDir(t.Trash)
	if err != nil {
		return "", err
	}
	for _, e := range slices.Backward(entries) {
		if !strings.Contains(e.Name(), "-"+w.Name) {
			continue
		}
		entry := filepath.Join(t.Trash, e.Name())
		r, err := readEntry(entry)
		if err != nil || r.Workspace != w {
			continue
		}
		if _, err := os.Lstat(filepath.Join(entry, "tree")); err == nil {
			return entry, nil
		}
	}
	return "", nil
}

// readEntry reads the record of an entry.
func readEntry(entry string) (trashed, error) {
	var r trashed
	text, err := statefile.Read(entry, filepath.Join(entry, recordName))
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err == nil && r.Entry != filepath.Base(entry) {
		err = fmt.Errorf("it is the record of %q", r.Entry)
	}
	if err != nil {
		return trashed{}, fmt.Errorf("read the record of %s: %w", filepath.Base(entry), err)
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
	DryRun bool          // only say what would go
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
			if err := removeEntry(s.Path); err != nil {
				return gone, kept, fmt.Errorf("sweep the trash: %w", err)
			}
		}
		total -= s.Size
		lacks.Bytes, lacks.Files = lacks.Bytes-s.Size, lacks.Files-s.files
		gone = append(gone, s)
	}
	return gone, kept, nil
}

// removeEntry removes an entry, its record last: a crash must not leave a
// folder that nobody knows as ours.
func removeEntry(entry string) error {
	entries, err := os.ReadDir(entry)
	for _, e := range entries {
		if e.Name() != recordName {
			err = errors.Join(err, RemoveAll(filepath.Join(entry, e.Name())))
		}
	}
	if err != nil {
		return err
	}
	return RemoveAll(entry)
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
		r, err := readEntry(path)
		if err != nil {
			continue
		}
		size, files := diskUse(path)
		_, modules := os.Lstat(filepath.Join(path, "modules"))
		all = append(all, Swept{
			Path: path, Run: r.Run, Name: r.Workspace.Name, Time: r.Time, Size: size, Large: r.Large,
			files: files, captured: r.Commit != "" && errors.Is(modules, fs.ErrNotExist),
		})
	}
	slices.SortStableFunc(all, func(a, b Swept) int { return a.Time.Compare(b.Time) })
	return all, nil
}

// diskUse is about the room that a folder takes, without the holes of its files.
// Files that cannot be looked at count nothing.
func diskUse(root string) (bytes, files int64) {
	_ = filepath.WalkDir(root, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if at, err := e.Info(); err == nil {
			bytes += blocksOf(at)
			files++
		}
		return nil
	})
	return bytes, files
}

// blocksOf is the number of bytes that a file takes on the disk, at least a block.
func blocksOf(at fs.FileInfo) int64 {
	s, ok := at.Sys().(*syscall.Stat_t)
	if !ok {
		return onDisk(cmp.Or(at.Size(), 1))
	}
	return max(block, int64(s.Blocks)*512)
}
