package git

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
)

// IndexEntry is a file of an index, with its status on disk as git saw it.
// Times, size and inode are cut to 32 bits, as git stores them.
type IndexEntry struct {
	Path         string
	ID           Hash
	Mode         uint32 // as in a tree: 0100644, 0100755, 0120000, 0160000
	CTime, MTime IndexTime
	Inode, Size  uint32
	Stage        int
	SkipWorktree bool
}

// IndexTime is a time of a file. A git that was built without nanoseconds,
// or a file system without them, leaves Nano 0.
type IndexTime struct{ Sec, Nano uint32 }

// Before reports whether t comes before u.
func (t IndexTime) Before(u IndexTime) bool {
	return t.Sec < u.Sec || t.Sec == u.Sec && t.Nano < u.Nano
}

// IndexError says that we cannot read an index file.
type IndexError struct{ Reason string }

func (e *IndexError) Error() string { return "read index: " + e.Reason }

const (
	flagExtended     = 0x4000
	flagSkipWorktree = 0x4000 // in the second word of flags
	statSize         = 40     // ten 32-bit fields before the object name
	sparseFolder     = 0o040000
)

// ReadIndex reads the entries of an index file, versions 2 to 4
// (gitformat-index(5)). It returns an [*IndexError] for a sparse index (folders
// in place of files) and for a split index (entries in another file).
// [Frozen.Fill] writes neither.
func (r *Repo) ReadIndex(path string) ([]IndexEntry, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	return r.ParseIndex(text)
}

// ParseIndex is [Repo.ReadIndex] for the text of an index file.
func (r *Repo) ParseIndex(text []byte) ([]IndexEntry, error) { return parseIndex(text, r.hexLen()/2) }

func parseIndex(text []byte, idLen int) ([]IndexEntry, error) {
	_, entries, err := parseEntries(text, idLen)
	return entries, err
}

// parseEntries reads the entries, and leaves the extensions to be read.
func parseEntries(text []byte, idLen int) (*indexParser, []IndexEntry, error) {
	if len(text) < 12+idLen || !bytes.HasPrefix(text, []byte("DIRC")) {
		return nil, nil, &IndexError{Reason: "not an index"}
	}
	version, n := binary.BigEndian.Uint32(text[4:]), binary.BigEndian.Uint32(text[8:])
	if version < 2 || version > 4 {
		return nil, nil, &IndexError{Reason: fmt.Sprintf("version %d", version)}
	}
	// The shortest entry is longer than its stat, so a count beyond that is
	// a lie that must not become an allocation.
	if int64(n)*(statSize+int64(idLen)) > int64(len(text)) {
		return nil, nil, &IndexError{Reason: fmt.Sprintf("%d entries in %d bytes", n, len(text))}
	}
	p := indexParser{rest: text[12 : len(text)-idLen], idLen: idLen, version: version}
	entries := make([]IndexEntry, 0, n)
	for range n {
		e, err := p.entry()
		if err != nil {
			return nil, nil, err
		}
		entries = append(entries, e)
	}
	if bytes.HasPrefix(p.rest, []byte("link")) {
		return nil, nil, &IndexError{Reason: "a split index"}
	}
	return &p, entries, nil
}

type indexParser struct {
	rest    []byte
	idLen   int
	version uint32
	last    string // path of the entry before, which version 4 builds on
}

func (p *indexParser) entry() (IndexEntry, error) {
	short := &IndexError{Reason: fmt.Sprintf("cut off after %q", p.last)}
	fixed := statSize + p.idLen + 2
	if len(p.rest) < fixed+2 {
		return IndexEntry{}, short
	}
	word := func(i int) uint32 { return binary.BigEndian.Uint32(p.rest[4*i:]) }
	e := IndexEntry{
		CTime: IndexTime{word(0), word(1)}, MTime: IndexTime{word(2), word(3)},
		Inode: word(5), Mode: word(6), Size: word(9),
		ID: Hash(hex.EncodeToString(p.rest[statSize : statSize+p.idLen])),
	}
	flags := binary.BigEndian.Uint16(p.rest[statSize+p.idLen:])
	e.Stage = int(flags>>12) & 3
	if flags&flagExtended != 0 {
		more := binary.BigEndian.Uint16(p.rest[fixed:])
		e.SkipWorktree = more&flagSkipWorktree != 0
		fixed += 2
	}
	if e.Mode == sparseFolder {
		return IndexEntry{}, &IndexError{Reason: "a sparse index"}
	}
	name := p.rest[fixed:]
	if p.version == 4 {
		drop, used := offset(name)
		if used == 0 || drop > len(p.last) {
			return IndexEntry{}, short
		}
		name = name[used:]
		fixed += used
		e.Path = p.last[:len(p.last)-drop]
	}
	end := bytes.IndexByte(name, 0)
	if end < 0 {
		return IndexEntry{}, short
	}
	e.Path += string(name[:end])
	size := fixed + end + 1
	if p.version < 4 {
		size = (fixed + end + 8) &^ 7 // padded with one to eight NULs
	}
	if size > len(p.rest) {
		return IndexEntry{}, short
	}
	p.rest, p.last = p.rest[size:], e.Path
	return e, nil
}

// offset reads the variable-width number of version 4, the same as in the
// deltas of a pack; used is 0 where there is none.
func offset(b []byte) (n, used int) {
	for i, c := range b {
		if i > 4 {
			return 0, 0
		}
		n |= int(c & 0x7f)
		if c&0x80 == 0 {
			return n, i + 1
		}
		n = (n + 1) << 7
	}
	return 0, 0
}
