package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"agentswarm/worktree/git"
)

// publish writes the patch file and moves the refs.
func (c *capturing) publish(ctx context.Context, out *Capture) error {
	if err := c.head(ctx, out); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.PatchFile), 0o700); err != nil {
		return err
	}
	for try := 1; ; try++ {
		updates, err := c.name(ctx, out)
		if err != nil {
			return err
		}
		if err := c.writePatch(ctx, out); err != nil {
			return err
		}
		if err := c.step("patched"); err != nil || len(updates) == 0 {
			return err
		}
		err = c.quarantine.Publish(ctx, git.PublishRequest{
			Refs: updates, Have: c.have(),
			Message: "swarm: capture " + c.Workspace.Name,
		})
		// Another process that captures the same attempt was faster: look
		// again at what is there.
		var moved *git.RefMovedError
		if err != nil && errors.As(err, &moved) && try < tries {
			continue
		}
		return err
	}
}

// head finds the agent's own commits. They are gathered too, since its
// branch, or the registration that keeps them, may go at any moment.
func (c *capturing) head(ctx context.Context, out *Capture) error {
	base := c.Workspace.Base
	head, err := c.Repo.HeadOf(ctx, c.Workspace.Admin)
	if err != nil {
		return err
	}
	whole := head == base || head != "" && c.quarantine.Has(ctx, head) &&
		c.quarantine.Gather(ctx, head, base) == nil
	if ctx.Err() != nil {
		return context.Cause(ctx) // git was ended, which says nothing of HEAD
	}
	switch {
	case !whole:
		// A git that cannot read the configuration says the same.
		if d := c.damage(ctx); d != nil {
			return d
		}
		c.found.note(HeadInvalid, "")
	case head != base:
		out.Head = head
	}
	return nil
}

// name picks refs that overwrite nothing and returns those to be made.
func (c *capturing) name(ctx context.Context, out *Capture) ([]git.RefUpdate, error) {
	var updates []git.RefUpdate
	if out.Changed {
		suffix, there, err := c.vacant(ctx, c.Ref, func(h git.Hash) bool {
			tree, err := c.Repo.TreeOf(ctx, h)
			on, perr := c.Repo.Commit(ctx, string(h)+"^")
			return err == nil && perr == nil && tree == out.Tree && on == out.Base
		})
		if err != nil {
			return nil, err
		}
		out.Ref, out.Patch = c.Ref+suffix, c.PatchFile+suffix
		if there != "" {
			out.Commit = there
		} else {
			updates = append(updates, git.RefUpdate{Ref: out.Ref, New: out.Commit})
		}
	}
	if out.Head != "" {
		suffix, there, err := c.vacant(ctx, c.HeadRef, func(h git.Hash) bool { return h == out.Head })
		if err != nil {
			return nil, err
		}
		out.HeadRef = c.HeadRef + suffix
		if there == "" {
			updates = append(updates, git.RefUpdate{Ref: out.HeadRef, New: out.Head})
		}
	}
	return updates, nil
}

// vacant finds the first of ref, ref.2, ref.3, … that does not exist, or is
// what it should be already.
func (c *capturing) vacant(
	ctx context.Context, ref string, fits func(git.Hash) bool,
) (suffix string, there git.Hash, err error) {
	for n := 2; ; n++ {
		there, err := c.Repo.Ref(ctx, ref+suffix)
		if err != nil {
			return "", "", err
		}
		if there == "" || fits(there) {
			return suffix, there, nil
		}
		suffix = fmt.Sprintf(".%d", n)
	}
}

// writePatch puts the patch file in place, whole and on the disk.
func (c *capturing) writePatch(ctx context.Context, out *Capture) error {
	if !out.Changed {
		return nil
	}
	err := replaceFile(out.Patch, func(f *os.File) error {
		err := c.quarantine.WritePatch(ctx, f, out.Base, out.Tree)
		return errors.Join(err, f.Sync())
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(out.Patch), err)
	}
	dir, err := os.Open(filepath.Dir(out.Patch))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
