package baseline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
)

// Placed are the files that were put into a workspace beside its base, by path,
// as they were before any agent saw them. An entry with an ID is work of an
// earlier attempt, and is that object in its commit. An entry without an ID is
// an included file of the user's, which is in no commit. An entry with an ID and
// no mode is a file outside of a sparse checkout that the commit deletes: an
// overlay has no other record of it.
type Placed map[string]git.IndexEntry

const placedHead = "placed 1"

// ParsePlaced reads records that end in NUL, since a name may hold anything
// else: status time, change time, inode, size, mode, object, path.
func ParsePlaced(text []byte) (Placed, error) {
	head, rest, ok := bytes.Cut(text, []byte{0})
	if !ok || string(head) != placedHead {
		return nil, errors.New("read what was placed: not such a record")
	}
	p := Placed{}
	for len(rest) > 0 {
		var rec []byte
		if rec, rest, ok = bytes.Cut(rest, []byte{0}); !ok {
			return nil, fmt.Errorf("read what was placed: cut off in %q", rec)
		}
		e, err := parsePlacedEntry(string(rec))
		if err != nil {
			return nil, fmt.Errorf("read what was placed: %q: %w", rec, err)
		}
		p[e.Path] = e
	}
	return p, nil
}

func parsePlacedEntry(rec string) (git.IndexEntry, error) {
	f := strings.SplitN(rec, " ", 9)
	if len(f) != 9 || f[8] == "" {
		return git.IndexEntry{}, errors.New("want nine fields")
	}
	var n [6]uint32
	for i := range n {
		v, err := strconv.ParseUint(f[i], 10, 32)
		if err != nil {
			return git.IndexEntry{}, err
		}
		n[i] = uint32(v)
	}
	mode, err := strconv.ParseUint(f[6], 8, 32)
	if err != nil {
		return git.IndexEntry{}, err
	}
	return git.IndexEntry{
		CTime: git.IndexTime{Sec: n[0], Nano: n[1]}, MTime: git.IndexTime{Sec: n[2], Nano: n[3]},
		Inode: n[4], Size: n[5], Mode: uint32(mode),
		ID: git.Hash(strings.TrimPrefix(f[7], "-")), Path: f[8],
	}, nil
}

// Text is the form that parsePlaced reads.
func (p Placed) Text() []byte {
	var b bytes.Buffer
	b.WriteString(placedHead + "\x00")
	for _, path := range slices.Sorted(maps.Keys(p)) {
		e := p[path]
		id := string(e.ID)
		if id == "" {
			id = "-"
		}
		fmt.Fprintf(&b, "%d %d %d %d %d %d %o %s %s\x00", e.CTime.Sec, e.CTime.Nano,
			e.MTime.Sec, e.MTime.Nano, e.Inode, e.Size, e.Mode, id, path)
	}
	return b.Bytes()
}

// Add records a file as it lies in the workspace now.
func (p Placed) Add(path string, at fs.FileInfo, id git.Hash) {
	e := Stat(at)
	e.Path, e.Mode, e.ID = path, ModeOf(at), id
	p[path] = e
}

// Unchanged reports whether a file is certainly the placed file.
func (p Placed) Unchanged(path string, at fs.FileInfo) bool {
	e, ok := p[path]
	s := Stat(at)
	return ok && !at.IsDir() && e.CTime != (git.IndexTime{}) && s.Size == e.Size &&
		s.Inode == e.Inode && s.MTime == e.MTime && s.CTime == e.CTime
}

// Work and included tell the two kinds apart.
func (p Placed) Work(path string) bool { return p[path].ID != "" }

func (p Placed) Included(path string) bool { e, ok := p[path]; return ok && e.ID == "" }

// GoneEntry says that a file outside of a sparse checkout is gone.
func GoneEntry(c git.Change) git.IndexEntry { return git.IndexEntry{Path: c.Path, ID: c.Old} }

// Gone reports whether a path is such a file.
func (p Placed) Gone(path string) bool { return p[path].ID != "" && p[path].Mode == 0 }

// Link reports whether a path is a submodule that was placed.
func (p Placed) Link(path string) bool { return p[path].Mode == ModeLink }

// ReadPlaced reads the record of a workspace; most have none.
func ReadPlaced(file string) (Placed, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return ParsePlaced(text)
}

// AddPlaced puts more into the record of a workspace.
func AddPlaced(ctx context.Context, file string, more Placed) error {
	all, err := ReadPlaced(file)
	if err != nil {
		return err
	}
	if all == nil {
		all = Placed{}
	}
	var last git.IndexTime
	for _, e := range more {
		if last.Before(e.CTime) {
			last = e.CTime
		}
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	now, err := Tick(ctx, filepath.Dir(file), last)
	if err != nil {
		return err
	}
	for path, e := range more {
		if !e.CTime.Before(now) && e.CTime != (git.IndexTime{}) {
			e.CTime = git.IndexTime{} // an equal time would prove nothing
		}
		all[path] = e
	}
	return disk.WriteFile(file, all.Text())
}
