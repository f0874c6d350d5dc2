package survey

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/worktree/baseline"
	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
	"agentswarm/worktree/workspace"
)

// walker compares a workspace with the index of its fill, by lstat alone. It
// reads no file and follows no symlink.
type walker struct {
	work    workspace.Workspace
	root    string // where the files are
	base    *baseline.Index
	placed  baseline.Placed
	folders map[string]bool // those that hold work that was restored
	along   map[string]bool // those that hold included files of the user
	ignores func(ctx context.Context, paths []string) ([]bool, error)

	maxFile int64 // larger new or changed files are left out; 0: none is

	seen  map[string]bool // files of the base that are there
	anew  []string        // the base's content of these paths is gone, except the seen files
	inner bool            // the walk is below one of them

	opaque map[string]bool // folders of an upper layer that hide those below
	out    Survey
}

// Request describes a workspace and the state to compare it with.
type Request struct {
	Workspace workspace.Workspace // required
	Base      *baseline.Index     // required
	Placed    baseline.Placed     // the files that were put in beside the base
	MaxFile   int64               // bytes; larger new or changed files are left out; 0: no file is
	// Ignored answers which paths the rules of the base ignore; a folder ends in a
	// slash. Required.
	Ignored func(ctx context.Context, paths []string) ([]bool, error)
}

// Take compares a workspace with its base and the placed files. It returns a
// [*GoneError] if the workspace does not exist.
func Take(ctx context.Context, r Request) (*Survey, error) { return newWalker(r).walk(ctx) }

func newWalker(r Request) *walker {
	w, more := r.Workspace, r.Placed
	k := &walker{
		work: w, root: w.Files(), base: r.Base, placed: more, ignores: r.Ignored, maxFile: r.MaxFile,
		folders: map[string]bool{}, along: map[string]bool{}, seen: map[string]bool{},
		opaque: map[string]bool{},
	}
	k.out.Links = map[string]git.Hash{}
	for path := range more {
		if more.Included(path) {
			disk.AddParents(k.along, path)
		} else {
			disk.AddParents(k.folders, path)
		}
	}
	return k
}

func (e *GoneError) Error() string { return e.Dir + " is gone" }

// walk surveys the workspace.
func (k *walker) walk(ctx context.Context) (*Survey, error) {
	// An agent can delete or replace the folder it works in. That must not
	// read as a wish to delete all files.
	if at, err := os.Lstat(k.root); err != nil || !at.IsDir() {
		return nil, &GoneError{Dir: k.root}
	}
	if k.work.Module == "" {
		k.dotGit()
	}
	if k.work.Kind() != workspace.Overlay {
		k.anew, k.inner = []string{""}, true
	}
	if err := k.dir(ctx, ""); err != nil {
		return nil, err
	}
	// If several agents work in it, an agent may have deleted it during the
	// walk.
	if at, err := os.Lstat(k.root); err != nil || !at.IsDir() {
		return nil, &GoneError{Dir: k.root}
	}
	for _, path := range k.anew {
		if e := k.base.Find(path); e != nil {
			k.gone(e)
		}
		below := k.base.Below(path)
		for i := range below {
			k.gone(&below[i])
		}
	}
	for path := range k.placed {
		if k.placed.Gone(path) && !k.seen[path] {
			k.out.Deleted = append(k.out.Deleted, path)
		}
	}
	slices.Sort(k.out.Deleted)
	k.out.Deleted = slices.Compact(k.out.Deleted)
	return &k.out, nil
}

// gone takes a file of the base for deleted, unless it was seen or could not be.
func (k *walker) gone(e *git.IndexEntry) {
	if !k.seen[e.Path] && !e.SkipWorktree && !k.withheld(e.Path) {
		k.out.Largest = max(k.out.Largest, int64(e.Size))
		k.out.Deleted = append(k.out.Deleted, e.Path)
	}
}

// withheld reports whether a path lies in an unreadable folder: a file that
// cannot be seen there counts as present.
func (k *walker) withheld(path string) bool {
	return slices.ContainsFunc(k.out.withheld, func(dir string) bool {
		return dir == "" || strings.HasPrefix(path, dir+"/")
	})
}

// dotGit checks whether the .git file is still git's own.
func (k *walker) dotGit() {
	path := filepath.Join(k.root, ".git")
	at, err := os.Lstat(path)
	if k.work.Private() && k.work.At != "" && (err == nil || disk.Missing(err)) {
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
		k.out.AddNote(GitReplaced, ".git")
		return
	}
	// A file that is gone or leads elsewhere holds no work.
	k.out.Notes = append(k.out.Notes, Note{Kind: GitReplaced, Path: ".git"})
}

// dir surveys a single folder; rel is "" for the workspace itself.
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
		switch known := k.base.Find(path); {
		case at.IsDir() && (known != nil && known.Mode == baseline.ModeLink || k.placed.Link(path)):
			if !k.submodule(path) {
				folders = append(folders, path)
			}
		case at.IsDir() && (k.folders[path] || k.base.Holds(path)):
			folders = append(folders, path)
		case at.IsDir():
			ask = append(ask, path+"/")
		case !at.Mode().IsRegular() && at.Mode().Type() != fs.ModeSymlink:
			k.out.AddNote(SpecialFile, path)
		case k.placed.Included(path):
			// Whatever the rules of the base say: it is the user's, and not work.
			if !k.untouched(path, at) {
				k.out.Ignored.add(k.root, path, nil)
			}
		case known != nil || k.placed.Work(path):
			k.seen[path] = true
			k.file(path, at, known)
		case k.cameAlong(path) == isFile:
			k.out.Ignored.add(k.root, path, nil)
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

// look returns the path and the status of an entry of a folder. The status is
// nil if a capture takes no such entry.
func (k *walker) look(rel string, e fs.DirEntry) (path string, at fs.FileInfo) {
	path = e.Name()
	if rel != "" {
		path = rel + "/" + path
	}
	if strings.EqualFold(e.Name(), ".git") {
		if rel != "" {
			k.out.AddNote(NestedRepository, rel)
		} else if e.Name() != ".git" {
			k.out.AddNote(NameRefused, path)
		}
		return path, nil
	}
	at, err := e.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	if err != nil {
		k.out.AddNote(Unreadable, path)
		return path, nil
	}
	return path, at
}

// list reads a folder, opening it first where the agent closed it.
func (k *walker) list(rel string) ([]fs.DirEntry, bool) {
	dir := filepath.Join(k.root, rel)
	at, err := os.Lstat(dir)
	if disk.Missing(err) || err == nil && !at.IsDir() {
		return nil, true // it was removed meanwhile
	}
	if err == nil && at.Mode().Perm()&0o500 != 0o500 {
		if err = os.Chmod(dir, at.Mode().Perm()|0o700); err == nil {
			k.out.AddNote(MadeReadable, rel+"/")
		}
	}
	var entries []fs.DirEntry
	if err == nil {
		entries, err = os.ReadDir(dir)
	}
	if disk.Missing(err) {
		return nil, true
	}
	if err != nil {
		k.out.AddNote(Unreadable, rel+"/")
		k.out.withheld = append(k.out.withheld, rel)
		return nil, false
	}
	return entries, true
}

// untracked sorts paths that are not in the index into ignored and new, and
// returns the folders to survey next.
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
			k.out.Ignored.add(k.root, path, k.untouched)
		case ignored[i] && isDir && k.cameAlong(dir) == isFolder:
			k.out.Ignored.add(k.root, path, k.whiteout)
		case ignored[i]:
			k.out.Ignored.add(k.root, path, nil)
		case isDir:
			folders = append(folders, dir)
		default:
			at, err := os.Lstat(filepath.Join(k.root, path))
			switch {
			case disk.Missing(err):
			case err != nil:
				k.out.AddNote(Unreadable, path)
			default:
				k.file(path, at, nil)
			}
		}
	}
	return folders, nil
}

// untouched reports whether an included file is unchanged.
func (k *walker) untouched(path string, at fs.FileInfo) bool {
	if !k.placed.Included(path) || !k.placed.Unchanged(path, at) {
		return false
	}
	k.out.Seal.add(path, at)
	return true
}

// file surveys a file or symlink; known is nil if the base does not have it.
func (k *walker) file(path string, at fs.FileInfo, known *git.IndexEntry) {
	if at.Mode().IsRegular() && at.Mode().Perm()&0o400 == 0 {
		full := filepath.Join(k.root, path)
		err := os.Chmod(full, at.Mode().Perm()|0o600)
		if err == nil {
			at, err = os.Lstat(full)
		}
		if disk.Missing(err) {
			delete(k.seen, path)
			return
		}
		if err != nil {
			k.out.AddNote(Unreadable, path)
			return
		}
		k.out.AddNote(MadeReadable, path)
	}
	k.out.Seal.add(path, at)
	if k.placed.Work(path) && k.placed.Unchanged(path, at) {
		k.out.Restored = append(k.out.Restored, k.placed[path])
		return
	}
	if known != nil && k.same(at, known) {
		return
	}
	if k.maxFile > 0 && at.Mode().IsRegular() && at.Size() > k.maxFile {
		k.out.Large = append(k.out.Large, LargeFile{Path: path, Size: at.Size(), Known: known})
		return
	}
	if known != nil && known.SkipWorktree {
		k.out.Present = append(k.out.Present, path)
	}
	k.out.Largest = max(k.out.Largest, at.Size())
	if known != nil {
		k.out.Largest = max(k.out.Largest, int64(known.Size))
	}
	k.out.Changed = append(k.out.Changed, path)
}

// same reports whether a file is certainly as the fill left it.
//
// An agent or a restore wrote every file in an upper layer.
func (k *walker) same(at fs.FileInfo, e *git.IndexEntry) bool {
	if k.work.Kind() == workspace.Overlay {
		return false
	}
	s := baseline.Stat(at)
	return baseline.ModeOf(at) == e.Mode && s.Size == e.Size && s.Inode == e.Inode &&
		sameTime(s.MTime, e.MTime) && sameTime(s.CTime, e.CTime) &&
		s.CTime.Before(k.base.Fresh)
}

// sameTime compares the digits that both sides have: a git without nanoseconds
// stores 0.
func sameTime(disk, index git.IndexTime) bool {
	return disk.Sec == index.Sec && (disk.Nano == index.Nano || index.Nano == 0)
}
