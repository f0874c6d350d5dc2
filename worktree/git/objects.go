package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

// treeLimit bounds a tree or commit that is read into memory. The largest
// known tree objects are a few megabytes.
const treeLimit = 64 << 20

// cacheSize is what the object cache may hold. Merging touches few trees.
const cacheSize = 8 << 20

// Objects reads the objects of a repository and of a quarantine that borrows
// from it, and writes trees and commits into the quarantine, without a
// process for each.
//
// It reads the object folder with go-git, which is fast and never the last
// word: what it does not find, or cannot read, a `git cat-file` that stays
// alive is asked for. Repositories with sha256 names always ask that.
//
// It is for one goroutine at a time. Close it.
type Objects struct {
	q       *Quarantine
	store   *filesystem.ObjectStorage
	packsAt time.Time // when the pack folder was last changed, as of store
	asked   *catFile
}

// Objects opens the quarantine and the repository behind it for reading and
// writing in process.
func (q *Quarantine) Objects() *Objects { return &Objects{q: q} }

// Close ends the process that reads for us, if one was needed.
func (o *Objects) Close() error {
	if o.asked == nil {
		return nil
	}
	err := o.asked.close()
	o.asked = nil
	return err
}

// MissingObjectError says that an object is in neither place.
type MissingObjectError struct{ ID Hash }

func (e *MissingObjectError) Error() string { return fmt.Sprintf("object %s is missing", e.ID) }

// SizeError says that an object is larger than the caller wants to hold.
type SizeError struct {
	ID          Hash
	Size, Limit int64
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("object %s has %d bytes, more than %d", e.ID, e.Size, e.Limit)
}

// Tree lists the entries of one tree, not of those below it.
func (o *Objects) Tree(ctx context.Context, h Hash) ([]TreeEntry, error) {
	raw, err := o.read(ctx, want{id: h, kind: "tree", limit: treeLimit})
	if err != nil {
		return nil, fmt.Errorf("read tree %s: %w", h.Short(), err)
	}
	entries, err := parseTreeObject(raw, o.q.repo.hexLen()/2)
	if err != nil {
		return nil, fmt.Errorf("read tree %s: %w", h.Short(), err)
	}
	return entries, nil
}

// Blob is the content of a blob.
// One with more than limit bytes is a [*SizeError].
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
	if o.inProcess() {
		raw, err := o.readHere(w)
		var large *SizeError
		if err == nil || errors.As(err, &large) {
			return raw, err
		}
	}
	// A partial clone fetches what is missing here, and what go-git cannot
	// read is git's to judge.
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
		if !o.asked.broken {
			return raw, err
		}
		cerr := o.Close()
		if err == nil || fresh || ctx.Err() != nil {
			return raw, errors.Join(err, cerr)
		}
		// One that was alive before may have been killed since.
	}
}

// inProcess reports whether go-git can name the objects of the repository.
func (o *Objects) inProcess() bool { return o.q.repo.ObjectFormat != "sha256" }

// readHere reads without a process: what was made here lies loose in the
// quarantine, all else is in the repository.
func (o *Objects) readHere(w want) ([]byte, error) {
	raw, err := o.readLoose(w)
	if !errors.Is(err, fs.ErrNotExist) {
		return raw, err
	}
	if o.store == nil {
		o.open()
	}
	raw, err = o.readStore(w)
	var large *SizeError
	if err == nil || errors.As(err, &large) || o.packedAt().Equal(o.packsAt) {
		return raw, err
	}
	// The user repacked: the packs this store knows are gone.
	o.open()
	return o.readStore(w)
}

func (o *Objects) open() {
	o.packsAt = o.packedAt()
	dir := dotgit.New(osfs.New(o.q.repo.CommonDir))
	o.store = filesystem.NewObjectStorage(dir, cache.NewObjectLRU(cacheSize))
}

func (o *Objects) packedAt() time.Time {
	info, err := os.Stat(filepath.Join(o.q.repo.CommonDir, "objects", "pack"))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func (o *Objects) readLoose(w want) (raw []byte, err error) {
	f, err := os.Open(o.q.loose(w.id))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r, err := objfile.NewReader(f)
	if err != nil {
		return nil, err
	}
	kind, size, err := r.Header()
	if err != nil {
		return nil, err
	}
	return w.take(kind.String(), size, r)
}

func (o *Objects) readStore(w want) (raw []byte, err error) {
	obj, err := o.store.EncodedObject(plumbing.AnyObject, plumbing.NewHash(string(w.id)))
	if err != nil {
		return nil, err
	}
	if kind := obj.Type().String(); kind != w.kind || obj.Size() > w.limit {
		return w.take(kind, obj.Size(), nil)
	}
	r, err := obj.Reader()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return w.take(w.kind, obj.Size(), r)
}

// take checks what an object is before it is held.
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

// loose is where an object of the quarantine lies.
func (q *Quarantine) loose(h Hash) string {
	return filepath.Join(q.Dir, string(h[:2]), string(h[2:]))
}

// named reports whether h can be the full name of an object here.
func (r *Repo) named(h Hash) bool {
	return len(h) == r.hexLen() && strings.Trim(string(h), "0123456789abcdef") == ""
}
