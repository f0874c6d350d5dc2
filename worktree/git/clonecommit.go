package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// CloneCommit makes a repository with a single commit of r in the folder to,
// and checks its files out. The folder may exist and must be empty. The history
// is cut off there. No filter and no hook runs: files are as they are stored.
func (r *Repo) CloneCommit(ctx context.Context, to string, commit Hash) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("check out commit %s in %s: %w", commit.Short(), to, err)
		}
	}()
	if !r.named(commit) {
		return &MissingObjectError{ID: commit}
	}
	dir := filepath.Join(to, ".git")
	if err := os.MkdirAll(filepath.Join(dir, "refs"), 0o700); err != nil {
		return err
	}
	format := "0\n"
	if r.ObjectFormat == "sha256" {
		format = "1\n[extensions]\n\tobjectformat = sha256\n"
	}
	err = errors.Join(
		os.MkdirAll(filepath.Join(dir, "objects", "pack"), 0o700),
		os.WriteFile(filepath.Join(dir, "HEAD"), []byte(commit+"\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "shallow"), []byte(commit+"\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "config"), []byte("[core]\n\tbare = false\n\trepositoryformatversion = "+format), 0o600),
	)
	if err != nil {
		return err
	}
	clone := &Repo{Git: r.Git, CommonDir: dir, GitDir: dir, TopLevel: to, ObjectFormat: r.ObjectFormat}
	if err := r.sendCommit(ctx, clone, commit); err != nil {
		return err
	}
	_, err = clone.Run(ctx, Cmd{
		Args: []string{"read-tree", "--reset", "-u", "--no-recurse-submodules", string(commit)}, Writes: true,
		Env: []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1"},
	})
	return err
}

// sendCommit copies a commit with its tree, and without its history.
func (r *Repo) sendCommit(ctx context.Context, to *Repo, commit Hash) error {
	listed, list := io.Pipe()
	packed, pack := io.Pipe()
	listing, packing := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := r.Run(ctx, Cmd{
			Args: []string{"rev-list", "--objects", "--no-object-names", "--max-count=1", string(commit)}, Stdout: list, Env: offline(),
		})
		list.CloseWithError(err)
		listing <- err
	}()
	go func() {
		_, err := r.Run(ctx, Cmd{Args: []string{"pack-objects", "--stdout", "-q"}, Stdin: listed, Stdout: pack, Env: offline()})
		listed.CloseWithError(io.ErrClosedPipe)
		pack.CloseWithError(err)
		packing <- err
	}()
	_, err := to.Run(ctx, Cmd{Args: []string{"index-pack", "--stdin"}, Stdin: packed, Writes: true})
	packed.CloseWithError(io.ErrClosedPipe)
	// One of the first two errors may only mean that its reader ended.
	return cause(cause(<-listing, <-packing), err)
}
