package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/worktree/git"
)

// racy is how long before the last file of a fill an equal time proves
// nothing: the clock of a file system stands still for a tick.
const racy = 20_000_000 // nanoseconds

// survey is what a walk over a workspace found.
type survey struct {
	changed  []string            // files and symlinks that may differ from the base, or are new
	deleted  []string            // of the base, gone
	present  []string            // of those in changed, outside of a sparse checkout
	restored []git.IndexEntry    // files that still are what a restore wrote
	links    map[string]git.Hash // submodules at another commit
	modules  []string            // submodules with a git dir
	largest  int64               // bytes of the largest file that is captured, or was deleted
	large    []LargeFile         // new or changed files above the size limit
	notes    []Note
	partial  bool // something is neither in the base, nor here, nor ignored
	ignored  ignoredFiles
	seal     seal
	withheld []string // folders that could not be read
}

func (s *survey) note(kind NoteKind, path string) {
	s.notes = append(s.notes, Note{Kind: kind, Path: path})
	switch kind {
	case NestedRepository, SubmoduleAdded, GitReplaced, SubmoduleMoved, SubmoduleLeft, SubmoduleMissing, Unreadable,
		SpecialFile, NameRefused:
		s.partial = true
	case SubmoduleReplaced, MadeReadable, HeadInvalid, FilterFailed, Entangled, TooLarge, MoreTooLarge, PatchOmitted:
	}
}

// walker compares a workspace with the index of its fill, by lstat alone. It
// reads no file and follows no symlink.
type walker struct {
	work    Workspace
	root    string // where the files are
	base    *baseIndex
	placed  placed
	folders map[string]bool // those that hold work that was restored
	along   map[string]bool // those that hold files of the user's that came along
	ignores func(ctx context.Context, paths []string) ([]bool, error)

	maxFile int64 // larger new or changed files are left out; 0: none is

	seen  map[string]bool // files of the base that are there
	anew  []string        // what the base has at these paths is gone but for what was seen
	inner bool            // what is looked at lies below one of them

	opaque map[string]bool // folders of an upper layer that hide those below
	out    survey
}

func newWalker(w Workspace, base *baseIndex, more placed) *walker {
	k := &walker{
		work: w, root: w.files(), base: base, placed: more,
		folders: map[string]bool{}, along: map[string]bool{}, seen: map[string]bool{},
		opaque: map[string]bool{},
	}
	k.out.links = map[string]git.Hash{}
	for path := range more {
		if more.included(path) {
			addParents(k.along, path)
		} else {
			addParents(k.folders, path)
		}
	}
	return k
}

// addParents adds all folders above a path.
func addParents(folders map[string]bool, path string) {
	for dir := parent(path); dir != "" && !folders[dir]; dir = parent(dir) {
		folders[dir] = true
	}
}

// earlier goes back by what a clock may stand still, which on a file system
// without nanoseconds is a second or two.
func earlier(t git.IndexTime) git.IndexTime {
	switch {
	case t.Nano >= racy:
		return git.IndexTime{Sec: t.Sec, Nano: t.Nano - racy}
	case t.Nano > 0 && t.Sec > 0:
		return git.IndexTime{Sec: t.Sec - 1, Nano: t.Nano + 1_000_000_000 - racy}
	default:
		return git.IndexTime{Sec: max(t.Sec, 2) - 2}
	}
}

func parent(path string) string {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)]
}

// GoneError says that a workspace is not there any more, or not a folder.
type GoneError struct{ Dir string }

func (e *GoneError) Error() string { return e.Dir + " is gone" }

// walk surveys the workspace.
func (k *walker) walk(ctx context.Context) (*survey, error) {
	// An agent can delete or replace the folder it works in. That must not
	// read as a wish to delete all files.
	if at, err := os.Lstat(k.root); err != nil || !at.IsDir() {
		return nil, &GoneError{Dir: k.root}
	}
	if k.work.module == "" {
		k.dotGit()
	}
	if k.work.kind() != Overlay {
		k.anew, k.inner = []string{""}, true
	}
	if err := k.dir(ctx, ""); err != nil {
		return nil, err
	}
	// Where several work in it, one may have deleted it under the walk.
	if at, err := os.Lstat(k.root); err != nil || !at.IsDir() {
		return nil, &GoneError{Dir: k.root}
	}
	for _, path := range k.anew {
		if e := k.base.find(path); e != nil {
			k.gone(e)
		}
		below := k.base.below(path)
		for i := range below {
			k.gone(&below[i])
		}
	}
	for path := range k.placed {
		if k.placed.gone(path) && !k.seen[path] {
			k.out.deleted = append(k.out.deleted, path)
		}
	}
	slices.Sort(k.out.deleted)
	k.out.deleted = slices.Compact(k.out.deleted)
	return &k.out, nil
}

// gone takes a file of the base for deleted, unless it was seen or could not be.
func (k *walker) gone(e *git.IndexEntry) {
	if !k.seen[e.Path] && !e.SkipWorktree && !k.withheld(e.Path) {
		k.out.largest = max(k.out.largest, int64(e.Size))
		k.out.deleted = append(k.out.deleted, e.Path)
	}
}

// withheld reports whether a path lies in a folder that could not be read:
// what is not seen there is not deleted.
func (k *walker) withheld(path string) bool {
	return slices.ContainsFunc(k.out.withheld, func(dir string) bool {
		return dir == "" || strings.HasPrefix(path, dir+"/")
	})
}

// dotGit looks whether the .git file is the one that git made.
func (k *walker) dotGit() {
	path := filepath.Join(k.root, ".git")
	at, err := os.Lstat(path)
	if k.work.Private() && k.work.At != "" && (err == nil || missing(err)) {
		k.mountPoint(path, at)
		return
	}
	if err == nil && at.Mode().IsRegular() && at.Size() < 1<<16 {
		text, err := os.ReadFile(path)
		if err == nil && strings.TrimRight(string(text), "\n") == "gitdir: "+k.work.Admin {
			return
		}
	}
	if err == nil && at.IsDir() {
		k.out.note(GitReplaced, ".git")
		return
	}
	// A file that is gone or leads elsewhere holds no work.
	k.out.notes = append(k.out.notes, Note{Kind: GitReplaced, Path: ".git"})
}

// dir surveys one folder; rel is "" for the workspace itself.
func (k *walker) dir(ctx context.Context, rel string) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	entries, ok := k.list(rel)
	if !ok {
		return nil
	}
	var ask, folders []string
	for _, e := range entries {
		path, at := k.look(rel, e)
		if at == nil {
			continue
		}
		if k.removed(path, at) {
			continue
		}
		switch known := k.base.find(path); {
		case at.IsDir() && (known != nil && known.Mode == modeLink || k.placed.link(path)):
			if !k.submodule(path) {
				folders = append(folders, path)
			}
		case at.IsDir() && (k.folders[path] || k.base.holds(path)):
			folders = append(folders, path)
		case at.IsDir():
			ask = append(ask, path+"/")
		case !at.Mode().IsRegular() && at.Mode().Type() != fs.ModeSymlink:
			k.out.note(SpecialFile, path)
		case k.placed.included(path):
			// Whatever the rules of the base say: it is the user's, and not work.
			if !k.untouched(path, at) {
				k.out.ignored.add(k.root, path, nil)
			}
		case known != nil || k.placed.work(path):
			k.seen[path] = true
			k.file(path, at, known)
		case k.cameAlong(path) == isFile:
			k.out.ignored.add(k.root, path, nil)
		default:
			ask = append(ask, path)
		}
	}
	more, err := k.untracked(ctx, ask)
	if err != nil {
		return err
	}
	for _, path := range append(folders, more...) {
		if err := k.inside(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

// look finds out what an entry of a folder is; nil is for one that is no file
// to us.
func (k *walker) look(rel string, e fs.DirEntry) (path string, at fs.FileInfo) {
	path = e.Name()
	if rel != "" {
		path = rel + "/" + path
	}
	if strings.EqualFold(e.Name(), ".git") {
		if rel != "" {
			k.out.note(NestedRepository, rel)
		} else if e.Name() != ".git" {
			k.out.note(NameRefused, path)
		}
		return path, nil
	}
	at, err := e.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	if err != nil {
		k.out.note(Unreadable, path)
		return path, nil
	}
	return path, at
}

// list reads a folder, opening it first where the agent closed it.
func (k *walker) list(rel string) ([]fs.DirEntry, bool) {
	dir := filepath.Join(k.root, rel)
	at, err := os.Lstat(dir)
	if missing(err) || err == nil && !at.IsDir() {
		return nil, true // somebody took it away meanwhile
	}
	if err == nil && at.Mode().Perm()&0o500 != 0o500 {
		if err = os.Chmod(dir, at.Mode().Perm()|0o700); err == nil {
			k.out.note(MadeReadable, rel+"/")
		}
	}
	var entries []fs.DirEntry
	if err == nil {
		entries, err = os.ReadDir(dir)
	}
	if missing(err) {
		return nil, true
	}
	if err != nil {
		k.out.note(Unreadable, rel+"/")
		k.out.withheld = append(k.out.withheld, rel)
		return nil, false
	}
	return entries, true
}

// untracked sorts what the index does not know into ignored and new, and
// returns the folders to go on with.
func (k *walker) untracked(ctx context.Context, ask []string) (folders []string, err error) {
	if len(ask) == 0 {
		return nil, nil
	}
	ignored, err := k.ignores(ctx, ask)
	if err != nil {
		return nil, err
	}
	for i, path := range ask {
		dir, isDir := strings.CutSuffix(path, "/")
		switch {
		case ignored[i] && isDir && k.along[dir]:
			k.out.ignored.add(k.root, path, k.untouched)
		case ignored[i] && isDir && k.cameAlong(dir) == isFolder:
			k.out.ignored.add(k.root, path, k.whiteout)
		case ignored[i]:
			k.out.ignored.add(k.root, path, nil)
		case isDir:
			folders = append(folders, dir)
		default:
			at, err := os.Lstat(filepath.Join(k.root, path))
			switch {
			case missing(err):
			case err != nil:
				k.out.note(Unreadable, path)
			default:
				k.file(path, at, nil)
			}
		}
	}
	return folders, nil
}

// untouched reports whether a file that came along is as it was.
func (k *walker) untouched(path string, at fs.FileInfo) bool {
	if !k.placed.included(path) || !k.placed.unchanged(path, at) {
		return false
	}
	k.out.seal.add(path, at)
	return true
}

// file looks at one file or symlink; known is nil for one that is not in the
// base.
func (k *walker) file(path string, at fs.FileInfo, known *git.IndexEntry) {
	if at.Mode().IsRegular() && at.Mode().Perm()&0o400 == 0 {
		full := filepath.Join(k.root, path)
		err := os.Chmod(full, at.Mode().Perm()|0o600)
		if err == nil {
			at, err = os.Lstat(full)
		}
		if missing(err) {
			delete(k.seen, path)
			return
		}
		if err != nil {
			k.out.note(Unreadable, path)
			return
		}
		k.out.note(MadeReadable, path)
	}
	k.out.seal.add(path, at)
	if k.placed.work(path) && k.placed.unchanged(path, at) {
		k.out.restored = append(k.out.restored, k.placed[path])
		return
	}
	if known != nil && k.same(at, known) {
		return
	}
	if k.maxFile > 0 && at.Mode().IsRegular() && at.Size() > k.maxFile {
		k.out.large = append(k.out.large, LargeFile{Path: path, Size: at.Size(), known: known})
		return
	}
	if known != nil && known.SkipWorktree {
		k.out.present = append(k.out.present, path)
	}
	k.out.largest = max(k.out.largest, at.Size())
	if known != nil {
		k.out.largest = max(k.out.largest, int64(known.Size))
	}
	k.out.changed = append(k.out.changed, path)
}

// same reports whether a file is certainly what the fill left.
//
// Whatever is in an upper layer was written.
func (k *walker) same(at fs.FileInfo, e *git.IndexEntry) bool {
	if k.work.kind() == Overlay {
		return false
	}
	s := statOf(at)
	return gitMode(at) == e.Mode && s.Size == e.Size && s.Inode == e.Inode &&
		sameTime(s.MTime, e.MTime) && sameTime(s.CTime, e.CTime) &&
		s.CTime.Before(k.base.fresh)
}

// sameTime compares what both sides know: a git without nanoseconds stores 0.
func sameTime(disk, index git.IndexTime) bool {
	return disk.Sec == index.Sec && (disk.Nano == index.Nano || index.Nano == 0)
}
