// Package baseline holds the state of a workspace's files before its agent began:
// the index of the base, the record of files placed beside it, and the comparison
// of a file with both. It reads no file content.
package baseline

import (
	"slices"
	"sort"
	"strings"

	"agentswarm/worktree/git"
)

// Index is the index of a base, sorted by path as git has it. It does not
// change, so that any number of captures may read it at once.
type Index struct {
	Entries []git.IndexEntry
	Trees   map[string]git.IndexTree // of folders, where the index knows them
	Fresh   git.IndexTime            // from here on an equal time proves nothing
}

// New makes an index of sorted entries, and of the trees of folders as far as they
// are known.
func New(entries []git.IndexEntry, trees map[string]git.IndexTree) *Index {
	b := &Index{Entries: entries, Trees: trees}
	var last git.IndexTime
	for i := range entries {
		if last.Before(entries[i].CTime) {
			last = entries[i].CTime
		}
	}
	b.Fresh = earlier(last)
	return b
}

// Find is the entry of a file; nil where there is none.
func (b *Index) Find(path string) *git.IndexEntry {
	i := b.from(path)
	if i == len(b.Entries) || b.Entries[i].Path != path {
		return nil
	}
	return &b.Entries[i]
}

// Below are the entries in a folder and in those below it; "" is the whole.
func (b *Index) Below(dir string) []git.IndexEntry {
	if dir == "" {
		return b.Entries
	}
	// A name after the slash in the order of bytes ends the folder.
	return b.Entries[b.from(dir+"/"):b.from(dir+"0")]
}

// Holds reports whether a folder has files.
func (b *Index) Holds(dir string) bool {
	i := b.from(dir + "/")
	return i < len(b.Entries) && strings.HasPrefix(b.Entries[i].Path, dir+"/")
}

// from is the place of the first entry that does not come before a path.
func (b *Index) from(path string) int {
	return sort.Search(len(b.Entries), func(i int) bool { return b.Entries[i].Path >= path })
}

// Folder lists a folder as its tree does. It reads the entries of the folder
// itself and not those of folders below. ok is false if the index does not have
// all of the folder's trees.
func (b *Index) Folder(dir string) (entries []git.TreeEntry, ok bool) {
	all, skip := b.Below(dir), 0
	if dir != "" {
		skip = len(dir) + 1
	}
	for i := 0; i < len(all); {
		e := &all[i]
		name, _, deeper := strings.Cut(e.Path[skip:], "/")
		if !deeper {
			entries = append(entries, git.TreeEntry{Name: name, Mode: TreeMode(e.Mode), ID: e.ID})
			i++
			continue
		}
		at := e.Path[:skip+len(name)]
		known, found := b.Trees[at]
		end := i + known.Entries
		// The count is believed only where the folder ends there.
		if !found || known.Entries < 1 || end > len(all) ||
			!strings.HasPrefix(all[end-1].Path, at+"/") ||
			end < len(all) && strings.HasPrefix(all[end].Path, at+"/") {
			return nil, false
		}
		entries = append(entries, git.TreeEntry{Name: name, Mode: git.TreeMode, ID: known.ID})
		i = end
	}
	return entries, true
}

// Read reads an index file. It returns a [*git.IndexError] for an unsorted
// index.
func Read(repo *git.Repo, path string) (*Index, error) {
	entries, trees, err := repo.ReadIndexTrees(path)
	if err != nil {
		return nil, err
	}
	// Git writes them sorted; all that is looked up relies on it.
	if !slices.IsSortedFunc(entries, func(a, b git.IndexEntry) int { return strings.Compare(a.Path, b.Path) }) {
		return nil, &git.IndexError{Reason: "it is not sorted"}
	}
	return New(entries, trees), nil
}
