package git

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// maxListed is the number of files that a kept listing may have. A file takes
// about 150 bytes.
const maxListed = 100_000

// Bounds of the kept trees of commits and changes between trees.
const (
	maxDiffs   = 32
	maxTrees   = 10_000
	maxChanges = 1000
)

// memo keeps answers about objects, which never change, and the settings as they
// were read first. The methods of nil keep nothing.
type memo struct {
	mu      sync.Mutex // guards the fields below
	trees   map[Hash]Hash
	sized   Hash // the tree of sizes
	sizes   []int64
	changes map[[2]Hash][]Change

	reading  sync.Mutex // held while the settings are read; guards settings
	settings []Setting  // nil: not read

	listing sync.Mutex // held while a tree is listed; guards the fields below
	listed  Hash       // the tree of entries
	entries []Entry
}

func newMemo() *memo { return &memo{trees: map[Hash]Hash{}} }

// tree returns the tree of a commit, as far as it is known.
func (m *memo) tree(commit Hash) (Hash, bool) {
	if m == nil {
		return "", false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	tree, ok := m.trees[commit]
	return tree, ok
}

// key returns the tree of a commit whose tree is known, else the argument.
func (m *memo) key(treeish Hash) Hash {
	if tree, ok := m.tree(treeish); ok {
		return tree
	}
	return treeish
}

func (m *memo) addTree(commit, tree Hash) {
	if m == nil || !hexHash(commit) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.trees) == maxTrees {
		clear(m.trees)
	}
	m.trees[commit] = tree
}

// hexHash reports whether a name is the full id of an object: no other name means
// the same at any time.
func hexHash(h Hash) bool { return isHex(string(h), 40) || isHex(string(h), 64) }

// list returns the entries of a tree: those that are kept, else those that read
// returns. The caller may change the result.
func (m *memo) list(treeish Hash, read func() ([]Entry, error)) ([]Entry, error) {
	if m == nil || !hexHash(treeish) {
		return read()
	}
	m.listing.Lock()
	defer m.listing.Unlock()
	key := m.key(treeish)
	if m.listed == key {
		return slices.Clone(m.entries), nil
	}
	entries, err := read()
	if err == nil && len(entries) <= maxListed {
		m.listed, m.entries = key, slices.Clone(entries)
	}
	return entries, err
}

// kept returns the entries of a tree whose listing is kept. The caller must not
// change them.
func (m *memo) kept(treeish Hash) ([]Entry, bool) {
	if m == nil {
		return nil, false
	}
	m.listing.Lock()
	defer m.listing.Unlock()
	return m.entries, m.listed != "" && m.listed == m.key(treeish)
}

// sizesOf returns the sizes that were added last, if they are those of the tree.
func (m *memo) sizesOf(treeish Hash) ([]int64, bool) {
	if m == nil {
		return nil, false
	}
	key := m.key(treeish)
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sizes, m.sized != "" && m.sized == key
}

func (m *memo) addSizes(treeish Hash, sizes []int64) {
	if m == nil || !hexHash(treeish) {
		return
	}
	key := m.key(treeish)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sized, m.sizes = key, sizes
}

// changesOf returns the changes between two trees or commits, as far as they are kept.
func (m *memo) changesOf(from, to Hash) ([]Change, bool) {
	if m == nil {
		return nil, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	all, ok := m.changes[[2]Hash{from, to}]
	return slices.Clone(all), ok
}

func (m *memo) addChanges(from, to Hash, all []Change) {
	if m == nil || !hexHash(from) || !hexHash(to) || len(all) > maxChanges {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.changes == nil || len(m.changes) == maxDiffs {
		m.changes = map[[2]Hash][]Change{}
	}
	m.changes[[2]Hash{from, to}] = slices.Clone(all)
}

// TreeOnce is [Repo.TreeOf], asked once for each commit: it does not tell whether
// the commit is still there.
func (r *Repo) TreeOnce(ctx context.Context, commit Hash) (Hash, error) {
	if tree, ok := r.memo.tree(commit); ok {
		return tree, nil
	}
	return r.TreeOf(ctx, commit)
}

// CommitTree resolves a revision to a commit and its tree. Errors are those of
// [Repo.Commit] and [Repo.TreeOf].
func (r *Repo) CommitTree(ctx context.Context, rev string) (commit, tree Hash, err error) {
	if rev != "" && rev[0] != '-' && !strings.ContainsAny(rev, "\x00\n") && r.hidden(rev) == nil {
		// A branch may move between two answers. Then the first and the last differ.
		out, err := r.Run(ctx, Cmd{
			Args:  []string{"cat-file", "--batch-check=%(objectname) %(objecttype)"},
			Stdin: strings.NewReader(rev + "^{commit}\n" + rev + "^{tree}\n" + rev + "^{commit}\n"), Env: offline(),
		})
		f := strings.Fields(string(out))
		if err == nil && len(f) == 6 && f[1] == "commit" && f[3] == "tree" && f[4] == f[0] {
			r.memo.addTree(Hash(f[0]), Hash(f[2]))
			return Hash(f[0]), Hash(f[2]), nil
		}
	}
	// These return the error to report.
	if commit, err = r.Commit(ctx, rev); err != nil {
		return "", "", err
	}
	tree, err = r.TreeOf(ctx, commit)
	return commit, tree, err
}

// SettingsOnce is [Repo.Settings] as it was when it was called first. The caller must
// not change the result.
func (r *Repo) SettingsOnce(ctx context.Context) ([]Setting, error) {
	if r.memo == nil {
		return r.Settings(ctx)
	}
	r.memo.reading.Lock()
	defer r.memo.reading.Unlock()
	if r.memo.settings == nil {
		all, err := r.Settings(ctx)
		if err != nil {
			return nil, err
		}
		r.memo.settings = all
	}
	return r.memo.settings, nil
}
