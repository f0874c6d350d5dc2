package worktree

import (
	"context"
	"os"
	"path/filepath"
	"syscall"

	"agentswarm/worktree/baseline"
	"agentswarm/worktree/git"
	"agentswarm/worktree/survey"
)

// DefaultMaxFile is the size in bytes up to which files are captured where
// nothing else is configured.
const DefaultMaxFile = 100 << 20

// maxFile is the limit of [Config.MaxFile]. Without a backend it is the default.
func (t *Trees) maxFile() int64 {
	if t != nil && t.MaxFile > 0 {
		return t.MaxFile
	}
	return DefaultMaxFile
}

// maxCompared is the size in bytes below which a large file is compared with
// the file of the base. An index entry has the size modulo 4 GiB.
const maxCompared = 1 << 32

// readmit drops large files that have the content of the base. A file whose
// time alone has changed is no change.
func (c *capturing) readmit(ctx context.Context) error {
	kept := c.found.Large[:0]
	for _, f := range c.found.Large {
		same, err := c.sameContent(ctx, f)
		if err != nil {
			return err
		}
		if !same {
			kept = append(kept, f)
		}
	}
	c.found.Large = kept
	return nil
}

// sameContent reports whether a large file has mode and content of the base,
// as git stores it without filters. It reads only files that have the size of
// the base's.
func (c *capturing) sameContent(ctx context.Context, f survey.LargeFile) (bool, error) {
	if f.Known == nil || f.Size >= maxCompared || uint32(f.Size) != f.Known.Size {
		return false, nil
	}
	file, err := os.OpenFile(filepath.Join(c.Workspace.Files(), f.Path), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false, nil // it stays in the list, and in the trash
	}
	defer file.Close() // it was only read
	at, err := file.Stat()
	if err != nil || !at.Mode().IsRegular() || at.Size() != f.Size || baseline.ModeOf(at) != f.Known.Mode {
		return false, nil // the same
	}
	id, err := c.Repo.BlobName(ctx, git.NewSparseReader(file, f.Size), f.Size)
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	return err == nil && id == f.Known.ID, nil
}
