package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"agentswarm/worktree/git"
)

// maxDerived is how many paths of a commit may differ from a base for it to
// be made as a layer on that. Those are checked out in a moment, where all of
// a large repository takes seconds and its space on the disk.
const maxDerived = 500

// deriving is the making of a base as a layer on another.
type deriving struct {
	*Trees
	base *base        // to be made
	on   *base        // a whole one; this process holds it
	diff []git.Change // what differs
}

// derive finds a whole base from which the commit of another differs in
// little; nil where there is none. What it finds is kept until done.
func (t *Trees) derive(ctx context.Context, b *base) (_ *deriving, err error) {
	d := &deriving{Trees: t, base: b, on: t.newest()}
	found := d.on == nil
	if found {
		if d.on, err = t.earlier(ctx, b); d.on == nil || err != nil {
			return nil, err
		}
	}
	fits := false
	defer func() {
		switch {
		case fits:
		case found:
			err = errors.Join(err, t.giveUp(d.on))
		default:
			t.unhold(d.on)
		}
	}()
	// Which files are checked out, and as what, must depend on those that
	// differ alone.
	if _, err := os.Lstat(filepath.Join(t.Frozen.Dir, "info", "sparse-checkout")); !missing(err) {
		return nil, nil
	}
	diff, err := t.Repo.Changes(ctx, d.on.commit, b.commit)
	if err != nil || len(diff) > maxDerived {
		return nil, err
	}
	q, err := t.Frozen.Quarantine(filepath.Join(b.dir, "objects"))
	if err != nil {
		return nil, err
	}
	filters, err := t.readFilters(ctx, q)
	if err = errors.Join(err, q.Discard()); err != nil {
		return nil, err
	}
	for _, c := range diff {
		if filepath.Base(c.Path) == ".gitattributes" || ruled(c.Path) || slices.Contains(filters.words, c.Path) ||
			c.OldMode == linkMode || c.NewMode == linkMode {
			return nil, nil
		}
	}
	d.diff, fits = diff, true
	return d, nil
}

// newest is the whole base that was used last, kept from being let go.
func (t *Trees) newest() *base {
	t.basesMu.Lock()
	defer t.basesMu.Unlock()
	var newest *base
	for _, b := range t.bases {
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

// change checks out what differs.
func (d *deriving) change(ctx context.Context) error {
	b := d.base
	without, err := d.withheld(ctx, b.commit, filepath.Join(b.dir, "fill"))
	if err != nil {
		return err
	}
	err = d.Frozen.Change(ctx, git.ChangeRequest{
		Dir: b.tree(), Index: b.index(), From: d.on.commit, To: b.commit, Without: without,
	})
	if err != nil || len(without) == 0 {
		return err
	}
	changed := map[string]bool{}
	for _, c := range d.diff {
		changed[c.Path] = true
	}
	return d.filterApart(ctx, filteringApart{
		dir: b.tree(), index: b.index(), commit: b.commit, scratch: filepath.Join(b.dir, "fill"), only: changed,
	})
}

// fill checks out what differs, hides what is gone, and makes the index.
func (d *deriving) fill(ctx context.Context) (r baseRecord, err error) {
	defer d.unhold(d.on)
	b := d.base
	if err := git.CloneFile(d.on.index(), b.index()); err != nil {
		return r, err
	}
	err = d.change(ctx)
	if err != nil {
		return r, err
	}
	if err := d.step("checked out"); err != nil {
		return r, err
	}
	root, err := os.OpenRoot(b.tree())
	if err != nil {
		return r, err
	}
	h := &hiding{root: root, dir: b.tree(), below: layers{d.on.tree()}}
	if err := errors.Join(h.changes(d.diff), root.Close()); err != nil {
		return r, fmt.Errorf("hide what %s has no more: %w", b.commit.Short(), err)
	}
	changed := map[string]bool{}
	for _, c := range d.diff {
		changed[c.Path] = true
	}
	if r.Size, err = d.settle(b, func(e *git.IndexEntry) (time.Time, bool) { return layerTime(e.ID), changed[e.Path] }); err != nil {
		return r, err
	}
	r.Under = filepath.Base(d.on.dir)
	return r, d.step("settled")
}
