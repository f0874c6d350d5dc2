package collect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"agentswarm/internal/fspath"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/patch"
	"agentswarm/swarm/review"
	"agentswarm/swarm/review/part"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// PartRequest names the edits of an agent's patch that become a patch of their own.
type PartRequest struct {
	Repo  *git.Repo      // required
	Run   *store.Run     // required
	Agent *store.Agent   // required
	Edits []*review.Edit // all edits of the patch
	Taken map[*review.Edit]bool
}

// KeepPart keeps the edits as a copy of the agent's work, and returns its name. Errors
// can be of type [*part.WholeError] or [*review.SpliceError].
func KeepPart(ctx context.Context, r PartRequest) (name string, err error) {
	copies := captureref.Copies(r.Run.ID)
	refs, err := r.Repo.RefsUnder(ctx, copies)
	if err != nil {
		return "", err
	}
	a := r.Agent
	c, err := r.Run.NewCopy(a.ID, func(n int) (bool, error) {
		of := store.Copy{Run: r.Run.ID, Agent: a.ID, N: n}
		ref := copies + of.Name()
		return refs[ref] != "" || refs[captureref.Head(ref)] != "" || fspath.Exists(patch.CopyFolder(r.Run, &of)), nil
	})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, c.Remove()) }()
	of := part.Request{
		Base: git.Hash(a.Patch().Base), Commit: git.Hash(a.Patch().Commit), Edits: r.Edits, Taken: r.Taken, Person: git.Swarm(time.Now()),
		Message: fmt.Sprintf("a part of %s, attempt %d of run %s: %d of %d edits\n", a.ID, a.Attempt, r.Run.ID, len(r.Taken), len(r.Edits)),
	}
	if of.Quarantine, err = r.Repo.Thaw(r.Run.Frozen()).Quarantine(filepath.Join(c.Dir, "objects")); err != nil {
		return "", err
	}
	commit, err := part.Commit(ctx, of)
	if err != nil {
		return "", err
	}
	if err := writePart(ctx, patch.CopyFolder(r.Run, c), of, commit); err != nil {
		return "", err
	}
	return c.Name(), of.Quarantine.Publish(ctx, git.PublishRequest{
		Refs: []git.RefUpdate{{Ref: copies + c.Name(), New: commit}}, Have: []git.Hash{of.Base},
		Message: "swarm accept " + c.Name(),
	})
}

// writePart writes the patch file of a part, and its mark.
func writePart(ctx context.Context, folder string, r part.Request, commit git.Hash) error {
	if err := patch.MarkPart(folder); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(folder, "patch"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(r.Quarantine.WritePatch(ctx, f, r.Base, commit), f.Close())
}

// RejectedPart is a part with an edit that a person rejected since.
type RejectedPart struct {
	Agent *store.Agent
	Edit  *review.Edit
}

// FindRejected returns the first part among some works with a rejected edit; nil if
// there is none. The errors are those of [Run] and [patch.Reader.Files].
func FindRejected(ctx context.Context, q Request, works []*store.Agent) (*RejectedPart, error) {
	var r *Review
	for _, a := range works {
		if !a.Partial {
			continue
		}
		if r == nil {
			var err error
			if r, err = Run(ctx, q); err != nil {
				return nil, err
			}
		}
		files, err := patch.Reader{Repo: q.Repo}.Files(ctx, a, a.Patch())
		if err != nil {
			return nil, err
		}
		if rejected := r.RejectedIn(a.ID, files); len(rejected) > 0 {
			return &RejectedPart{a, rejected[0]}, nil
		}
	}
	return nil, nil // no such part is no error
}
