package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
	"agentswarm/worktree/survey"
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
		publish := git.PublishRequest{
			Refs: updates, Have: c.have(),
			Message: "swarm: capture " + c.Workspace.Name, Landed: c.landed,
		}
		if out.Head == "" {
			publish.Pack, publish.Plain = c.pack, !c.filters.logged
		} else if c.pack != nil {
			if err := c.pack.Show(c.quarantine); err != nil {
				return err
			}
		}
		err = c.quarantine.Publish(ctx, publish)
		// Another process that captures the same attempt was faster: read the
		// ref again.
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
	head, err := c.headOf(ctx, c.Workspace)
	if err != nil {
		return err
	}
	whole := head == base || head != "" && c.takeIn(ctx, head)
	if ctx.Err() != nil {
		return context.Cause(ctx) // git was ended, which says nothing of HEAD
	}
	switch {
	case !whole:
		// A git that cannot read the configuration says the same.
		if !c.Workspace.Private() {
			if d := c.damage(ctx); d != nil {
				return d
			}
		}
		c.found.AddNote(survey.HeadInvalid, "")
	case head != base:
		out.Head = head
	}
	return nil
}

// takeIn gathers the commits of an agent, and reports whether they are whole.
func (c *capturing) takeIn(ctx context.Context, head git.Hash) bool {
	base := c.Workspace.Base
	if !c.Workspace.Private() {
		return c.quarantine.Has(ctx, head) && c.quarantine.Gather(ctx, head, base) == nil
	}
	return c.quarantine.Adopt(ctx, git.AdoptRequest{
		Tip: head, Base: base, Objects: filepath.Join(c.Workspace.Admin, "objects"),
	}) == nil
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

// vacant finds the first of ref, ref.2, ref.3, … that does not exist, or that
// has the right value already.
func (c *capturing) vacant(
	ctx context.Context, ref string, fits func(git.Hash) bool,
) (suffix string, there git.Hash, err error) {
	for n := 2; ; n++ {
		if c.Repo.NoRef(ref + suffix) {
			return suffix, "", nil
		}
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

// writePatch puts the patch file in place, whole and on the disk. The text of a
// patch above the bound is left out, and a note says so.
func (c *capturing) writePatch(ctx context.Context, out *Capture) error {
	if !out.Changed {
		return nil
	}
	var count git.PatchCount
	err := disk.ReplaceFile(out.Patch, func(f *os.File) (err error) {
		count, err = c.patch(ctx, f, out)
		return errors.Join(err, f.Sync())
	})
	if errors.Is(err, errLongPatch) {
		if !slices.ContainsFunc(c.found.Notes, func(n survey.Note) bool { return n.Kind == survey.PatchOmitted }) {
			c.found.AddNote(survey.PatchOmitted, "")
		}
		out.Patch = ""
		out.Stat, err = c.seen().Stat(ctx, out.Base, out.Tree)
		return err
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(out.Patch), err)
	}
	out.Stat = git.Stat{Files: len(out.Files), Added: count.Added, Deleted: count.Deleted}
	// If a file changes its kind, a patch deletes it and makes another. The
	// count is of the difference of the trees.
	if slices.ContainsFunc(out.Files, func(ch git.Change) bool { return ch.Status == 'T' }) {
		if out.Stat, err = c.seen().Stat(ctx, out.Base, out.Tree); err != nil {
			return err
		}
	}
	dir, err := os.Open(filepath.Dir(out.Patch))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// DefaultMaxPatch is the size in bytes up to which the text of a patch is kept
// as a file. A larger text is made from its commit on request.
const DefaultMaxPatch = 64 << 20

// maxCompare is the size in bytes of a file above which no patch text is tried:
// git holds both versions of a file in memory, and the patch of it as well.
const maxCompare = 256 << 20

// errLongPatch says that the text of a patch is above its bound.
var errLongPatch = errors.New("the text of the patch is too long")

func (t *Trees) maxPatch() int64 {
	if t.MaxPatch > 0 {
		return t.MaxPatch
	}
	return DefaultMaxPatch
}

// boundedWriter fails with [errLongPatch] instead of writing more than its
// bound.
type boundedWriter struct {
	w    io.Writer
	left int64
}

func (b *boundedWriter) Write(p []byte) (int, error) {
	if int64(len(p)) > b.left {
		b.left = -1 // whatever follows is too long, too
		return 0, errLongPatch
	}
	b.left -= int64(len(p))
	return b.w.Write(p)
}

// exceeded reports whether a write was refused.
func (b *boundedWriter) exceeded() bool { return b.left < 0 }
