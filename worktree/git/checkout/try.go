package checkout

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"agentswarm/worktree/git"
)

// TryFilters runs the user's filters on the new files of a side, as a transaction
// would, and returns the error with which that would fail. The files are written to
// the folder scratch, which is removed; the checkout stays as it is. Without a
// required filter that writes files it does nothing. Side.Env says where git finds
// objects that are not in the repository yet.
func TryFilters(ctx context.Context, r Side, scratch string) (err error) {
	settings, err := r.Repo.Settings(ctx)
	if err != nil || !canFail(settings) {
		return err
	}
	dir, err := os.MkdirTemp(scratch, "filters-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	tree, index := filepath.Join(dir, "tree"), filepath.Join(dir, "index")
	if err := os.Mkdir(tree, 0o700); err != nil {
		return err
	}
	s := &side{
		Dir: r.Repo.TopLevel, GitDir: r.Repo.GitDir, From: r.From, To: r.To, Index: r.Index, changes: r.Changes, env: r.Env,
	}
	if err := s.copyIndex(ctx, r.Repo, index); err != nil {
		return err
	}
	return s.fill(ctx, r.Repo, tree, index)
}

// canFail reports whether a filter that writes files is required.
func canFail(settings []git.Setting) bool {
	writes := map[string]bool{}
	for _, s := range settings {
		if s.Section == "filter" && (s.Name == "smudge" || s.Name == "process") && s.Value != "" {
			writes[s.Of] = true
		}
	}
	return slices.ContainsFunc(settings, func(s git.Setting) bool {
		return s.Section == "filter" && s.Name == "required" && s.On() && writes[s.Of]
	})
}
