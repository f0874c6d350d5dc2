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

// The folder that a confined git-lfs writes to, and the folder of its files
// below, as in the repository's own.
const (
	lfsName    = "lfs"
	lfsObjects = "objects"
)

// takeLFS copies the files that git-lfs cleaned into the user's store: a patch
// has only their names.
//
// Filters may not write to the store itself. Git-lfs makes the user's files
// from it and does not check their content against their names. So takeLFS
// takes only plain files whose content matches their name, and it changes no
// file in the store.
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

// takeLFSFile takes a single file.
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
