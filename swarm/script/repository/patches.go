package repository

import (
	"cmp"
	"context"
	"errors"

	"agentswarm/swarm/script"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// maxPatch is how long a patch may be that a script is given as text.
const maxPatch = 8 << 20

// Text is a patch as git prints it. Bytes that are not UTF-8 are replaced: the text is for
// reading, and the commit lands. It is a [*script.Error] if the text is too long.
func (r *Reader) Text(ctx context.Context, p *task.Patch) (string, error) {
	out := git.Bounded{Limit: maxPatch}
	text, err := out.Bytes(r.Store.WritePatch(ctx, &out, git.Hash(p.Base), git.Hash(p.Commit)))
	if long := (*git.LongError)(nil); errors.As(err, &long) {
		return "", script.Refuse(script.CodeLimit, "the text of patch %s is longer than %s; its files and its stat say what it holds",
			git.Hash(p.Commit).Short(), "8.0 MiB")
	}
	if err != nil {
		if lost := r.Lost(ctx, p); lost != nil {
			return "", lost
		}
		return "", err
	}
	return valid(string(text)), nil
}

// Paths are all paths that a patch changes.
func (r *Reader) Paths(ctx context.Context, p *task.Patch) ([]string, error) {
	changes, err := r.Store.Changes(ctx, git.Hash(p.Base), git.Hash(p.Commit))
	if err != nil {
		if lost := r.Lost(ctx, p); lost != nil {
			return nil, lost
		}
		return nil, err
	}
	paths := make([]string, len(changes))
	for i, c := range changes {
		paths[i] = valid(c.Path)
	}
	return paths, nil
}

// Lost is the [*script.Error] for a patch whose commits are gone from the repository; nil
// if they are there.
func (r *Reader) Lost(ctx context.Context, p *task.Patch) error {
	for _, commit := range []string{p.Base, p.Commit} {
		if _, there, err := r.TreeOf(ctx, git.Hash(commit)); err != nil || there {
			if err != nil {
				return err
			}
			continue
		}
		return script.Refuse(script.CodeUnknown, "commit %s of patch %s is gone from the repository; its text is still in %s",
			git.Hash(commit).Short(), git.Hash(p.Commit).Short(), cmp.Or(p.File, "no file, since it was too long"))
	}
	return nil
}
