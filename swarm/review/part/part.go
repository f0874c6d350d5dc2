// Package part makes a patch of its own from some edits of a patch. It splices
// contents in memory and writes objects of git; it needs no checkout. It decides
// nothing: the caller says which edits are taken. No check has run on the result.
package part

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"agentswarm/swarm/review"
	"agentswarm/worktree/git"
)

// maxBlob bounds the content of a file that is taken apart, in bytes.
const maxBlob = 64 << 20

// WholeError names a file of which either all edits can be taken or none, such as
// a file that became a symbolic link.
type WholeError struct{ Path string }

func (e *WholeError) Error() string {
	return e.Path + " cannot be taken apart: accept all its edits, or reject all"
}

// Request is a patch and the edits that are taken of it.
type Request struct {
	Quarantine   *git.Quarantine // required
	Base, Commit git.Hash        // of the patch; required
	Edits        []*review.Edit  // all edits of the patch
	Taken        map[*review.Edit]bool
	Message      string // required
	Person       git.Person
}

// Commit writes a commit on the base of a patch with the edits that are taken.
// Errors can be of type [*WholeError] or [*review.SpliceError].
func Commit(ctx context.Context, r Request) (git.Hash, error) {
	changes, err := r.Quarantine.Changes(ctx, r.Base, r.Commit)
	if err != nil {
		return "", err
	}
	objects := r.Quarantine.Objects()
	commit, err := r.commit(ctx, objects, changes)
	if closed := objects.Close(); err == nil {
		err = closed
	}
	return commit, err
}

func (r *Request) commit(ctx context.Context, objects *git.Objects, changes []git.Change) (git.Hash, error) {
	wanted := map[string]git.TreeEntry{} // by path; an empty ID: no file
	for _, c := range changes {
		entry, ok, err := r.entry(ctx, objects, c)
		if err != nil {
			return "", err
		}
		if ok {
			wanted[c.Path] = entry
		}
	}
	return write(ctx, objects, written{r.Base, wanted, r.Message, r.Person})
}

// FilesRequest is a patch and the files that are taken of it.
type FilesRequest struct {
	Quarantine   *git.Quarantine // required
	Base, Commit git.Hash        // of the patch; required
	Paths        []string        // those that are taken
	Message      string          // required
	Person       git.Person
}

// Files writes a commit on the base of a patch with the files that are taken.
func Files(ctx context.Context, r FilesRequest) (git.Hash, error) {
	changes, err := r.Quarantine.Changes(ctx, r.Base, r.Commit)
	if err != nil {
		return "", err
	}
	wanted := map[string]git.TreeEntry{}
	for _, c := range changes {
		switch {
		case !slices.Contains(r.Paths, c.Path):
		case c.Status == 'D':
			wanted[c.Path] = git.TreeEntry{}
		default:
			wanted[c.Path] = git.TreeEntry{Name: path.Base(c.Path), Mode: c.NewMode, ID: c.New}
		}
	}
	objects := r.Quarantine.Objects()
	commit, err := write(ctx, objects, written{r.Base, wanted, r.Message, r.Person})
	return commit, errors.Join(err, objects.Close())
}

// written is a commit that is made of its base and some files.
type written struct {
	base    git.Hash
	wanted  map[string]git.TreeEntry // by path; an empty ID: no file
	message string
	person  git.Person
}

func write(ctx context.Context, objects *git.Objects, w written) (git.Hash, error) {
	base, _, err := objects.Commit(ctx, w.base)
	if err != nil {
		return "", err
	}
	tree, err := rewrite(ctx, objects, base, "", w.wanted)
	if err != nil {
		return "", err
	}
	if tree == "" {
		if tree, err = objects.WriteTree(ctx, nil); err != nil {
			return "", err
		}
	}
	return objects.WriteCommit(ctx, git.CommitRequest{
		Tree: tree, Parents: []git.Hash{w.base}, Message: w.message, Author: w.person, Committer: w.person,
	})
}

// entry is a file of the result; false: it stays as in the base.
func (r *Request) entry(ctx context.Context, objects *git.Objects, c git.Change) (git.TreeEntry, bool, error) {
	var taken []*review.Edit
	all := 0
	link := c.NewMode == git.Gitlink // its edits are those in the submodule, too
	for _, e := range r.Edits {
		if e.Path == c.Path || link && strings.HasPrefix(e.Path, c.Path+"/") {
			all++
			if r.Taken[e] {
				taken = append(taken, e)
			}
		}
	}
	switch {
	case len(taken) == 0:
		return git.TreeEntry{}, false, nil
	case len(taken) == all && c.Status == 'D':
		return git.TreeEntry{}, true, nil
	case len(taken) == all:
		return git.TreeEntry{Name: path.Base(c.Path), Mode: c.NewMode, ID: c.New}, true, nil
	case c.Status != 'M' || link:
		return git.TreeEntry{}, false, &WholeError{c.Path}
	}
	mode := c.OldMode
	var lines []*review.Edit
	for _, e := range taken {
		if e.Hunk() == nil {
			mode = c.NewMode // the only change of a file with lines that has none
		} else {
			lines = append(lines, e)
		}
	}
	before, err := objects.Blob(ctx, c.Old, maxBlob)
	if err != nil {
		return git.TreeEntry{}, false, err
	}
	content, err := review.Splice(taken[0].File(), before, lines)
	if err != nil {
		return git.TreeEntry{}, false, err
	}
	id, err := objects.WriteBlob(ctx, content)
	return git.TreeEntry{Name: path.Base(c.Path), Mode: mode, ID: id}, true, err
}

// rewrite writes a folder with some files changed. It is an empty name where no
// file is left in it.
func rewrite(ctx context.Context, objects *git.Objects, was git.Hash, folder string, wanted map[string]git.TreeEntry) (git.Hash, error) {
	var entries []git.TreeEntry
	if was != "" {
		have, err := objects.Tree(ctx, was)
		if err != nil {
			return "", err
		}
		entries = slices.Clone(have)
	}
	below := map[string]map[string]git.TreeEntry{} // by the name of a folder
	for file, e := range wanted {
		rest := strings.TrimPrefix(strings.TrimPrefix(file, folder), "/")
		name, _, deeper := strings.Cut(rest, "/")
		if deeper {
			if below[name] == nil {
				below[name] = map[string]git.TreeEntry{}
			}
			below[name][file] = e
			continue
		}
		entries = slices.DeleteFunc(entries, func(have git.TreeEntry) bool { return have.Name == name && !have.IsTree() })
		if e.ID != "" {
			entries = append(entries, e)
		}
	}
	for name, files := range below {
		sub := path.Join(folder, name)
		at := slices.IndexFunc(entries, func(have git.TreeEntry) bool { return have.Name == name && have.IsTree() })
		before := git.Hash("")
		if at >= 0 {
			before = entries[at].ID
			entries = slices.Delete(entries, at, at+1)
		}
		tree, err := rewrite(ctx, objects, before, sub, files)
		if err != nil {
			return "", err
		}
		if tree != "" {
			entries = append(entries, git.TreeEntry{Name: name, Mode: git.TreeMode, ID: tree})
		}
	}
	slices.SortFunc(entries, git.CompareEntries)
	names := map[string]bool{} // a file and a folder with the same name exclude each other
	for _, e := range entries {
		if names[e.Name] {
			return "", &WholeError{path.Join(folder, e.Name)}
		}
		names[e.Name] = true
	}
	if len(entries) == 0 {
		return "", nil
	}
	tree, err := objects.RewriteTree(ctx, was, entries)
	if err != nil {
		return "", fmt.Errorf("write folder %s: %w", folder, err)
	}
	return tree, nil
}
