package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// absent is the mode of a side of a change that is not there.
const absent = "000000"

// Gitlink is the mode of a submodule.
const Gitlink = "160000"

// differing lists the entries that the files of this checkout are not equal
// to. Filters and line ends are the user's. A path that a sparse checkout
// leaves out differs from nothing.
//
// The question is asked with an index of its own that holds only these
// entries: the user's is not touched, its assume-unchanged bits are not
// believed, and nothing else of the tree is read.
func (r *Repo) differing(ctx context.Context, scratch string, entries []Entry) (paths []string, err error) {
	if len(entries) == 0 {
		return nil, nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("look at the files of %s: %w", r.TopLevel, err)
		}
	}()
	index := filepath.Join(scratch, "compared")
	defer func() {
		if rerr := os.Remove(index); !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}()
	run := func(stdin *bytes.Buffer, args ...string) ([]byte, error) {
		c := Cmd{
			Args: args, Writes: true, Config: []string{"core.ignoreStat=false"},
			Env: []string{"GIT_INDEX_FILE=" + index},
		}
		if stdin != nil {
			c.Stdin = stdin
		}
		return r.Run(ctx, c)
	}
	var in bytes.Buffer
	for _, e := range entries {
		fmt.Fprintf(&in, "%s %s\t%s\x00", e.Mode, e.ID, e.Path)
	}
	if _, err := run(&in, "update-index", "-z", "--index-info"); err != nil {
		return nil, err
	}
	// Exit code 1 means that files differ; the next command lists them.
	_, err = run(nil, "update-index", "-q", "--really-refresh")
	var bad *Error
	if err != nil && (!errors.As(err, &bad) || bad.Code != 1) {
		return nil, err
	}
	out, err := run(nil, "diff-files", "--raw", "-z", "--no-renames", "--full-index",
		"--no-ext-diff", "--ignore-submodules=dirty")
	if err != nil {
		return nil, err
	}
	changes, err := parseRaw(out)
	if err != nil {
		return nil, err
	}
	return r.withoutSparse(ctx, changes)
}

// withoutSparse lists the paths of changes, except deleted files that a sparse
// checkout leaves out.
func (r *Repo) withoutSparse(ctx context.Context, changes []Change) ([]string, error) {
	gone := func(c Change) bool { return c.Status == 'D' }
	var sparse map[string]bool
	if slices.ContainsFunc(changes, gone) {
		var err error
		if sparse, err = r.sparse(ctx); err != nil {
			return nil, err
		}
	}
	var paths []string
	for _, c := range changes {
		if !gone(c) || !sparse[c.Path] {
			paths = append(paths, c.Path)
		}
	}
	return paths, nil
}

// LeftOut lists, of the files that changes are to be made to, those that a
// sparse checkout does not have on disk.
func (r *Repo) LeftOut(ctx context.Context, changes []Change) ([]string, error) {
	sparse, err := r.sparse(ctx)
	if err != nil {
		return nil, fmt.Errorf("look at the index of %s: %w", r.TopLevel, err)
	}
	var paths []string
	for _, c := range changes {
		if !sparse[c.Path] {
			continue
		}
		_, err := os.Lstat(filepath.Join(r.TopLevel, c.Path))
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			paths = append(paths, c.Path)
		}
	}
	return paths, nil
}

// sparse are the paths that need not be on disk, as the index says.
func (r *Repo) sparse(ctx context.Context) (map[string]bool, error) {
	out, err := r.Run(ctx, Cmd{Args: []string{"ls-files", "-t", "-z", "--cached"}})
	if err != nil {
		return nil, err
	}
	paths := map[string]bool{}
	for rec := range strings.SplitSeq(string(out), "\x00") {
		if p, ok := strings.CutPrefix(rec, "S "); ok {
			paths[p] = true
		}
	}
	return paths, nil
}

// inTheWay lists the files that lie where the changes put new files, ignored files
// too: git itself would overwrite those. It leaves out checkouts of submodules.
func (r *Repo) inTheWay(changes []Change, modules modulesWay) []string {
	leaves := map[string]bool{} // paths that the changes remove
	for _, c := range changes {
		if c.NewMode == absent || c.OldMode != absent && c.OldMode != c.NewMode {
			leaves[c.Path] = true
		}
	}
	above := newPathSet(changes).above
	var found []string
	for _, c := range changes {
		if modules.checkedOut[c.Path] {
			continue
		}
		if replacesModule(c, above) {
			// Our indexes do not have the files in a submodule's folder, and
			// git removes all of them to put a file there. The files that git
			// puts below the folder go into the checkout of another repository.
			found = append(found, r.inside(c.Path)...)
			continue
		}
		if c.OldMode != absent {
			continue
		}
		if p := r.blockedAbove(c.Path); p != "" {
			if !leaves[p] {
				found = append(found, p)
			}
			continue
		}
		full := filepath.Join(r.TopLevel, c.Path)
		info, err := os.Lstat(full)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil || !info.IsDir():
			found = append(found, c.Path)
		default:
			found = append(found, r.strangers(full, leaves)...)
		}
	}
	return found
}

// blockedAbove is the nearest thing above a path that is no folder, from the
// top; empty where there is none.
func (r *Repo) blockedAbove(p string) string {
	for i, c := range []byte(p) {
		if c != '/' {
			continue
		}
		info, err := os.Lstat(filepath.Join(r.TopLevel, p[:i]))
		if err != nil {
			return ""
		}
		if !info.IsDir() {
			return p[:i]
		}
	}
	return ""
}

// inside lists the content of a folder; it is empty if there is no folder.
func (r *Repo) inside(path string) []string {
	full := filepath.Join(r.TopLevel, path)
	if info, err := os.Lstat(full); err != nil || !info.IsDir() {
		return nil
	}
	return r.strangers(full, nil)
}

// strangers lists the files below a folder that are not about to leave it.
func (r *Repo) strangers(full string, leaves map[string]bool) []string {
	var found []string
	walk := func(p string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(r.TopLevel, p)
		if err != nil || !d.IsDir() && !leaves[rel] {
			found = append(found, rel)
		}
		return nil
	}
	// The walk hands every error to the function above, which ends none.
	_ = filepath.WalkDir(full, walk)
	return found
}

// oldEntries are the files as they are before the changes.
func oldEntries(changes []Change) []Entry {
	var entries []Entry
	for _, c := range changes {
		if c.OldMode != absent {
			entries = append(entries, Entry{Path: c.Path, Mode: c.OldMode, ID: c.Old})
		}
	}
	return entries
}

// pathSet answers whether a path is among some paths, above them or below them.
type pathSet struct{ paths, above map[string]bool }

func newPathSet(changes []Change) pathSet {
	s := pathSet{paths: map[string]bool{}, above: map[string]bool{}}
	for _, c := range changes {
		s.paths[c.Path] = true
		for dir := path.Dir(c.Path); dir != "." && !s.above[dir]; dir = path.Dir(dir) {
			s.above[dir] = true
		}
	}
	return s
}

func (s pathSet) meets(p string) bool {
	if s.above[p] {
		return true
	}
	for ; p != "."; p = path.Dir(p) {
		if s.paths[p] {
			return true
		}
	}
	return false
}

func sortedKeys(set map[string]bool) []string {
	return slices.Sorted(maps.Keys(set))
}
