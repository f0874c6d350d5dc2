package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// treeLimit bounds a tree or commit that is read into memory. The largest
// known tree objects are a few megabytes.
const treeLimit = 64 << 20

// cachedEntries is how many entries of trees are kept. Merging goes through
// the same few trees again and again.
const cachedEntries = 1 << 16

// Objects reads the objects of a repository and of a quarantine that borrows
// from it, and writes trees and commits into the quarantine, without a process
// for each.
//
// It reads object folders itself, which is fast. If it does not find an object,
// or cannot read it, it asks a `git cat-file` that stays alive.
//
// Objects serves a single goroutine at a time. The caller must close it.
type Objects struct {
	q     *Quarantine
	files *objectFiles
	trees treeCache
	held  *held // nil: objects are written to the disk at once
	asked *catFile
}

// Objects opens the quarantine and the repository behind it for reading and
// writing in process.
func (q *Quarantine) Objects() *Objects { return &Objects{q: q} }

// Close closes the open files and ends the process that reads for us, if there
// is one. Held objects that were not flushed are lost.
func (o *Objects) Close() error {
	var err error
	if o.files != nil {
		err = o.files.close()
		o.files = nil
	}
	return errors.Join(err, o.dismiss())
}

// dismiss ends the process that reads for us.
func (o *Objects) dismiss() error {
	if o.asked == nil {
		return nil
	}
	err := o.asked.close()
	o.asked = nil
	return err
}

// treeCache keeps trees that were read or written. They never change.
type treeCache struct {
	held    map[Hash][]TreeEntry
	entries int
}

func (c *treeCache) put(h Hash, entries []TreeEntry) {
	if _, ok := c.held[h]; ok {
		return
	}
	if c.entries += len(entries); c.held == nil || c.entries > cachedEntries {
		c.held, c.entries = map[Hash][]TreeEntry{}, len(entries)
	}
	c.held[h] = entries
}

// MissingObjectError says that an object is in neither place, or that its content
// cannot be read.
type MissingObjectError struct {
	ID      Hash
	Damaged bool // it is there, and is no object
}

func (e *MissingObjectError) Error() string {
	state := "missing"
	if e.Damaged {
		state = "damaged"
	}
	return fmt.Sprintf("object %s of this repository is %s: %s", e.ID, state, restoreAdvice)
}

// SizeError says that an object is larger than the caller wants to hold.
type SizeError struct {
	ID          Hash
	Size, Limit int64
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("object %s has %d bytes, more than %d", e.ID, e.Size, e.Limit)
}

// Tree lists the entries of a tree object, without those of trees below it, in
// git's order. The caller must not change the list, as it is shared.
func (o *Objects) Tree(ctx context.Context, h Hash) ([]TreeEntry, error) {
	if entries, ok := o.trees.held[h]; ok {
		return entries, nil
	}
	raw, err := o.read(ctx, want{id: h, kind: "tree", limit: treeLimit})
	if err != nil {
		return nil, fmt.Errorf("read tree %s: %w", h.Short(), err)
	}
	entries, err := parseTreeObject(raw, o.q.repo.hexLen()/2)
	if err != nil {
		return nil, fmt.Errorf("read tree %s: %w", h.Short(), err)
	}
	o.trees.put(h, entries)
	return entries, nil
}

// Blob returns the content of a blob. It returns a [*SizeError] if the blob has
// more than limit bytes.
func (o *Objects) Blob(ctx context.Context, h Hash, limit int64) ([]byte, error) {
	raw, err := o.read(ctx, want{id: h, kind: "blob", limit: limit})
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", h.Short(), err)
	}
	return raw, nil
}

// Commit is the tree of a commit and its parents.
func (o *Objects) Commit(ctx context.Context, h Hash) (tree Hash, parents []Hash, err error) {
	raw, err := o.read(ctx, want{id: h, kind: "commit", limit: treeLimit})
	if err != nil {
		return "", nil, fmt.Errorf("read commit %s: %w", h.Short(), err)
	}
	for line := range strings.Lines(string(raw)) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "tree":
			tree = Hash(value)
		case "parent":
			parents = append(parents, Hash(value))
		default:
			// Trees and parents come first; all else may be anything.
			return tree, parents, nil
		}
	}
	return tree, parents, nil
}

// want is an object that is asked for.
type want struct {
	id    Hash
	kind  string
	limit int64
}

func (o *Objects) read(ctx context.Context, w want) ([]byte, error) {
	if !o.q.repo.named(w.id) {
		return nil, &MissingObjectError{ID: w.id}
	}
	raw, here := o.readHere(w)
	var large *SizeError
	if here == nil || errors.As(here, &large) {
		return raw, here
	}
	// A partial clone fetches missing objects here. Git reports on objects that
	// we cannot read.
	for {
		fresh := o.asked == nil
		if fresh {
			asked, err := o.q.catFile(ctx)
			if err != nil {
				return nil, err
			}
			o.asked = asked
		}
		raw, err := o.asked.object(ctx, w)
		if missing, ok := errors.AsType[*MissingObjectError](err); ok && !errors.Is(here, fs.ErrNotExist) {
			missing.Damaged = o.q.repo.isDamaged(ctx, w.id)
		}
		if !o.asked.broken {
			return raw, err
		}
		cerr := o.dismiss()
		if err == nil || fresh || ctx.Err() != nil {
			return raw, errors.Join(err, cerr)
		}
		// An older process may have been killed since; a new process is asked.
	}
}

// readHere reads without a process.
func (o *Objects) readHere(w want) ([]byte, error) {
	if h, ok := o.held.find(w.id); ok {
		return w.take(h.kind, int64(len(h.raw)), bytes.NewReader(h.raw))
	}
	if o.files == nil {
		o.files = newObjectFiles(o.q)
	}
	return o.files.read(w)
}

// take checks the kind and the size of an object and reads it.
func (w want) take(kind string, size int64, r io.Reader) ([]byte, error) {
	if kind != w.kind {
		return nil, fmt.Errorf("it is a %s, not a %s", kind, w.kind)
	}
	if size > w.limit {
		return nil, &SizeError{ID: w.id, Size: size, Limit: w.limit}
	}
	raw := make([]byte, size)
	if _, err := io.ReadFull(r, raw); err != nil {
		return nil, err
	}
	return raw, nil
}

// named reports whether h can be the full name of an object here.
func (r *Repo) named(h Hash) bool {
	return isHex(string(h), r.hexLen())
}
