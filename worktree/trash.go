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

// SweepRequest says what the trash may keep.
type SweepRequest struct {
	Trash  string        // required
	Now    time.Time     // required
	Age    time.Duration // required; older entries go
	Size   int64         // required; beyond it the oldest go
	DryRun bool          // only say what would go
}

// Swept is an entry of the trash that was removed, or would be.
type Swept struct {
	Path string
	Run  string
	Name string // of the workspace
	Time time.Time
	Size int64 // bytes
}

// Sweep removes old workspaces from the trash, the oldest first. What it did
// not put there itself it leaves alone.
func Sweep(ctx context.Context, r SweepRequest) ([]Swept, error) {
	all, err := listTrash(ctx, r.Trash)
	if err != nil {
		return nil, fmt.Errorf("sweep the trash: %w", err)
	}
	var total int64
	for _, s := range all {
		total += s.Size
	}
	var gone []Swept
	for _, s := range all {
		if r.Now.Sub(s.Time) <= r.Age && total <= r.Size {
			continue
		}
		if err := ctx.Err(); err != nil {
			return gone, context.Cause(ctx)
		}
		if !r.DryRun {
			if err := removeEntry(s.Path); err != nil {
				return gone, fmt.Errorf("sweep the trash: %w", err)
			}
		}
		total -= s.Size
		gone = append(gone, s)
	}
	return gone, nil
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
		all = append(all, Swept{
			Path: path, Run: r.Run, Name: r.Workspace.Name, Time: r.Time, Size: diskUse(path),
		})
	}
	slices.SortStableFunc(all, func(a, b Swept) int { return a.Time.Compare(b.Time) })
	return all, nil
}

// diskUse is about what a folder takes. What cannot be read counts nothing.
func diskUse(root string) (sum int64) {
	_ = filepath.WalkDir(root, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if at, err := e.Info(); err == nil {
			sum += onDisk(cmp.Or(at.Size(), 1))
		}
		return nil
	})
	return sum
}
