package repository

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"agentswarm/swarm/nearest"
	"agentswarm/swarm/script"
	"agentswarm/worktree/git"
)

// fullID matches a commit by its whole name.
var fullID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`) })

// Resolve finds the commit that a script names: by its whole id, or by the name
// of a branch or a tag. It reads no other form of a revision.
func (r *Reader) Resolve(ctx context.Context, name string) (commit, tree string, err error) {
	at := git.Hash(name)
	if !fullID().MatchString(name) {
		if at, err = r.named(ctx, name); err != nil {
			return "", "", err
		}
	}
	found, there, err := r.TreeOf(ctx, at)
	if err != nil || !there {
		return "", "", OrUnknown(err, "%q is not a commit of this repository", script.Clip(name))
	}
	return string(at), string(found), nil
}

// named finds a branch or a tag.
func (r *Reader) named(ctx context.Context, name string) (git.Hash, error) {
	repo := r.Repo
	bad := script.Refuse(script.CodeUnknown,
		"%q names no commit: give the whole id of one, or the name of a branch or a tag", script.Clip(name))
	if name == "" || name == "HEAD" || strings.HasPrefix(name, "-") || strings.ContainsRune(name, 0) {
		return "", bad
	}
	var wrong *git.RevError
	if err := repo.CheckRef(ctx, "refs/heads/"+name); errors.As(err, &wrong) {
		return "", bad
	} else if err != nil {
		return "", err
	}
	for _, space := range refSpaces() {
		at, err := repo.Commit(ctx, space+name)
		if err == nil {
			return at, nil
		}
		if !errors.As(err, &wrong) {
			return "", err
		}
	}
	var known []string
	for _, space := range refSpaces() {
		refs, err := repo.RefsUnder(ctx, space)
		if err != nil {
			return "", err
		}
		for ref := range refs {
			known = append(known, strings.TrimPrefix(ref, space))
		}
	}
	slices.Sort(known)
	return "", script.Refuse(script.CodeUnknown, "there is no branch and no tag %q%s", script.Clip(name), nearest.DidYouMean(name, known))
}

// refSpaces are where names of commits are looked for, in that order.
func refSpaces() []string { return []string{"refs/heads/", "refs/tags/", "refs/remotes/"} }

// OrUnknown is err or, if that is nil, the error that a script gets for an unknown name.
func OrUnknown(err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	return script.Refuse(script.CodeUnknown, format, args...)
}

// tree lists the entries of the base, by path. A name that is not UTF-8 is left
// out: a script could neither see it nor say it.
func (r *Reader) tree(ctx context.Context) ([]git.Entry, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.files == nil {
		entries, _, err := r.Store.Tree(ctx, git.Hash(r.Base))
		if err != nil {
			return nil, err
		}
		r.files = slices.DeleteFunc(entries, func(e git.Entry) bool { return !utf8.ValidString(e.Path) })
		slices.SortFunc(r.files, func(a, b git.Entry) int { return strings.Compare(a.Path, b.Path) })
	}
	return r.files, nil
}

// blob is the content of a file of the base.
func (r *Reader) blob(ctx context.Context, id git.Hash) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.objects.Blob(ctx, id, maxText)
}

// TreeOf is the tree of a commit. It is false where there is no such commit.
func (r *Reader) TreeOf(ctx context.Context, commit git.Hash) (git.Hash, bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	tree, _, err := r.objects.Commit(ctx, commit)
	if err != nil && ctx.Err() != nil {
		return "", false, context.Cause(ctx)
	}
	return tree, err == nil && tree != "", nil
}
