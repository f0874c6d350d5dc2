package worktree

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"agentswarm/worktree/disk"
)

// The folder that git-lfs writes to where it runs apart, and in it the one of
// its files, as in the repository's own.
const (
	lfsName    = "lfs"
	lfsObjects = "objects"
)

// takeLFS takes what git-lfs has kept of the files it cleaned into the store
// of the user's: a patch holds no more than their names.
//
// The store itself is nothing that a filter may write to. It is what the files
// of the user's checkout are made from, and git-lfs does not look whether what
// lies under a name is what the name says. So only plain files are taken whose
// content has their name, and what the store has already stays as it is.
func takeLFS(from, store string) error {
	if _, err := os.Lstat(filepath.Join(from, lfsObjects)); disk.Missing(err) || store == "" {
		return nil
	}
	root, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), lfsObjects, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if !d.Type().IsRegular() || !isSum(name) || path != lfsPath(name) {
			return nil
		}
		return takeLFSFile(root, name, store)
	})
	if err != nil {
		return fmt.Errorf("take in what git-lfs keeps: %w", err)
	}
	return nil
}

// lfsPath is where git-lfs keeps a file.
func lfsPath(sum string) string { return lfsObjects + "/" + sum[:2] + "/" + sum[2:4] + "/" + sum }

func isSum(name string) bool {
	return len(name) == 2*sha256.Size && strings.Trim(name, "0123456789abcdef") == ""
}

// takeLFSFile takes one of them.
func takeLFSFile(root *os.Root, sum, store string) (err error) {
	to := filepath.Join(store, filepath.FromSlash(lfsPath(sum)))
	if _, err := os.Lstat(to); err == nil {
		return nil
	}
	src, err := root.OpenFile(lfsPath(sum), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer src.Close()
	if at, err := src.Stat(); err != nil || !at.Mode().IsRegular() {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	dst, err := os.CreateTemp(filepath.Dir(to), ".swarm-")
	if err != nil {
		return err
	}
	defer func() {
		if rerr := os.Remove(dst.Name()); !disk.Missing(rerr) {
			err = errors.Join(err, rerr)
		}
	}()
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(dst, h), src)
	if err == nil {
		err = dst.Chmod(0o644)
	}
	if err = errors.Join(err, dst.Close()); err != nil {
		return err
	}
	if hex.EncodeToString(h.Sum(nil)) != sum {
		return nil // no file of git-lfs
	}
	return os.Rename(dst.Name(), to)
}
