package demo

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"agentswarm/worktree/git"
)

// repository is the monorepo once it is a git repository.
type repository struct {
	git *git.Git
	dir string
}

func newRepository(environ []string) repository { return repository{git: git.New(environ)} }

// create makes a commit of all files in the folder. Its author is the demo: the
// user may have no author configured.
func (r repository) create(ctx context.Context) error {
	who := []string{
		"GIT_AUTHOR_NAME=swarm demo", "GIT_AUTHOR_EMAIL=demo@localhost",
		"GIT_COMMITTER_NAME=swarm demo", "GIT_COMMITTER_EMAIL=demo@localhost",
	}
	if err := r.git.FindHooks(ctx, r.dir); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"},
		{"add", "--all", "--force"}, // the user's own excludes do not count here
		{"commit", "--quiet", "--message=Write a monorepo to try swarm on"},
	} {
		if _, err := r.git.Run(ctx, git.Cmd{Dir: r.dir, Args: args, Env: who, Writes: true}); err != nil {
			return err
		}
	}
	return nil
}

// checkout returns the user's state that the agents and the merge must not
// touch: the files, the state of git around them, and every branch but the new
// branch.
func (r repository) checkout(ctx context.Context) (files, error) {
	all, err := readFiles(r.dir, ".git")
	if err != nil {
		return nil, fmt.Errorf("read the checkout: %w", err)
	}
	for _, name := range []string{"HEAD", "config", "index"} {
		text, err := os.ReadFile(filepath.Join(r.dir, ".git", name))
		if err != nil {
			return nil, fmt.Errorf("read the checkout: %w", err)
		}
		all[".git/"+name] = string(text)
	}
	refs, err := r.git.Run(ctx, git.Cmd{Dir: r.dir, Args: []string{
		"for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags", "refs/stash",
	}})
	if err != nil {
		return nil, fmt.Errorf("read the branches: %w", err)
	}
	for line := range strings.Lines(string(refs)) {
		if !strings.HasSuffix(line, " refs/heads/"+landed+"\n") {
			all["branches and tags"] += line
		}
	}
	return all, nil
}

// tree returns the files of a branch; none where the branch does not exist.
func (r repository) tree(ctx context.Context, branch string) (files, error) {
	packed, err := r.git.Run(ctx, git.Cmd{Dir: r.dir, Args: []string{
		"archive", "--format=tar", "refs/heads/" + branch,
	}})
	var bad *git.Error
	if errors.As(err, &bad) {
		return files{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read branch %s: %w", branch, err)
	}
	all := files{}
	for archive := tar.NewReader(bytes.NewReader(packed)); ; {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read branch %s: %w", branch, err)
		}
		if head.Typeflag != tar.TypeReg {
			continue
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			return nil, fmt.Errorf("read branch %s: %w", branch, err)
		}
		all[head.Name] = string(text)
	}
}
