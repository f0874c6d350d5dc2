package bases

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"agentswarm/worktree/baseline"
	"agentswarm/worktree/disk"
	"agentswarm/worktree/workspace"
)

// brokenError is the error of a base that has changed since it was made: a part
// of it is missing or was replaced.
type brokenError struct{ part string }

func (e *brokenError) Error() string { return "its " + e.part + " is not what was made" }

// mark is a base's record of a part of it. It tells a missing, truncated or
// copied part from the original.
type mark struct {
	Inode uint32 `json:"inode"`
	Size  int64  `json:"size"`
	Time  int64  `json:"time"` // of its last change, in seconds: not every file system keeps more
}

func markOf(at fs.FileInfo) *mark {
	m := &mark{Inode: baseline.Stat(at).Inode, Time: at.ModTime().Unix()}
	if at.Mode().IsRegular() {
		m.Size = at.Size()
	}
	return m
}

// remember puts the marks of a base into its record. Its top folder gets a time
// of long ago: whatever is done to it within this second shows, too.
func (b *Base) remember(r *baseRecord) error {
	if err := os.Chtimes(b.Tree(), longAgo(), longAgo()); err != nil {
		return err
	}
	index, err := os.Lstat(b.Index())
	if err != nil {
		return err
	}
	tree, err := os.Lstat(b.Tree())
	if err != nil {
		return err
	}
	r.Commit, r.Index, r.Tree = b.Commit, markOf(index), markOf(tree)
	return nil
}

// whole reads the record of a base, and checks that its parts are there, and
// those of the base it lies on. It checks few of them: an agent in a workspace
// meets the others.
func (b *Base) whole() (baseRecord, error) {
	r, err := readBase(b.dir)
	if err == nil && r.Commit != b.Commit {
		err = &brokenError{part: "commit"}
	}
	if err == nil {
		err = b.parts(r)
	}
	if err != nil || r.Under == "" {
		return r, err
	}
	under := &Base{dir: filepath.Join(filepath.Dir(b.dir), r.Under)}
	below, err := readBase(under.dir)
	if err == nil && below.Under != "" {
		err = errors.New("it lies on another") // none does
	}
	if err == nil {
		err = under.parts(below)
	}
	if err != nil {
		err = errors.Join(&brokenError{part: "lower layer"}, err)
	}
	return r, err
}

// parts compares the parts of a base with its record.
func (b *Base) parts(r baseRecord) error {
	parts := []struct {
		path string
		dir  bool
		mark *mark // nil: an earlier version made it
	}{
		{b.Index(), false, r.Index},
		{b.Tree(), true, r.Tree},
		{b.users(), true, nil},
		{filepath.Join(b.Tree(), ".git"), true, nil},
	}
	if r.Under != "" {
		parts = parts[:len(parts)-1] // that is in the base it lies on
	}
	for _, p := range parts {
		at, err := os.Lstat(p.path)
		if err != nil && !disk.Missing(err) {
			return err
		}
		if err != nil || at.IsDir() != p.dir || !p.dir && !at.Mode().IsRegular() || p.mark != nil && *p.mark != *markOf(at) {
			return &brokenError{part: filepath.Base(p.path)}
		}
	}
	return nil
}

// setAside takes the name of a base from a broken base. Other processes may
// still have it mounted: it stays with its lock until the last of them has
// released it, and then it is swept. Its workspaces become users of the next
// base. Where it cannot be renamed no workspace has it mounted: an overlay
// would lie on an overlay.
func (b *Base) setAside(next *Base) error {
	if _, err := os.Lstat(b.dir); disk.Missing(err) {
		return nil
	}
	if err := b.moveUsers(next); err != nil {
		return err
	}
	aside, err := os.MkdirTemp(filepath.Dir(b.dir), goneName)
	if err == nil {
		err = os.Rename(b.dir+lockSuffix, aside+lockSuffix)
	}
	if err == nil {
		err = moveOut(b.dir, aside)
	}
	if err != nil {
		return fmt.Errorf("set aside what is broken: %w", err)
	}
	return nil
}

// moveUsers tells another base which workspaces stand on it.
func (b *Base) moveUsers(next *Base) error {
	entries, err := os.ReadDir(b.users())
	if err != nil {
		return nil // it is broken, and its users are unknown
	}
	for _, e := range entries {
		if to, err := os.Readlink(filepath.Join(b.users(), e.Name())); err == nil {
			if err := os.Symlink(to, filepath.Join(next.users(), e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// forsake removes the links to workspaces that are gone, as a crash leaves them.
func forsake(users string) error {
	entries, err := os.ReadDir(users)
	if err != nil {
		return nil // the next process that makes the base mends it
	}
	for _, e := range entries {
		link := filepath.Join(users, e.Name())
		dir, err := os.Readlink(link)
		if err != nil {
			continue // not ours
		}
		if _, err := os.Lstat(dir); !disk.Missing(err) {
			continue
		}
		if err := os.Remove(link); err != nil && !disk.Missing(err) {
			return err
		}
	}
	return nil
}

// Restore checks that the base of an overlay is there, and remakes a broken
// base: an agent's changes cannot be read without it. It returns an error if
// the base cannot be made.
func (s *Store) Restore(ctx context.Context, w workspace.Workspace) error {
	if w.Kind() != workspace.Overlay || w.Lower == "" {
		return nil
	}
	b := &Base{dir: filepath.Dir(w.Lower), Commit: w.Base}
	if _, err := b.whole(); err == nil {
		return nil
	}
	_, done, err := s.Get(ctx, w.Base)
	if err == nil {
		done()
	}
	return err
}
