package cli

import (
	"context"
	"errors"
	"fmt"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/worktree/git"
	"agentswarm/worktree/include"
)

// maxSkipped is how many files that stay behind are named.
const maxSkipped = 5

// bringAlong has every workspace of the run get the ignored files that
// .worktreeinclude names, as they are in the user's checkout now, and says so.
func (b *bench) bringAlong(ctx context.Context) error {
	id, err := b.run.Identity()
	if err != nil {
		return err
	}
	in, err := include.Find(ctx, include.Request{
		Repo: b.Repo, Base: git.Hash(id.Base.Commit), Except: []string{b.State.Dir},
	})
	if bad := (*include.FileError)(nil); errors.As(err, &bad) {
		return cmdline.Refused(err)
	}
	if err != nil || in == nil {
		return err
	}
	b.trees.Include = in
	fmt.Fprintf(b.Env.Stderr, "%s: %s into each workspace, %s\n",
		include.FileName, termtext.Count(in.Files, "file", "files"), termtext.Bytes(in.Size))
	for i, s := range in.Skipped {
		if i == maxSkipped {
			fmt.Fprintf(b.Env.Stderr, "%s: %d more do not come along\n", include.FileName, len(in.Skipped)-i)
			break
		}
		fmt.Fprintf(b.Env.Stderr, "%s: %s\n", include.FileName, termtext.Line(s.String()))
	}
	return nil
}
