package bases

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"agentswarm/worktree/baseline"
	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
	"agentswarm/worktree/overlay"
)

// maxDerived is how many paths of a commit may differ from a base for it to
// be made as a layer on that. Those are checked out in a moment, where all of
// a large repository takes seconds and its space on the disk.
const maxDerived = 500

// deriving is the making of a base as a layer on another.
type deriving struct {
	*Store
	base *Base        // to be made
	on   *Base        // a whole base; this process holds it
	diff []git.Change // the changes from it
}

// derive finds a whole base whose commit differs little from that of another
// base; nil if there is none. The base is held until done.
func (s *Store) derive(ctx context.Context, b *Base) (_ *deriving, err error) {
	d := &deriving{Store: s, base: b, on: s.newest()}
	found := d.on == nil
	if found {
		if d.on, err = s.earlier(ctx, b); d.on == nil || err != nil {
			return nil, err
		}
	}
	fits := false
	defer func() {
		switch {
		case fits:
		case found:
			err = errors.Join(err, s.giveUp(d.on))
		default:
			s.unhold(d.on)
		}
	}()
	// The choice of checked-out files and their content must depend on the
	// changed files alone.
	if _, err := os.Lstat(filepath.Join(s.Frozen.Dir, "info", "sparse-checkout")); !disk.Missing(err) {
		return nil, nil
	}
	diff, err := s.Repo.Changes(ctx, d.on.Commit, b.Commit)
	if err != nil || len(diff) > maxDerived {
		return nil, err
	}
	programs, err := s.Files.Programs(ctx, filepath.Join(b.dir, "objects"))
	if err != nil {
		return nil, err
	}
	for _, c := range diff {
		if filepath.Base(c.Path) == ".gitattributes" || baseline.Ruled(c.Path) || slices.Contains(programs, c.Path) ||
			c.OldMode == baseline.LinkMode || c.NewMode == baseline.LinkMode {
			return nil, nil
		}
	}
	d.diff, fits = diff, true
	return d, nil
}

// newest is the whole base that was used last, kept from being let go.
func (s *Store) newest() *Base {
	s.mu.Lock()
	defer s.mu.Unlock()
	var newest *Base
	for _, b := range s.held {
		if b.under != nil || newest != nil && !b.used.After(newest.used) {
			continue
		}
		if _, err := b.whole(); err == nil {
			newest = b
		}
	}
	if newest != nil {
		newest.busy++
	}
	return newest
}

// fill checks out the files that differ, hides those that are gone, and makes the index.
func (d *deriving) fill(ctx context.Context) (r baseRecord, err error) {
	defer d.unhold(d.on)
	b := d.base
	if err := git.CloneFile(d.on.Index(), b.Index()); err != nil {
		return r, err
	}
	changed := map[string]bool{}
	for _, c := range d.diff {
		changed[c.Path] = true
	}
	err = d.Files.Change(ctx, ChangeRequest{
		ChangeRequest: git.ChangeRequest{Dir: b.Tree(), Index: b.Index(), From: d.on.Commit, To: b.Commit},
		Scratch:       filepath.Join(b.dir, "fill"), Paths: changed,
	})
	if err != nil {
		return r, err
	}
	if err := d.Step.At("checked out"); err != nil {
		return r, err
	}
	root, err := os.OpenRoot(b.Tree())
	if err != nil {
		return r, err
	}
	h := &overlay.Hider{Root: root, Dir: b.Tree(), Below: overlay.Layers{d.on.Tree()}}
	if err := errors.Join(h.Apply(d.diff), root.Close()); err != nil {
		return r, fmt.Errorf("hide what %s has no more: %w", b.Commit.Short(), err)
	}
	if r.Size, err = d.settle(b, func(e *git.IndexEntry) (time.Time, bool) { return layerTime(e.ID), changed[e.Path] }); err != nil {
		return r, err
	}
	r.Under = filepath.Base(d.on.dir)
	return r, d.Step.At("settled")
}
