package worktree

import (
	"context"
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
)

// Mark is a digest of a workspace: of all its files as lstat sees them, and
// of its HEAD. Two that are equal say that nothing was written or committed
// in between, but for what is inside the git folders of submodules.
func (t *Trees) Mark(ctx context.Context, w Workspace) (string, error) {
	if err := t.own(w); err != nil {
		return "", fmt.Errorf("look at %s: %w", w.Name, err)
	}
	mark := t.markLinked
	if w.Private() {
		mark = markPrivate
	}
	text, err := mark(ctx, w)
	if err != nil {
		return "", fmt.Errorf("look at %s: %w", w.Name, err)
	}
	return text, nil
}

func (t *Trees) markLinked(ctx context.Context, w Workspace) (string, error) {
	head, err := t.Repo.HeadOf(ctx, w.Admin)
	if err != nil {
		return "", err
	}
	files, err := sealOf(w.Dir)
	return files + " " + string(head), err
}

// markPrivate runs no git: the configuration of the git dir is its agent's.
// Of an overlay a folder is a fact, too: one that was made anew hides what is
// below it.
func markPrivate(ctx context.Context, w Workspace) (string, error) {
	var s seal
	root := w.files()
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case path == root || e.IsDir() && w.kind() != Overlay && e.Name() != ".git":
			return nil
		case strings.EqualFold(e.Name(), ".git"):
			return skipDir(e)
		}
		at, err := e.Info()
		if err == nil {
			s.add(filepath.ToSlash(path[len(root)+1:]), at)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	head, err := markHead(w.Admin)
	return s.String() + " " + head, err
}

// markHead is a digest of where the HEAD of a git dir leads to.
func markHead(admin string) (_ string, err error) {
	dir, err := os.OpenRoot(admin)
	if missing(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	sum := sha256.New()
	names := []string{"HEAD", "packed-refs"} // a ref that is no file is in the latter
	for i := 0; i < len(names); i++ {
		text, err := readSmall(dir, names[i])
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d\n%s", names[i], len(text), text)
		ref, symbolic := strings.CutPrefix(strings.TrimSpace(string(text)), "ref: ")
		if symbolic && i == 0 && filepath.IsLocal(ref) {
			names = append(names, ref)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// maxRefs bounds what is read of a file of refs, in bytes.
const maxRefs = 64 << 20

// readSmall reads a file of a git dir that others can write to; what is none
// holds nothing.
func readSmall(dir *os.Root, name string) (text []byte, err error) {
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if vanished(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	at, err := f.Stat()
	if err != nil || !at.Mode().IsRegular() {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, maxRefs))
}
