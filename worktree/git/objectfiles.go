package git

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/format/objfile"
)

// objectFiles reads object folders without a process: packs first, then
// loose objects, as git does.
//
// Files are read when they are needed. An index of packs is searched where
// it lies and not loaded: with a long history it has hundreds of megabytes,
// of which a merge wants a few lines.
type objectFiles struct {
	dirs  []string // object folders, ours first
	idLen int
	packs []*pack     // the pack of the last found object is first
	seen  []time.Time // when the pack folders were last changed
	bases baseCache
	text  *bufio.Reader // the two are kept for their buffers
	zip   io.ReadCloser
}

// newObjectFiles opens the folder of a quarantine and those it borrows from.
func newObjectFiles(q *Quarantine) *objectFiles {
	own := filepath.Join(q.repo.CommonDir, "objects")
	// If the folders they borrow from cannot be found, git still knows them.
	more, _ := borrowed(own, maxBorrow)
	f := &objectFiles{dirs: append([]string{q.Dir, own}, more...), idLen: q.repo.hexLen() / 2}
	f.scan()
	return f
}

func (f *objectFiles) close() error {
	var err error
	for _, p := range f.packs {
		err = errors.Join(err, p.close())
	}
	f.packs = nil
	return err
}

// read reads an object. The error is fs.ErrNotExist where it is in none of
// the folders.
func (f *objectFiles) read(w want) ([]byte, error) {
	raw, err := f.look(w)
	if !errors.Is(err, fs.ErrNotExist) || !f.changed() {
		return raw, err
	}
	// Another process packed: the object may have moved.
	f.scan()
	return f.look(w)
}

func (f *objectFiles) look(w want) ([]byte, error) {
	id := w.id.bytes()
	for i, p := range f.packs {
		at, ok, err := p.find(id)
		if err != nil {
			return nil, err
		}
		if ok {
			f.packs[0], f.packs[i] = f.packs[i], f.packs[0]
			return f.packed(w, spot{pack: p, at: at})
		}
	}
	for _, dir := range f.dirs {
		raw, err := readLoose(dir, w)
		if !errors.Is(err, fs.ErrNotExist) {
			return raw, err
		}
	}
	return nil, fs.ErrNotExist
}

// changed reports whether packs came or went since the last scan.
func (f *objectFiles) changed() bool {
	for i, dir := range f.dirs {
		if !packTime(dir).Equal(f.seen[i]) {
			return true
		}
	}
	return false
}

func packTime(dir string) time.Time {
	info, err := os.Stat(filepath.Join(dir, "pack"))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// scan finds the packs. A pack whose index cannot be read is left to git.
func (f *objectFiles) scan() {
	known := make(map[string]*pack, len(f.packs))
	for _, p := range f.packs {
		known[p.path] = p
	}
	f.packs, f.seen = nil, nil
	for _, dir := range f.dirs {
		f.seen = append(f.seen, packTime(dir))
		names, err := os.ReadDir(filepath.Join(dir, "pack"))
		if err != nil {
			continue
		}
		for _, name := range names {
			stem, ok := strings.CutSuffix(name.Name(), ".idx")
			if !ok {
				continue
			}
			path := filepath.Join(dir, "pack", stem)
			p := known[path]
			if delete(known, path); p == nil {
				if p, err = openPack(path, f.idLen); err != nil {
					continue
				}
			}
			f.packs = append(f.packs, p)
		}
	}
	for _, p := range known {
		// It is gone, and whatever was wrong with reading it with it.
		_ = p.close()
	}
	f.bases = baseCache{}
}

// readLoose reads an object that lies in a file of its own.
func readLoose(dir string, w want) (raw []byte, err error) {
	f, err := os.Open(loosePath(dir, w.id))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r, err := objfile.NewReader(f)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	kind, size, err := r.Header()
	if err != nil {
		return nil, err
	}
	return w.take(kind.String(), size, r)
}

// loosePath is where a loose object lies in an object folder.
func loosePath(dir string, h Hash) string {
	return filepath.Join(dir, string(h[:2]), string(h[2:]))
}
