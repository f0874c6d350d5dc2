package session

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

// BringAlong copies the ignored files that .worktreeinclude names into every workspace of the
// run, and prints their number. It returns a usage error for a bad file.
func (s *Session) BringAlong(ctx context.Context) error {
	id, err := s.Run.Identity()
	if err != nil {
		return err
	}
	in, err := include.Find(ctx, include.Request{
		Repo: s.Repo, Base: git.Hash(id.Base.Commit), Except: []string{s.State.Dir},
	})
	if bad := (*include.FileError)(nil); errors.As(err, &bad) {
		return cmdline.Refused(err)
	}
	if err != nil || in == nil {
		return err
	}
	s.Trees.Include = in
	fmt.Fprintf(s.Env.Stderr, "%s: %s into each workspace, %s\n",
		include.FileName, termtext.Count(in.Files, "file", "files"), termtext.Bytes(in.Size))
	for i, skipped := range in.Skipped {
		if i == maxSkipped {
			fmt.Fprintf(s.Env.Stderr, "%s: %d more do not come along\n", include.FileName, len(in.Skipped)-i)
			break
		}
		fmt.Fprintf(s.Env.Stderr, "%s: %s\n", include.FileName, termtext.Line(skipped.String()))
	}
	return nil
}
