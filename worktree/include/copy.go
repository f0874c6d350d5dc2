package include

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"agentswarm/worktree/baseline"
	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
)

// Empty reports whether no file is included. It is true for nil.
func (in *Set) Empty() bool { return in == nil || len(in.Paths) == 0 }

// Copy puts the files into a folder, and returns how they lie there. A file that is
// there already, or cannot be read any more, is left out.
func (in *Set) Copy(ctx context.Context, dir string) (_ baseline.Placed, err error) {
	b := &copying{dirs: map[string]bool{"": true}, done: baseline.Placed{}}
	if b.from, err = os.OpenRoot(in.Top); err != nil {
		return nil, fmt.Errorf("bring files along: %w", err)
	}
	defer func() { err = errors.Join(err, b.from.Close()) }()
	if b.to, err = os.OpenRoot(dir); err != nil {
		return nil, fmt.Errorf("bring files along: %w", err)
	}
	defer func() { err = errors.Join(err, b.leave(), b.to.Close()) }()
	for _, path := range in.Paths {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := b.copy(path); err != nil {
			return nil, fmt.Errorf("bring %q along: %w", path, err)
		}
	}
	return b.done, nil
}

// copying is the state of a copy. It reads no file outside of the checkout and
// writes none outside of the workspace, even if a folder is replaced meanwhile.
type copying struct {
	from, to *os.Root
	dirs     map[string]bool // of the workspace: true where files may go in
	done     baseline.Placed

	// The folder at hand, open on both sides: to walk down to each file from
	// the top would take longer than to copy it.
	at       string
	src, dst *os.Root
}

// copy copies a file. It skips a file that has vanished since the listing, or
// that is no longer readable.
func (b *copying) copy(path string) error {
	dir := disk.Parent(path)
	if ok, err := b.folder(dir); !ok || err != nil {
		return err
	}
	if err := b.enter(dir); err != nil {
		return leftOut(err)
	}
	name := filepath.Base(path)
	at, err := b.src.Lstat(name)
	switch {
	case err != nil:
		return leftOut(err)
	case at.Mode().Type() == fs.ModeSymlink:
		return b.symlink(path, name)
	case at.Mode().IsRegular():
		return b.file(path, name)
	default:
		return nil
	}
}

// leftOut is nil for the errors of a file that is left out. An error that is
// not the system's is the refusal of [os.Root] to leave the checkout.
func leftOut(err error) error {
	var system syscall.Errno
	if disk.Missing(err) || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrPermission) ||
		errors.Is(err, syscall.ELOOP) || !errors.As(err, &system) {
		return nil
	}
	return err
}

// folder makes a folder and those above it. It answers false where something
// else of the base is in the way: its files must not end up behind a symlink.
func (b *copying) folder(dir string) (bool, error) {
	if ok, known := b.dirs[dir]; known {
		return ok, nil
	}
	ok, err := b.folder(disk.Parent(dir))
	if ok && err == nil {
		ok, err = b.mkdir(dir)
	}
	b.dirs[dir] = ok && err == nil
	return b.dirs[dir], err
}

func (b *copying) mkdir(dir string) (bool, error) {
	from, err := b.from.Lstat(dir)
	if err != nil || !from.IsDir() {
		return false, leftOut(err)
	}
	// The owner must be able to write its files and, later, to remove them.
	err = b.to.Mkdir(dir, from.Mode().Perm()|0o700)
	if !errors.Is(err, fs.ErrExist) {
		return err == nil, err
	}
	at, err := b.to.Lstat(dir)
	return err == nil && at.IsDir(), err
}

// enter opens a folder on both sides.
func (b *copying) enter(dir string) (err error) {
	if b.src != nil && b.at == dir {
		return nil
	}
	if err := b.leave(); err != nil {
		return err
	}
	src, err := b.from.OpenRoot(filepath.Join(".", dir))
	if err != nil {
		return err
	}
	dst, err := b.to.OpenRoot(filepath.Join(".", dir))
	if err != nil {
		return errors.Join(err, src.Close())
	}
	b.at, b.src, b.dst = dir, src, dst
	return nil
}

func (b *copying) leave() error {
	if b.src == nil {
		return nil
	}
	err := errors.Join(b.src.Close(), b.dst.Close())
	b.src, b.dst = nil, nil
	return err
}

// symlink makes the same symlink, wherever it leads.
func (b *copying) symlink(path, name string) error {
	target, err := b.src.Readlink(name)
	if errors.Is(err, syscall.EINVAL) {
		return nil // it is none any more
	}
	if err == nil {
		err = b.dst.Symlink(target, name)
	}
	if err != nil {
		return leftOut(err)
	}
	at, err := b.dst.Lstat(name)
	if err == nil {
		b.done.Add(path, at, "")
	}
	return err
}

// file copies a regular file with its mode and the time of its content,
// which build tools go by.
func (b *copying) file(path, name string) (err error) {
	src, err := b.src.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return leftOut(err)
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	from, err := src.Stat()
	if err != nil || !from.Mode().IsRegular() {
		return err
	}
	dst, err := b.dst.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return leftOut(err)
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	if git.Reflink(dst, src) != nil {
		if err := git.CopySparse(dst, src); err != nil {
			return err
		}
	}
	if err := dst.Chmod(from.Mode().Perm()); err != nil {
		return err
	}
	if err := b.dst.Chtimes(name, time.Time{}, from.ModTime()); err != nil {
		return err
	}
	at, err := dst.Stat()
	if err == nil {
		b.done.Add(path, at, "")
	}
	return err
}
