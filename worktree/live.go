package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"agentswarm/worktree/baseline"
	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
	"agentswarm/worktree/survey"
)

// errVanished is a file that is gone once its turn comes, or no file any more.
var errVanished = errors.New("the file is gone")

// vanished reports whether an error says that of a file.
func vanished(err error) bool {
	var system syscall.Errno
	return disk.Missing(err) || errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EISDIR) ||
		errors.Is(err, syscall.EINVAL) || err != nil && !errors.As(err, &system)
}

// take puts a file of the workspace into the scratch tree. It returns an
// [errVanished] if the file has gone.
func (s *staging) take(path string) error {
	from, to := filepath.Join(s.Workspace.Files(), path), filepath.Join(s.scratch, path)
	if !s.Live {
		return link(from, to)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	for try := 1; ; try++ {
		steady, err := s.copyOnce(path, to)
		if err != nil || steady || try == tries {
			return err // a file that keeps changing is taken as it is
		}
		if err := os.Remove(to); err != nil {
			return err
		}
	}
}

// copyOnce copies a file that others may write to, and reports whether it did
// not change meanwhile.
//
// A hard link is not enough: git maps a file that it reads, and a truncation of
// the file then kills git. copyOnce reads no file outside of the workspace,
// even if a folder is replaced meanwhile.
func (s *staging) copyOnce(path, to string) (steady bool, err error) {
	at, err := s.space.Lstat(path)
	switch {
	case vanished(err):
		return false, errVanished
	case err != nil:
		return false, err
	case at.Mode().Type() == fs.ModeSymlink:
		target, err := s.space.Readlink(path)
		if vanished(err) {
			return false, errVanished
		}
		if err != nil {
			return false, err
		}
		return true, os.Symlink(target, to)
	}
	src, err := s.space.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if vanished(err) {
		return false, errVanished
	}
	if err != nil {
		return false, err
	}
	defer src.Close()
	before, err := src.Stat()
	if err != nil {
		return false, err
	}
	if !before.Mode().IsRegular() {
		return false, errVanished
	}
	if before.Size() > s.maxFile() {
		return false, &survey.TooLargeError{Size: before.Size()}
	}
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, before.Mode().Perm()|0o600)
	if err != nil {
		return false, err
	}
	if git.Reflink(dst, src) != nil {
		err = git.CopySparse(dst, src)
	}
	after, serr := src.Stat()
	if err = errors.Join(err, serr, dst.Close()); err != nil {
		return false, err
	}
	return before.Size() == after.Size() && baseline.Stat(before).CTime == baseline.Stat(after).CTime, nil
}
