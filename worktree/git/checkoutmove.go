package git

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"sync"
)

// EmptyTree is the tree without entries, which every git knows.
func (r *Repo) EmptyTree() Hash {
	if r.ObjectFormat == "sha256" {
		return "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
	}
	return "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
}

// orEmpty is a tree or commit, the empty tree where there is none.
func (r *Repo) orEmpty(h Hash) string {
	if h == "" {
		return string(r.EmptyTree())
	}
	return string(h)
}

// Changes lists the differences between two trees or commits, by path. An empty
// name stands for the empty tree.
func (r *Repo) Changes(ctx context.Context, from, to Hash) ([]Change, error) {
	return changes(ctx, r.memo, r.Run, Hash(r.orEmpty(from)), Hash(r.orEmpty(to)))
}

// CheckRequest asks whether a checkout can take changes.
type CheckRequest struct {
	From    Hash     // the tree that its index is compared with; empty: the empty tree
	Changes []Change // required; they start from From
	// Scratch is a folder that is there, for a file of ours. Required.
	Scratch string
	// AnyIndex is set if staged changes do not matter.
	AnyIndex bool
}

// CheckMove checks that this checkout, which stands on From, is clean in the
// paths that are to change. If not, it returns a [*DirtyError] that lists them.
// It changes no file; all other paths may be in any state.
func (r *Repo) CheckMove(ctx context.Context, req CheckRequest) error {
	dirty := map[string]bool{}
	if !req.AnyIndex {
		staged, err := r.staged(ctx, req.From)
		if err != nil {
			return err
		}
		touched := newPathSet(req.Changes)
		for path, c := range staged {
			if c.Status == 'U' || touched.meets(path) {
				dirty[path] = true
			}
		}
	}
	changed, err := r.differing(ctx, req.Scratch, oldEntries(req.Changes))
	if err != nil {
		return err
	}
	if changed, err = r.notThere(ctx, req, changed); err != nil {
		return err
	}
	modules, err := r.modulesInTheWay(ctx, req.Changes)
	if err != nil {
		return err
	}
	for _, path := range slices.Concat(changed, r.inTheWay(req.Changes, modules), modules.changed) {
		dirty[path] = true
	}
	if len(dirty) > 0 || len(modules.refused) > 0 {
		return &DirtyError{Dir: r.TopLevel, Paths: sortedKeys(dirty), Modules: modules.refused}
	}
	return nil
}

// notThere leaves out the submodules that stand on the new commit already: the
// change of the recorded commit is all that is left to do for them.
func (r *Repo) notThere(ctx context.Context, req CheckRequest, changed []string) ([]string, error) {
	differs := map[string]bool{}
	for _, path := range changed {
		differs[path] = true
	}
	var news []Entry
	for _, c := range req.Changes {
		if differs[c.Path] && c.OldMode == Gitlink && c.NewMode == Gitlink {
			news = append(news, Entry{Path: c.Path, Mode: c.NewMode, ID: c.New})
			delete(differs, c.Path)
		}
	}
	still, err := r.differing(ctx, req.Scratch, news)
	for _, path := range still {
		differs[path] = true
	}
	return sortedKeys(differs), err
}

// quoted is how git names a path that it would have to overwrite, under
// LC_ALL=C.
var quoted = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^error: .*?'(.+)' (?:not uptodate|would be )|^\t(.+)$`)
})

// Overwrites lists the paths that git refused to overwrite, as it named them
// on stderr.
func (e *Error) Overwrites() []string {
	var paths []string
	for _, m := range quoted().FindAllStringSubmatch(e.Stderr, -1) {
		paths = append(paths, m[1]+m[2])
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// staged maps the paths in which the index differs from a commit.
func (r *Repo) staged(ctx context.Context, from Hash) (map[string]Change, error) {
	out, err := r.Run(ctx, Cmd{Args: []string{
		"diff-index", "--cached", "--raw", "-z", "--no-renames", "--full-index",
		"--no-ext-diff", "--ignore-submodules=none", r.orEmpty(from), "--",
	}})
	if err != nil {
		return nil, fmt.Errorf("look at the index of %s: %w", r.TopLevel, err)
	}
	list, err := parseRaw(out)
	if err != nil {
		return nil, err
	}
	staged := make(map[string]Change, len(list))
	for _, c := range list {
		if staged[c.Path].Status != 'U' {
			staged[c.Path] = c
		}
	}
	return staged, nil
}
