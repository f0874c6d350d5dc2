package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"

	"agentswarm/worktree/baseline"
	"agentswarm/worktree/git"
	"agentswarm/worktree/survey"
)

// maxDirect bounds a file that is read into memory, in bytes.
const maxDirect = 32 << 20

// errUnsure says that only git knows how to store a path.
var errUnsure = errors.New("only git can tell")

// direct makes a tree in process if git would store every file as it is.
//
// Its cost depends on the number of changes: of the base it reads the index,
// which is held in memory, and the folders above the changed paths. It stops
// before any step whose result is not certain.
type direct struct {
	*capturing
	space    *os.Root // the files
	rewrites rewrites
	pack     *git.Pack
	top      *edit
	gone     map[string]bool
	changes  []git.Change
	implied  bool // the base loses files of which the survey does not know
}

// edit is the change of a path: the entry set there, its removal, and the
// changes of the paths below it.
type edit struct {
	below map[string]*edit
	set   *git.TreeEntry
	gone  bool
}

// direct makes the tree in process; ok is false where git must be asked.
func (c *capturing) direct(ctx context.Context) (tree git.Hash, ok bool, err error) {
	if !c.quarantine.CanPack() || c.filters.odd || c.assigns(ctx) || len(c.found.Present) > 0 {
		return "", false, nil
	}
	base, err := c.Repo.TreeOnce(ctx, c.Workspace.Base)
	if err != nil {
		return "", false, err
	}
	if c.base.Trees[""].ID != base {
		return "", false, nil
	}
	for _, path := range c.found.Changed {
		if suspicious(path) {
			return "", false, nil
		}
	}
	d := &direct{capturing: c, top: &edit{}, gone: map[string]bool{}}
	if d.rewrites, err = c.readRewrites(ctx); err != nil {
		return "", false, err
	}
	given, err := c.given(ctx, d.rewrites, c.found.Changed)
	if err != nil || len(given.filters) > 0 || given.encoding {
		return "", false, err
	}
	if d.pack, err = c.shared.Pack(); err != nil {
		return "", false, err
	}
	notes, tooLarge := len(c.found.Notes), len(c.found.Large)
	if tree, err = d.make(ctx); err != nil {
		c.found.Notes, c.found.Large = c.found.Notes[:notes], c.found.Large[:tooLarge]
		err = errors.Join(err, d.pack.Discard())
	}
	var large *git.LargePackError
	if errors.Is(err, errUnsure) || errors.As(err, &large) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	c.pack = d.pack
	if !d.implied {
		c.changes = d.sorted()
	}
	return tree, true, nil
}

func (d *direct) make(ctx context.Context) (_ git.Hash, err error) {
	if d.space, err = os.OpenRoot(d.Workspace.Files()); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, d.space.Close()) }()
	for _, path := range d.found.Deleted {
		d.remove(path)
	}
	for _, path := range d.found.Changed {
		if err := ctx.Err(); err != nil {
			return "", context.Cause(ctx)
		}
		if err := d.file(path); err != nil {
			return "", err
		}
	}
	for path, id := range d.found.Links {
		d.put(path, git.TreeEntry{Mode: baseline.LinkMode, ID: id})
	}
	for _, e := range d.found.Restored {
		d.put(e.Path, git.TreeEntry{Mode: baseline.TreeMode(e.Mode), ID: e.ID})
	}
	entries, err := d.folder("", d.top)
	if err != nil {
		return "", err
	}
	return d.pack.Tree(entries)
}

// at is the edit of a path.
func (d *direct) at(path string) *edit {
	e := d.top
	for part := range strings.SplitSeq(path, "/") {
		if e.below == nil {
			e.below = map[string]*edit{}
		}
		if e.below[part] == nil {
			e.below[part] = &edit{}
		}
		e = e.below[part]
	}
	return e
}

func (d *direct) remove(path string) {
	e := d.at(path)
	e.gone, e.set = true, nil
	d.gone[path] = true
}

// put sets the entry of a path, unless the base has the same.
func (d *direct) put(path string, entry git.TreeEntry) {
	known := d.base.Find(path)
	if known != nil && known.ID == entry.ID && baseline.TreeMode(known.Mode) == entry.Mode {
		return
	}
	d.at(path).set = &entry
	c := git.Change{Path: path, OldMode: baseline.Absent, NewMode: entry.Mode, Old: d.zero(), New: entry.ID, Status: 'A'}
	if known != nil {
		c.OldMode, c.Old, c.Status = baseline.TreeMode(known.Mode), known.ID, 'M'
		if c.OldMode[:2] != c.NewMode[:2] {
			c.Status = 'T'
		}
	}
	d.changes = append(d.changes, c)
}

func (d *direct) zero() git.Hash {
	return git.Hash(strings.Repeat("0", len(d.Workspace.Base)))
}

// file puts a file or symlink of the workspace into the tree.
func (d *direct) file(path string) error {
	mode, content, err := d.read(path)
	switch {
	case errors.Is(err, errVanished):
		if d.base.Find(path) != nil {
			d.remove(path)
		}
		return nil
	case errors.Is(err, fs.ErrPermission):
		d.found.AddNote(survey.Unreadable, path)
		return nil
	case d.found.LeaveOut(path, err, d.base):
		return nil
	case err != nil:
		return err
	}
	known := d.base.Find(path)
	if mode != baseline.ModeSym {
		if !d.rewrites.certain(d.filters, content) {
			return errUnsure
		}
		if !d.filters.fileMode {
			mode = baseline.ModeFile
			if known != nil && known.Mode&0o170000 == 0o100000 {
				mode = known.Mode
			}
		}
	}
	entry := git.TreeEntry{Mode: baseline.TreeMode(mode), ID: d.pack.Name(content)}
	if known == nil || known.ID != entry.ID {
		if _, err := d.pack.Blob(content); err != nil {
			return err
		}
	}
	d.put(path, entry)
	return nil
}

// read reads a file or symlink. It reads no file outside of the workspace, even
// if a folder is replaced meanwhile.
func (d *direct) read(path string) (mode uint32, content []byte, err error) {
	for try := 1; ; try++ {
		var steady bool
		mode, content, steady, err = d.readOnce(path)
		if d.Live && vanished(err) && !errors.Is(err, errUnsure) {
			err = errVanished
		}
		if err != nil || steady || !d.Live || try == tries {
			return mode, content, err // a file that keeps changing is taken as it is
		}
	}
}

func (d *direct) readOnce(path string) (mode uint32, content []byte, steady bool, err error) {
	at, err := d.space.Lstat(path)
	if err != nil {
		return 0, nil, false, err
	}
	if at.Mode().Type() == fs.ModeSymlink {
		target, err := d.space.Readlink(path)
		return baseline.ModeSym, []byte(target), true, err
	}
	f, err := d.space.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return 0, nil, false, err
	}
	defer f.Close()
	before, err := f.Stat()
	switch {
	case err != nil:
		return 0, nil, false, err
	case !before.Mode().IsRegular():
		return 0, nil, false, errVanished
	case before.Size() > d.maxFile():
		return 0, nil, false, &survey.TooLargeError{Size: before.Size()}
	case before.Size() > maxDirect:
		return 0, nil, false, errUnsure
	}
	content = make([]byte, before.Size())
	n, err := io.ReadFull(git.NewSparseReader(f, before.Size()), content)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return 0, nil, false, err
	}
	after, err := f.Stat()
	if err != nil {
		return 0, nil, false, err
	}
	steady = n == len(content) && before.Size() == after.Size() &&
		baseline.Stat(before).CTime == baseline.Stat(after).CTime
	return baseline.ModeOf(before), content[:n], steady, nil
}

// sorted are all changes to the base, as git lists them.
func (d *direct) sorted() []git.Change {
	all := d.changes
	for path := range d.gone {
		if e := d.base.Find(path); e != nil && d.at(path).set == nil {
			all = append(all, git.Change{
				Path: path, OldMode: baseline.TreeMode(e.Mode), NewMode: baseline.Absent, Old: e.ID, New: d.zero(), Status: 'D',
			})
		}
	}
	slices.SortFunc(all, func(a, b git.Change) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// folder lists the new entries of a folder, and puts the trees of folders below
// it into the pack.
func (d *direct) folder(path string, e *edit) ([]git.TreeEntry, error) {
	var entries []git.TreeEntry
	if path == "" || d.base.Holds(path) {
		known, ok := d.base.Folder(path)
		if !ok {
			return nil, errUnsure
		}
		entries = known
	}
	kept := entries[:0:0]
	for _, entry := range entries {
		if e.below[entry.Name] == nil {
			kept = append(kept, entry)
		}
	}
	was := make(map[string]git.TreeEntry, len(e.below))
	for _, entry := range entries {
		if e.below[entry.Name] != nil {
			was[entry.Name] = entry
		}
	}
	// A fixed order, so that the same work makes the same pack.
	for _, name := range slices.Sorted(maps.Keys(e.below)) {
		full := name
		if path != "" {
			full = path + "/" + name
		}
		entry, err := d.entry(full, was[name], e.below[name])
		if err != nil {
			return nil, err
		}
		if entry.Mode != "" {
			entry.Name = name
			kept = append(kept, entry)
		}
	}
	return kept, nil
}

// entry is the new entry of a path; an entry without a mode does not exist.
func (d *direct) entry(path string, was git.TreeEntry, e *edit) (git.TreeEntry, error) {
	if e.set != nil {
		below := d.base.Below(path)
		for i := range below {
			d.implied = d.implied || !d.gone[below[i].Path]
		}
		for _, b := range e.below {
			if !b.empty() {
				return git.TreeEntry{}, fmt.Errorf("%q is a file and a folder: %w", path, errUnsure)
			}
		}
		return *e.set, nil
	}
	entries, err := d.folder(path, e)
	if err != nil || len(entries) > 0 {
		if err != nil {
			return git.TreeEntry{}, err
		}
		// A file of the base may be where the folder is now.
		d.implied = d.implied || was.Mode != "" && !was.IsTree() && !e.gone
		id, err := d.pack.Tree(entries)
		return git.TreeEntry{Mode: git.TreeMode, ID: id}, err
	}
	if was.IsTree() || e.gone {
		return git.TreeEntry{}, nil
	}
	return was, nil
}

// empty reports whether nothing is set at a path or below it.
func (e *edit) empty() bool {
	if e.set != nil {
		return false
	}
	for _, b := range e.below {
		if !b.empty() {
			return false
		}
	}
	return true
}

// suspicious reports whether git may refuse a path. Some file system could take
// a part of it for a .git, or for a file that git trusts (verify_path). The
// caller leaves such paths to git, which accepts many of them.
func suspicious(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if oddName(part) {
			return true
		}
	}
	return false
}

func oddName(name string) bool {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "\\\x00") {
		return true
	}
	// Some file systems drop characters beyond ASCII from names; some have a
	// short name for a long name.
	plain := strings.Map(func(r rune) rune {
		if r >= 0x80 {
			return -1
		}
		return r
	}, strings.ToLower(name))
	if strings.HasPrefix(plain, "git~") || strings.HasPrefix(plain, "gi7") || strings.HasPrefix(plain, "gitmod~") {
		return true
	}
	rest, isGit := strings.CutPrefix(plain, ".git")
	if !isGit {
		return false
	}
	if len(plain) != len(name) || strings.HasPrefix(rest, "modules") {
		return true
	}
	return rest == "" || !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-_", rune(rest[0]))
}
