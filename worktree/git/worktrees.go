package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Register makes a linked, detached, locked worktree at dir without files, and
// returns its admin folder below <common>/worktrees.
//
// Git fails now and then if two of these run at once in a repository
// (config.lock, "failed to read commondir"): the caller serializes them.
func (r *Repo) Register(ctx context.Context, dir string, at Hash, reason string) (admin string, err error) {
	_, err = r.Run(ctx, Cmd{Writes: true, Args: []string{
		"worktree", "add", "--quiet", "--no-checkout", "--detach",
		"--lock", "--reason", reason, "--", dir, string(at),
		// Git 2.48 can be told to write relative paths; ours are compared.
	}, Config: []string{"worktree.useRelativePaths=false"}})
	if err != nil {
		return "", fmt.Errorf("register worktree: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(dir, ".git"))
	if err != nil {
		return "", fmt.Errorf("register worktree: %w", err)
	}
	admin, ok := strings.CutPrefix(strings.TrimSuffix(string(text), "\n"), "gitdir: ")
	if !ok || filepath.Base(filepath.Dir(admin)) != "worktrees" {
		return "", fmt.Errorf("register worktree: unexpected .git file %q", text)
	}
	return admin, nil
}

// HeadOf is the commit that the HEAD of a worktree's admin folder leads to;
// empty where it leads to none (an unborn branch, a damaged file). The error
// is of a git that could not answer.
//
// The folder may be an agent's, who may have put anything there: a pipe, or the
// name of another repository. So git does not look into it, but where its refs
// are no files. The configuration of the repository may be an agent's, too: no
// transport is allowed, since a promisor remote would be asked for a missing
// object, and its configuration can name a program.
func (r *Repo) HeadOf(ctx context.Context, admin string) (Hash, error) {
	dir, head := admin, "HEAD"
	if _, err := os.Lstat(filepath.Join(r.CommonDir, "reftable")); errors.Is(err, fs.ErrNotExist) {
		if dir, head = r.CommonDir, r.detached(admin); head == "" {
			return "", nil
		}
		if _, known := r.memo.tree(Hash(head)); known {
			return Hash(head), nil
		}
	}
	var bad *Error
	for range headTries {
		out, err := r.Git.Run(ctx, Cmd{
			Dir: r.CommonDir, Env: []string{"GIT_DIR=" + dir, "GIT_ALLOW_PROTOCOL=none"},
			Args: []string{"rev-parse", "--verify", "--quiet", head + "^{commit}"},
		})
		switch {
		case err == nil:
			return Hash(strings.TrimSpace(string(out))), nil
		case !errors.As(err, &bad):
			return "", fmt.Errorf("read the HEAD of %s: %w", admin, err)
		case bad.Code >= 0:
			return "", nil
		}
	}
	return "", nil
}

// detached is the content of the file HEAD of an admin folder: the name of an
// object or, if HEAD is attached, of a ref that all worktrees share. It is
// empty if the file is not readable.
func (r *Repo) detached(admin string) string {
	files, err := openLayers([]string{admin})
	if err != nil {
		return ""
	}
	defer files.close()
	if head := r.follow(files, "HEAD"); head != "" {
		return string(head)
	}
	text, err := readRegular(files, "HEAD")
	name, isRef := strings.CutPrefix(strings.TrimRight(text, "\r\n"), "ref: ")
	if err != nil || !isRef || !validRef(name) {
		return ""
	}
	return name
}

// headTries is how often a git that a signal ended is retried. A user may have
// killed it, and a git that may not fetch can die of a broken pipe.
const headTries = 3

// Checkout is a working tree of the repository.
type Checkout struct {
	Dir    string
	Branch string // full ref; empty when detached
	Bare   bool
}

// Checkouts lists the main working tree and the linked ones.
func (r *Repo) Checkouts(ctx context.Context) ([]Checkout, error) {
	out, err := r.Run(ctx, Cmd{Args: []string{"worktree", "list", "--porcelain", "-z"}})
	if err != nil {
		return nil, fmt.Errorf("list worktrees: %w", err)
	}
	return parseCheckouts(out), nil
}

// parseCheckouts parses `worktree list --porcelain -z`: attributes end in NUL,
// and an empty attribute ends a worktree.
func parseCheckouts(out []byte) []Checkout {
	var all []Checkout
	for rec := range bytes.SplitSeq(out, []byte("\x00\x00")) {
		var c Checkout
		for attr := range bytes.SplitSeq(rec, []byte{0}) {
			key, value, _ := strings.Cut(string(attr), " ")
			switch key {
			case "worktree":
				c.Dir = value
			case "branch":
				c.Branch = value
			case "bare":
				c.Bare = true
			}
		}
		if c.Dir != "" {
			all = append(all, c)
		}
	}
	return all
}
