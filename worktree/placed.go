package worktree

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
	"time"

	"agentswarm/worktree/git"
)

// placed are the files that were put into a workspace beside its base, by
// path, as they were before any agent saw them. One with an ID is work of an
// earlier attempt, and is that object in the commit it came from. One without
// is a file of the user's that came along and is in no commit. One with an ID
// and no mode is a file outside of a sparse checkout that is gone in the commit:
// of an overlay nothing else could say so.
type placed map[string]git.IndexEntry

// placedFile is where the record lies: beside our copy of the index, where
// no agent writes, so that any process can capture after a crash.
func placedFile(w Workspace) string {
	if w.Private() {
		return filepath.Join(w.Dir, "placed") // the index is that of all
	}
	return w.Index + ".placed"
}

const placedHead = "placed 1"

// readPlaced reads the record of a workspace; most have none.
func readPlaced(w Workspace) (placed, error) {
	text, err := os.ReadFile(placedFile(w))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parsePlaced(text)
}

// parsePlaced reads records that end in NUL, since a name may hold anything
// else: status time, change time, inode, size, mode, object, path.
func parsePlaced(text []byte) (placed, error) {
	head, rest, ok := bytes.Cut(text, []byte{0})
	if !ok || string(head) != placedHead {
		return nil, errors.New("read what was placed: not such a record")
	}
	p := placed{}
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

// text is what parsePlaced reads.
func (p placed) text() []byte {
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

// add records a file as it lies in the workspace now.
func (p placed) add(path string, at fs.FileInfo, id git.Hash) {
	e := statOf(at)
	e.Path, e.Mode, e.ID = path, gitMode(at), id
	p[path] = e
}

// unchanged reports whether a file is certainly the one that was placed.
func (p placed) unchanged(path string, at fs.FileInfo) bool {
	e, ok := p[path]
	s := statOf(at)
	return ok && !at.IsDir() && e.CTime != (git.IndexTime{}) && s.Size == e.Size &&
		s.Inode == e.Inode && s.MTime == e.MTime && s.CTime == e.CTime
}

// work and included tell the two kinds apart.
func (p placed) work(path string) bool     { return p[path].ID != "" }
func (p placed) included(path string) bool { e, ok := p[path]; return ok && e.ID == "" }

// goneEntry says that a file outside of a sparse checkout is gone.
func goneEntry(c git.Change) git.IndexEntry { return git.IndexEntry{Path: c.Path, ID: c.Old} }

// gone reports whether a path is such a file.
func (p placed) gone(path string) bool { return p[path].ID != "" && p[path].Mode == 0 }

// link reports whether a path is a submodule that was placed.
func (p placed) link(path string) bool { return p[path].Mode == modeLink }

// writePlaced puts more into the record of a workspace.
func (t *Trees) writePlaced(ctx context.Context, w Workspace, more placed) error {
	all, err := readPlaced(w)
	if err != nil {
		return err
	}
	if all == nil {
		all = placed{}
	}
	var last git.IndexTime
	for _, e := range more {
		if last.Before(e.CTime) {
			last = e.CTime
		}
	}
	if err := os.MkdirAll(filepath.Dir(placedFile(w)), 0o700); err != nil {
		return err
	}
	now, err := tick(ctx, filepath.Dir(placedFile(w)), last)
	if err != nil {
		return err
	}
	for path, e := range more {
		if !e.CTime.Before(now) && e.CTime != (git.IndexTime{}) {
			e.CTime = git.IndexTime{} // an equal time would prove nothing
		}
		all[path] = e
	}
	return writeFile(placedFile(w), all.text())
}

// tick tells the time by the clock of the file system of a folder, which is
// that of the workspaces too. It waits until that is later than last: the clock
// stands still for a few milliseconds, and what is written twice in one tick
// looks unchanged. Where the clock is slower than that it does not wait for it.
func tick(ctx context.Context, dir string, last git.IndexTime) (now git.IndexTime, err error) {
	f, err := os.CreateTemp(dir, ".tick.*")
	if err != nil {
		return now, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	for try := 0; ; try++ {
		at, err := f.Stat()
		if err != nil {
			return now, err
		}
		if now = statOf(at).CTime; last.Before(now) || try == maxTicks {
			return now, nil
		}
		select {
		case <-ctx.Done():
			return now, context.Cause(ctx)
		case <-time.After(time.Millisecond):
		}
		if err := f.Chmod(0o600); err != nil { // sets the time of the status
			return now, err
		}
	}
}

// maxTicks is how many milliseconds a clock may take: that of the kernel
// moves every ten at the slowest.
const maxTicks = 30
