package pool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"agentswarm/internal/statefile"
	"agentswarm/worktree/baseline"
	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
	"agentswarm/worktree/workspace"
)

// checked is a file of an entry that is as its record says.
type checked struct {
	git.IndexEntry
	stat git.IndexStat
}

// checkEntry compares the files of an entry with its record. It returns an
// error if a file differs or is missing.
func checkEntry(ctx context.Context, dir string) (map[string]checked, error) {
	text, err := statefile.Read(dir, filepath.Join(dir, poolFilesName))
	if err != nil {
		return nil, err
	}
	kept, err := baseline.ParsePlaced(text)
	if err != nil {
		return nil, err
	}
	folders := map[string]bool{}
	for path := range kept {
		disk.AddParents(folders, path)
	}
	c := &checking{kept: kept, folders: folders, found: make(map[string]checked, len(kept))}
	fd, err := disk.OpenFolder(unix.AT_FDCWD, filepath.Join(dir, workspace.TreeName))
	if err != nil {
		return nil, err
	}
	root := os.NewFile(uintptr(fd), workspace.TreeName)
	if err := errors.Join(c.folder(ctx, root, ""), root.Close()); err != nil {
		return nil, err
	}
	if len(c.found) != len(kept) {
		return nil, errors.New("files are missing")
	}
	return c.found, nil
}

type checking struct {
	kept    baseline.Placed
	folders map[string]bool
	found   map[string]checked
}

func (c *checking) folder(ctx context.Context, dir *os.File, rel string) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		path := name
		if rel != "" {
			path = rel + "/" + name
		}
		if c.folders[path] {
			fd, err := disk.OpenFolder(int(dir.Fd()), name)
			if err != nil {
				return err
			}
			below := os.NewFile(uintptr(fd), path)
			if err := errors.Join(c.folder(ctx, below, path), below.Close()); err != nil {
				return err
			}
			continue
		}
		e, ok := c.kept[path]
		var at unix.Stat_t
		if err := unix.Fstatat(int(dir.Fd()), name, &at, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return err
		}
		if !ok || !asLeft(&e, &at) {
			return fmt.Errorf("%s is not as it was", path)
		}
		c.found[path] = checked{IndexEntry: e, stat: git.StatOf(&at)}
	}
	return nil
}
