package submodule

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"agentswarm/worktree/git"
)

// BringRequest says where commits of submodules go.
type BringRequest struct {
	Steps   []Step
	Scratch string // required; a folder for files of ours
	// Refs is the prefix of the refs that hold the commits, such as
	// "refs/swarm/RUN/landed/". Required.
	Refs    string
	Message string // for reflogs; required
}

// Bring copies the commits of all steps that the user's submodules lack from the
// stores, and has a ref hold each. It changes no branch and no checkout. It may be
// run again after a crash: it first removes the locks that a killed git left on the
// refs below Refs. No other process may write these refs meanwhile.
func Bring(ctx context.Context, r BringRequest) error {
	for i, s := range r.Steps {
		if s.Store == nil {
			continue
		}
		if err := bring(ctx, r, s, filepath.Join(r.Scratch, fmt.Sprint("module", i))); err != nil {
			return fmt.Errorf("bring commit %s into submodule %q: %w", s.To.Short(), s.Path, err)
		}
	}
	return nil
}

func bring(ctx context.Context, r BringRequest, s Step, dir string) (err error) {
	if err := s.User.UnlockRefs(r.Refs); err != nil {
		return err
	}
	q, err := s.User.Quarantine(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Discard()) }()
	if err := q.Borrow(filepath.Join(s.Store.CommonDir, "objects")); err != nil {
		return err
	}
	var have []git.Hash
	if s.From != "" {
		has, err := s.User.HasCommit(ctx, s.From)
		if err != nil {
			return err
		}
		if has {
			have = append(have, s.From)
		}
	}
	return q.Publish(ctx, git.PublishRequest{
		Refs: []git.RefUpdate{{Ref: r.Refs + s.To.Short(), New: s.To, Any: true}}, Have: have, Message: r.Message,
	})
}
