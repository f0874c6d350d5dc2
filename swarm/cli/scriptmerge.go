package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"agentswarm/merge"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/script"
	"agentswarm/swarm/task"
	"agentswarm/swarm/workflow"
	"agentswarm/worktree/git"
)

// maxPatch is how long a patch may be that a script is given as text.
const maxPatch = 8 << 20

// fullID matches a commit by its whole name.
var fullID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`) })

// Text is a patch as git prints it. What in it is not UTF-8 is told by the
// sign for that: the text is to be read, and what lands is the commit.
func (t *scriptTools) Text(ctx context.Context, p *task.Patch) (string, error) {
	out := git.Bounded{Limit: maxPatch}
	text, err := out.Bytes(t.store.WritePatch(ctx, &out, git.Hash(p.Base), git.Hash(p.Commit)))
	if long := (*git.LongError)(nil); errors.As(err, &long) {
		return "", scriptError(script.CodeLimit, "the text of patch %s is longer than %s; its files and its stat say what it holds",
			git10(p.Commit), Bytes(maxPatch))
	}
	if err != nil {
		if lost := t.lost(ctx, p); lost != nil {
			return "", lost
		}
		return "", err
	}
	return readable(string(text)), nil
}

// Paths are all paths that a patch changes.
func (t *scriptTools) Paths(ctx context.Context, p *task.Patch) ([]string, error) {
	changes, err := t.store.Changes(ctx, git.Hash(p.Base), git.Hash(p.Commit))
	if err != nil {
		if lost := t.lost(ctx, p); lost != nil {
			return nil, lost
		}
		return nil, err
	}
	paths := make([]string, len(changes))
	for i, c := range changes {
		paths[i] = readable(c.Path)
	}
	return paths, nil
}

// lost is what a script is told of a patch whose commits are gone from the
// repository; nil where they are there.
func (t *scriptTools) lost(ctx context.Context, p *task.Patch) error {
	for _, commit := range []string{p.Base, p.Commit} {
		if _, there, err := t.treeOf(ctx, git.Hash(commit)); err != nil || there {
			if err != nil {
				return err
			}
			continue
		}
		return scriptError(script.CodeUnknown, "commit %s of patch %s is gone from the repository; its text is still in %s",
			git10(commit), git10(p.Commit), cmp.Or(p.File, "no file, since it was too long"))
	}
	return nil
}

// Merge merges patches onto a commit in memory. One that conflicts is left out
// and does not stop the others.
//
// Whoever merges and when has no part in the commits, so that the same patches
// give the same ones again.
func (t *scriptTools) Merge(ctx context.Context, r workflow.MergeRequest) (_ *script.Merged, err error) {
	b := t.bench
	if err := t.mergeable(ctx, "merge", r.Patches); err != nil {
		return nil, err
	}
	onto := git.Hash(r.Onto)
	if _, there, err := t.treeOf(ctx, onto); err != nil || !there {
		return nil, orUnknown(err, "merge: onto %q is no commit of this repository", clipped(r.Onto))
	}
	q, err := b.frozen.Quarantine(t.scratch("merge"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, q.Discard()) }()
	req := merge.Request{Onto: onto, Committer: git.Swarm(t.when)}
	for _, p := range r.Patches {
		req.Patches = append(req.Patches, merge.Patch{
			ID: p.Commit, Label: fmt.Sprintf("%s of run %s", p.Agent, b.run.ID),
			Base: git.Hash(p.Base), Commit: git.Hash(p.Commit), Author: req.Committer,
		})
	}
	out, err := merge.Merge(ctx, q, req)
	if err != nil {
		return nil, err
	}
	merged := &script.Merged{
		Tree: string(out.Commit), Applied: applied(r.Patches, out), Conflicts: scriptConflicts(out.Conflicts),
	}
	if out.Commit == onto {
		return merged, nil
	}
	return merged, q.Publish(ctx, git.PublishRequest{
		// Whatever was there before is the same commit.
		Refs:    []git.RefUpdate{{Ref: captureref.Merged(b.run.ID, out.Commit), New: out.Commit, Any: true}},
		Have:    []git.Hash{onto},
		Message: "swarm run " + b.run.ID,
	})
}

// mergeable refuses a list of patches that cannot be merged.
func (t *scriptTools) mergeable(ctx context.Context, verb string, patches []workflow.Patch) error {
	seen := map[string]bool{}
	for _, p := range patches {
		if seen[p.Commit] {
			return scriptError(script.CodeOption, "%s: patch %s of %s is named twice", verb, git10(p.Commit), p.Agent)
		}
		seen[p.Commit] = true
		if err := t.lost(ctx, p.Patch); err != nil {
			return err
		}
	}
	return nil
}

// orUnknown is an error of swarm's own, or else what a script is told.
func orUnknown(err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	return scriptError(script.CodeUnknown, format, args...)
}

// applied are the patches that are in a merge, those that it held before
// included, in the order they were named.
func applied(patches []workflow.Patch, out *merge.Outcome) []string {
	ids := []string{}
	for _, p := range patches {
		if !slices.ContainsFunc(out.Conflicts, func(c merge.Conflict) bool { return c.ID == p.Commit }) {
			ids = append(ids, p.Commit)
		}
	}
	return ids
}

// scriptConflicts are conflicts between patches that are named by commits.
func scriptConflicts(all []merge.Conflict) []script.Conflict {
	out := []script.Conflict{}
	for _, c := range all {
		out = append(out, script.Conflict{
			Patch: c.ID, With: append([]string{}, c.With...), Paths: readables(c.Paths),
		})
	}
	return out
}

// Resolve finds the commit that a script names: by its whole id, or by the name
// of a branch or a tag. It reads no other form of a revision.
func (t *scriptTools) Resolve(ctx context.Context, name string) (commit, tree string, err error) {
	at := git.Hash(name)
	if !fullID().MatchString(name) {
		if at, err = t.named(ctx, name); err != nil {
			return "", "", err
		}
	}
	found, there, err := t.treeOf(ctx, at)
	if err != nil || !there {
		return "", "", orUnknown(err, "%q is no commit of this repository", clipped(name))
	}
	return string(at), string(found), nil
}

// named finds a branch or a tag.
func (t *scriptTools) named(ctx context.Context, name string) (git.Hash, error) {
	repo := t.bench.repo
	bad := scriptError(script.CodeUnknown,
		"%q names no commit: give the whole id of one, or the name of a branch or a tag", clipped(name))
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
	return "", scriptError(script.CodeUnknown, "there is no branch and no tag %q%s", clipped(name), didYouMean(name, known))
}

// refSpaces are where names of commits are looked for, in that order.
func refSpaces() []string { return []string{"refs/heads/", "refs/tags/", "refs/remotes/"} }
