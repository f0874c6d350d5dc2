package git

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
)

const (
	// heldBytes is the size of held objects at which they are flushed by
	// themselves.
	heldBytes = 16 << 20
	// looseUpTo is how many objects are written to a file each. Beyond it a
	// pack is faster to write and to read.
	looseUpTo = 8
)

// held is the objects that are not on the disk yet.
type held struct {
	objects map[Hash]heldObject
	order   []Hash
	bytes   int
}

type heldObject struct {
	kind string
	raw  []byte
	was  Hash // an object held before that is much like it; empty: none
	deep int  // how many such there are one behind the other
}

// find is an object that is held. A nil held has none.
func (h *held) find(id Hash) (heldObject, bool) {
	if h == nil {
		return heldObject{}, false
	}
	o, ok := h.objects[id]
	return o, ok
}

// Hold keeps objects written from now on in memory until [Objects.Flush] writes
// all of them in a single pack. Until then only these Objects see them, and no
// git does.
func (o *Objects) Hold() {
	if o.held == nil {
		o.held = &held{objects: map[Hash]heldObject{}}
	}
}

// Flush writes the held objects to the disk. Every git of the quarantine finds
// them there, also a git that runs already.
func (o *Objects) Flush() error {
	if o.held == nil || len(o.held.order) == 0 {
		return nil
	}
	err := o.putDown()
	if err != nil {
		return fmt.Errorf("put down objects: %w", err)
	}
	o.held = &held{objects: map[Hash]heldObject{}}
	return nil
}

func (o *Objects) putDown() error {
	if len(o.held.order) > looseUpTo {
		return writePack(o.q, o.held)
	}
	for _, id := range o.held.order {
		object := o.held.objects[id]
		kind, err := plumbing.ParseObjectType(object.kind)
		if err == nil {
			err = writeLoose(loosePath(o.q.Dir, id), kind, object.raw)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hold keeps an object until the next flush.
func (o *Objects) hold(id Hash, object heldObject) error {
	if _, ok := o.held.objects[id]; ok {
		return nil
	}
	o.held.objects[id] = object
	o.held.order = append(o.held.order, id)
	if o.held.bytes += len(object.raw); o.held.bytes > heldBytes {
		return o.Flush()
	}
	return nil
}

// deepest is the maximum length of a chain of deltas. It is git's default depth
// in a pack.
const deepest = 50

// RewriteTree writes a tree that was made from another tree. If both are held,
// the pack gets only their difference. The caller must not change the list
// afterwards.
func (o *Objects) RewriteTree(ctx context.Context, was Hash, entries []TreeEntry) (Hash, error) {
	h, err := o.WriteTree(ctx, entries)
	if err != nil {
		return "", err
	}
	o.trees.put(h, sortedTree(entries))
	if o.held == nil || h == was {
		return h, nil
	}
	before, ok := o.held.objects[was]
	object, held := o.held.objects[h]
	if ok && held && o.held.order[len(o.held.order)-1] == h && object.was == "" && before.deep < deepest {
		object.was, object.deep = was, before.deep+1
		o.held.objects[h] = object
	}
	return h, nil
}

// nameOf computes the name of an object.
func (r *Repo) nameOf(kind string, raw []byte) Hash {
	if r.ObjectFormat != "sha256" {
		// go-git knows every kind that is written here.
		t, _ := plumbing.ParseObjectType(kind)
		return Hash(plumbing.ComputeHash(t, raw).String())
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s %d\x00", kind, len(raw))
	sum.Write(raw)
	return Hash(hex.EncodeToString(sum.Sum(nil)))
}

// BlobName is the name that a blob of size bytes has, read from r in pieces.
// It stores no object. It fails if r ends early, and with the cause of ctx.
func (r *Repo) BlobName(ctx context.Context, content io.Reader, size int64) (Hash, error) {
	sum := sha1.New()
	if r.ObjectFormat == "sha256" {
		sum = sha256.New()
	}
	fmt.Fprintf(sum, "blob %d\x00", size)
	for left := size; left > 0; {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		n, err := io.CopyN(sum, content, min(left, 8<<20))
		if err != nil {
			return "", fmt.Errorf("name a blob: %w", err)
		}
		left -= n
	}
	return Hash(hex.EncodeToString(sum.Sum(nil))), nil
}
