package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"
)

// WriteTree writes a tree into the quarantine. The objects of its entries need
// not exist yet.
func (o *Objects) WriteTree(ctx context.Context, entries []TreeEntry) (Hash, error) {
	raw, err := encodeTree(entries)
	if err != nil {
		return "", fmt.Errorf("write tree: %w", err)
	}
	h, err := o.write(ctx, plumbing.TreeObject, raw)
	if err != nil {
		return "", fmt.Errorf("write tree: %w", err)
	}
	return h, nil
}

// WriteBlob writes the content of a file into the quarantine, without filters.
func (o *Objects) WriteBlob(ctx context.Context, content []byte) (Hash, error) {
	h, err := o.write(ctx, plumbing.BlobObject, content)
	if err != nil {
		return "", fmt.Errorf("write blob: %w", err)
	}
	return h, nil
}

// WriteCommit writes a commit into the quarantine, byte for byte as
// CommitTree would. A person without a time commits now.
func (o *Objects) WriteCommit(ctx context.Context, c CommitRequest) (Hash, error) {
	raw, err := c.encode()
	if err != nil {
		return "", err
	}
	h, err := o.write(ctx, plumbing.CommitObject, raw)
	if err != nil {
		return "", fmt.Errorf("write commit: %w", err)
	}
	return h, nil
}

// encode is the commit object.
func (c CommitRequest) encode() ([]byte, error) {
	if strings.Contains(c.Message, "\x00") {
		return nil, errors.New("write commit: a NUL byte in the message")
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", c.Tree)
	for _, p := range c.Parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	fmt.Fprintf(&b, "author %s\ncommitter %s\n\n%s", c.Author.ident(), c.Committer.ident(), c.Message)
	return b.Bytes(), nil
}

// ident formats the person as a commit holds them. Git drops some signs from
// both ends of a name and an address; before 2.42 it drops a dot too ("Jr.").
func (p Person) ident() string {
	clean := func(text string) string {
		text = strings.TrimFunc(text, func(r rune) bool {
			return r <= ' ' || strings.ContainsRune(`,:;<>"\'`, r)
		})
		return strings.Map(func(r rune) rune {
			if strings.ContainsRune("<>\n\x00", r) {
				return -1
			}
			return r
		}, text)
	}
	name := clean(p.Name)
	if name == "" {
		name = "swarm"
	}
	when := p.When
	if when.IsZero() {
		when = time.Now()
	}
	return fmt.Sprintf("%s <%s> %d %s", name, clean(p.Email), when.Unix(), when.Format("-0700"))
}

// write stores an object in the quarantine, or in memory while objects are
// held.
func (o *Objects) write(_ context.Context, kind plumbing.ObjectType, raw []byte) (Hash, error) {
	h := o.q.repo.nameOf(kind.String(), raw)
	if o.held != nil {
		return h, o.hold(h, heldObject{kind: kind.String(), raw: raw})
	}
	path := loosePath(o.q.Dir, h)
	if _, err := os.Lstat(path); err == nil {
		return h, nil
	}
	if err := writeLoose(path, kind, raw); err != nil {
		return "", err
	}
	return h, nil
}

// writeLoose writes a loose object whole or not at all.
func writeLoose(path string, kind plumbing.ObjectType, raw []byte) (err error) {
	dir := filepath.Dir(path)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := os.CreateTemp(dir, "tmp_obj_")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	w := objfile.NewWriter(f)
	err = w.WriteHeader(kind, int64(len(raw)))
	if err == nil {
		_, err = w.Write(raw)
	}
	err = errors.Join(err, w.Close(), f.Chmod(0o444), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
