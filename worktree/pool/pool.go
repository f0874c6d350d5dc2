// Package pool keeps the unchanged files of workspaces that ended and starts later
// workspaces from them. It does not decide whether a workspace may be reused.
package pool

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
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"agentswarm/internal/fspath"
	"agentswarm/internal/statefile"
	"agentswarm/worktree/disk"
	"agentswarm/worktree/step"
	"agentswarm/worktree/workspace"
)

// The pool keeps the unchanged files of workspaces that ended, as folders of
// their own, for the next workspaces. Each entry holds
//
//	tree/      the files; no folder of it was ever in a workspace
//	files      their paths and stats, in the form of [baseline.Placed]
//	pool.json  a poolRecord
//
// An entry is put into the pool and taken from it by rename. It belongs to the
// process that renamed it last, so processes need no lock.

const (
	poolRecordName = "pool.json"
	poolFilesName  = "files"
)

// poolRecord describes an entry of the pool.
type poolRecord struct {
	Backend workspace.Backend `json:"backend"`
	Base    string            `json:"base"`  // the name of the base that the files are of
	Rules   string            `json:"rules"` // see rulesOf
	Size    int64             `json:"size"`  // on disk, in bytes
	Time    time.Time         `json:"time"`  // when it was put into the pool
}

// Pool is the folder of the entries.
type Pool struct {
	Dir  string // empty: nothing is kept
	Size int64  // bytes that it may take; 0: a share of the disk
	Step step.Hook
}

// poolEntry is an entry and its folder.
type poolEntry struct {
	poolRecord
	dir string
}

// listPool returns the entries, the newest first. It reports lost if another
// process took an entry meanwhile.
func listPool(pool string) (all []poolEntry, lost bool, err error) {
	names, err := os.ReadDir(pool)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	for _, name := range names {
		e := poolEntry{dir: filepath.Join(pool, name.Name())}
		text, err := statefile.Read(e.dir, filepath.Join(e.dir, poolRecordName))
		if err != nil || json.Unmarshal(text, &e.poolRecord) != nil {
			lost = lost || !fspath.Exists(e.dir)
			continue // taken just now, or not ours
		}
		all = append(all, e)
	}
	slices.SortStableFunc(all, func(a, b poolEntry) int { return b.Time.Compare(a.Time) })
	return all, lost, nil
}

// put renames a folder with tree and files into the pool. It reports false
// where the disk has no room for it.
func (p Pool) put(ctx context.Context, dir string, r poolRecord) (kept bool, err error) {
	limit, err := p.limit()
	if err != nil || r.Size > limit {
		return false, err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return false, err
	}
	if err := os.WriteFile(filepath.Join(dir, poolRecordName), append(text, '\n'), 0o600); err != nil {
		return false, err
	}
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		return false, err
	}
	if err := p.Step.At("pooling"); err != nil {
		return false, err
	}
	name := strconv.FormatInt(r.Time.UnixNano(), 36)
	for n := 1; ; n++ {
		to := filepath.Join(p.Dir, name+"-"+strconv.Itoa(n))
		err := os.Rename(dir, to)
		if err == nil {
			break
		}
		// A folder that is not empty has the name.
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, unix.ENOTEMPTY) {
			return false, err
		}
	}
	_, err = Sweep(ctx, SweepRequest{Pool: p.Dir, Size: limit})
	return true, err
}

// limit is how many bytes the pool may take. See poolShare.
func (p Pool) limit() (int64, error) {
	var s unix.Statfs_t
	near := filepath.Dir(p.Dir)
	if err := unix.Statfs(near, &s); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: near, Err: err}
	}
	size := int64(s.Bsize)
	return poolShare(int64(s.Blocks)*size, int64(s.Bavail)*size, p.Size), nil
}

// poolShare returns the bytes that the pool may take of a disk. It is at most
// the free space: the pool shrinks as the disk fills, and is empty on a full
// disk. A size that the user set replaces the other limits. All are in bytes.
func poolShare(total, free, size int64) int64 {
	return min(free, cmp.Or(size, disk.CacheBound(total)))
}

// takeFrom renames an entry to dir. It reports false where another process was faster,
// and where the entry was removed instead: an overlay does not rename folders of an
// image's layer.
func (e poolEntry) takeFrom(dir string) (took, removed bool, err error) {
	err = os.Rename(e.dir, dir)
	switch {
	case disk.Missing(err):
		return false, false, nil
	case errors.Is(err, unix.EXDEV):
		return false, true, disk.RemoveAll(e.dir)
	}
	return err == nil, false, err
}

// SweepRequest bounds the entries of the pool.
type SweepRequest struct {
	Pool   string // required; its folder
	Size   int64  // in bytes; beyond it the oldest entries go. 0: all go
	DryRun bool   // only report the removals
}

// Swept is an entry of the pool that was removed, or would be.
type Swept struct {
	Path string
	Size int64 // bytes
}

// Sweep removes entries of the pool, the oldest first, and the remains of
// removals that a crash cut off. Running agents lose nothing: the files of
// their workspaces are no longer in the pool.
func Sweep(ctx context.Context, r SweepRequest) ([]Swept, error) {
	gone, err := sweepPool(ctx, r)
	if err != nil {
		return gone, fmt.Errorf("sweep the pool: %w", err)
	}
	return gone, nil
}

func sweepPool(ctx context.Context, r SweepRequest) (gone []Swept, err error) {
	left, err := os.ReadDir(r.Pool)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range left {
		if !strings.HasPrefix(e.Name(), removedName) {
			continue
		}
		dir := filepath.Join(r.Pool, e.Name())
		size, _ := disk.Use(dir)
		gone = append(gone, Swept{Path: dir, Size: size})
		if r.DryRun {
			continue
		}
		if err := disk.RemoveAll(dir); err != nil {
			return gone, err
		}
	}
	all, _, err := listPool(r.Pool)
	if err != nil {
		return gone, err
	}
	var total int64
	for _, e := range all {
		// Files without blocks have the size 0.
		if total += e.Size; r.Size > 0 && total <= r.Size {
			continue
		}
		if err := ctx.Err(); err != nil {
			return gone, context.Cause(ctx)
		}
		if !r.DryRun {
			went, err := e.remove()
			if err != nil {
				return gone, err
			}
			if !went {
				continue
			}
		}
		gone = append(gone, Swept{Path: e.dir, Size: e.Size})
	}
	return gone, nil
}

// remove removes an entry. It reports false where another process took it.
func (e poolEntry) remove() (bool, error) {
	dir, err := os.MkdirTemp(filepath.Dir(e.dir), removedName)
	if err != nil {
		return false, err
	}
	took, removed, err := e.takeFrom(filepath.Join(dir, "entry"))
	return took || removed, errors.Join(err, disk.RemoveAll(dir))
}

// Pooled reports whether a pool has files for a next workspace.
func Pooled(pool string) bool {
	all, _, err := listPool(pool)
	return err == nil && len(all) > 0
}

// removedName is the prefix of the name of an entry that is being removed.
const removedName = ".gone."
