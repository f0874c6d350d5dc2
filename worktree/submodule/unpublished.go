package submodule

import (
	"context"
	"errors"
	"slices"
	"strings"

	"agentswarm/worktree/git"
)

// UnpublishedRequest asks which submodules of a commit cannot be fetched.
type UnpublishedRequest struct {
	Repo   *git.Repo // required; as in [Request]
	Stores string    // as in [Request]
	Commit git.Hash  // required; its .gitmodules names the submodules
	// Links are the submodules that Commit records, or some of them: Path and New
	// are used. Required.
	Links []git.Change
}

// Unpublished lists the submodules whose recorded commits no remote has, as far as
// the user's submodules know their remotes, but a store or the user does. They
// cannot be fetched. Submodules above such a nested one count too. Parents come first.
// User is nil in a step if the user has no such submodule.
func Unpublished(ctx context.Context, r UnpublishedRequest) ([]Step, error) {
	links := make([]git.Change, len(r.Links))
	for i, l := range r.Links {
		links[i] = git.Change{Path: l.Path, NewMode: git.Gitlink, New: l.New, Status: 'A'}
	}
	steps, _, err := Steps(ctx, Request{Repo: r.Repo, Stores: r.Stores, From: r.Commit, Changes: links, whole: true})
	if err != nil {
		return nil, err
	}
	var kept []Step
	for _, s := range slices.Backward(steps) {
		above := slices.ContainsFunc(kept, func(k Step) bool { return strings.HasPrefix(k.Path, s.Path+"/") })
		if !above && s.Store == nil {
			published, err := s.User.Published(ctx, string(s.To))
			if err != nil {
				return nil, err
			}
			if published {
				continue
			}
		}
		kept = append(kept, s)
	}
	slices.Reverse(kept)
	return kept, nil
}

// hasModules reports whether a commit has a .gitmodules file, without which no git
// checks its submodules out.
func hasModules(ctx context.Context, repo *git.Repo, commit git.Hash) (bool, error) {
	_, err := repo.Run(ctx, git.Cmd{Args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", string(commit) + ":.gitmodules"}})
	if bad, ok := errors.AsType[*git.Error](err); ok && bad.Code >= 0 {
		return false, nil
	}
	return err == nil, err
}
