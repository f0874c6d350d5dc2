package worktree

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"sort"
	"strings"

	"agentswarm/worktree/git"
)

// baseIndex is the index of a base, sorted by path as git has it. It does not
// change, so that any number of captures may read it at once.
type baseIndex struct {
	entries []git.IndexEntry
	trees   map[string]git.IndexTree // of folders, where the index knows them
	fresh   git.IndexTime            // from here on an equal time proves nothing
}

func newBaseIndex(entries []git.IndexEntry, trees map[string]git.IndexTree) *baseIndex {
	b := &baseIndex{entries: entries, trees: trees}
	var last git.IndexTime
	for i := range entries {
		if last.Before(entries[i].CTime) {
			last = entries[i].CTime
		}
	}
	b.fresh = earlier(last)
	return b
}

// find is the entry of a file; nil where there is none.
func (b *baseIndex) find(path string) *git.IndexEntry {
	i := b.from(path)
	if i == len(b.entries) || b.entries[i].Path != path {
		return nil
	}
	return &b.entries[i]
}

// below are the entries in a folder and in those below it; "" is the whole.
func (b *baseIndex) below(dir string) []git.IndexEntry {
	if dir == "" {
		return b.entries
	}
	// What follows the slash in the order of bytes ends the folder.
	return b.entries[b.from(dir+"/"):b.from(dir+"0")]
}

// holds reports whether a folder has files.
func (b *baseIndex) holds(dir string) bool {
	i := b.from(dir + "/")
	return i < len(b.entries) && strings.HasPrefix(b.entries[i].Path, dir+"/")
}

// from is the place of the first entry that does not come before a path.
func (b *baseIndex) from(path string) int {
	return sort.Search(len(b.entries), func(i int) bool { return b.entries[i].Path >= path })
}

// folder lists a folder as its tree does. It looks at what is in it and not
// at what is below; ok is false where the index does not know all of it.
func (b *baseIndex) folder(dir string) (entries []git.TreeEntry, ok bool) {
	all, skip := b.below(dir), 0
	if dir != "" {
		skip = len(dir) + 1
	}
	for i := 0; i < len(all); {
		e := &all[i]
		name, _, deeper := strings.Cut(e.Path[skip:], "/")
		if !deeper {
			entries = append(entries, git.TreeEntry{Name: name, Mode: treeMode(e.Mode), ID: e.ID})
			i++
			continue
		}
		at := e.Path[:skip+len(name)]
		known, found := b.trees[at]
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

// readBase reads the index of a workspace's base. That of an overlay belongs
// to all workspaces of the base and is read once.
func (t *Trees) readBase(ctx context.Context, w Workspace) (*baseIndex, error) {
	if w.kind() != Overlay {
		return t.parseBase(w.Index)
	}
	at, err := os.Lstat(w.Index)
	if err != nil {
		return nil, err
	}
	return learn(ctx, t, func() (*baseIndex, bool) {
		t.mu.Lock()
		defer t.mu.Unlock()
		known, ok := t.indexes[w.Index]
		ok = ok && os.SameFile(known.at, at) && known.at.ModTime().Equal(at.ModTime()) && known.at.Size() == at.Size()
		return known.index, ok
	}, func() (*baseIndex, error) {
		b, err := t.parseBase(w.Index)
		if err != nil {
			return nil, err
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.indexes == nil || len(t.indexes) >= maxIndexes {
			t.indexes = map[string]readIndex{}
		}
		t.indexes[w.Index] = readIndex{index: b, at: at}
		return b, nil
	})
}

// readIndex is an index that was read, and its file as it was before.
type readIndex struct {
	index *baseIndex
	at    fs.FileInfo
}

// maxIndexes is how many are held: a run has one base, or a few.
const maxIndexes = 4

func (t *Trees) parseBase(path string) (*baseIndex, error) {
	entries, trees, err := t.Repo.ReadIndexTrees(path)
	if err != nil {
		return nil, err
	}
	// Git writes them sorted; all that is looked up relies on it.
	if !slices.IsSortedFunc(entries, func(a, b git.IndexEntry) int { return strings.Compare(a.Path, b.Path) }) {
		return nil, &git.IndexError{Reason: "it is not sorted"}
	}
	return newBaseIndex(entries, trees), nil
}

// treeMode is a mode as a tree object is listed.
func treeMode(mode uint32) string {
	switch mode {
	case modeFile:
		return "100644"
	case modeExec:
		return "100755"
	case modeSym:
		return "120000"
	default:
		return linkMode
	}
}
