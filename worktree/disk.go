package worktree

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
	"agentswarm/worktree/workspace"
)

// Free is how many bytes an ordinary user can still write in the file system
// of dir, or of the nearest folder above it that exists.
func Free(dir string) (int64, error) {
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}

// changesRoom is the assumed size of the writes of a workspace that shares its
// files: its index, its git dir, its changes.
const changesRoom = 32 << 20

// Room estimates the bytes of disk that the lease of a workspace takes. These
// are few if it shares its files, except for the first workspace on a base.
func (t *Trees) Room(ctx context.Context, l LeaseRequest) (int64, error) {
	if l.Backend == workspace.Linked || l.Backend == "" {
		return t.Footprint(ctx, l.Base)
	}
	made, err := t.bases.Has(l.Base)
	if err != nil {
		return 0, err
	}
	checkouts := int64(0)
	if l.Backend == workspace.Copied {
		checkouts++
	}
	if !made {
		checkouts++
	}
	if checkouts == 0 {
		return changesRoom, nil
	}
	size, err := t.Footprint(ctx, l.Base)
	return checkouts*size + changesRoom, err
}

// Footprint estimates the bytes of disk of a linked worktree of base, with the
// included files. It is measured once a worktree was filled, until then it is
// the sum of the files of its tree.
func (t *Trees) Footprint(ctx context.Context, base git.Hash) (int64, error) {
	var along int64
	if t.Include != nil {
		along = t.Include.Size
	}
	t.mu.Lock()
	known, ok := t.footprint[base]
	t.mu.Unlock()
	if ok {
		return known + along, nil
	}
	size, err := CheckoutSize(ctx, t.Repo, base)
	return size + along, err
}

// measure records the size of a filled workspace, by its index.
func (t *Trees) measure(w *workspace.Workspace) error {
	t.mu.Lock()
	_, ok := t.footprint[w.Base]
	t.mu.Unlock()
	if ok {
		return nil
	}
	index, err := t.Repo.ReadIndex(w.Index)
	if err != nil {
		return err
	}
	sum := int64(len(index)) * 100 // the index itself, and our copy
	for _, e := range index {
		if !e.SkipWorktree {
			sum += disk.Blocks(int64(e.Size))
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.footprint[w.Base] = sum
	return nil
}

// CopyTime is about how long a copy of a checkout takes, by the number of files
// in its index (gitformat-index(5)): 0 where that cannot be read.
func CopyTime(index string) time.Duration {
	f, err := os.Open(index)
	if err != nil {
		return 0
	}
	defer f.Close() // it was only read
	var head [12]byte
	if _, err := io.ReadFull(f, head[:]); err != nil || string(head[:4]) != "DIRC" {
		return 0
	}
	return time.Duration(binary.BigEndian.Uint32(head[8:])) * copyOne
}

// copyOne is how long the copy of a small file takes on two cores
// (docs/performance.md, BenchmarkFill).
const copyOne = 70 * time.Microsecond

// CheckoutSize is about how many bytes of disk the files of a commit take.
func CheckoutSize(ctx context.Context, repo *git.Repo, commit git.Hash) (int64, error) {
	sizes, err := repo.Sizes(ctx, commit)
	if err != nil {
		return 0, fmt.Errorf("measure a checkout: %w", err)
	}
	var sum int64
	for _, n := range sizes {
		sum += disk.Blocks(n)
	}
	return sum, nil
}
