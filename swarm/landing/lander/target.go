package lander

import (
	"context"
	"errors"
	"strings"

	"agentswarm/swarm/refusal"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// BranchName is the short name of the branch of a ref.
func BranchName(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }

// TargetRef is the full ref of the branch that a merge lands on. into is the name that
// the user gave; empty: the branch checked out here. The error is a [*refusal.Error] if
// there is none, or if no branch can have the name.
func TargetRef(ctx context.Context, repo *git.Repo, into string) (string, error) {
	if into == "" {
		branch, err := repo.Branch(ctx)
		switch {
		case err != nil:
			return "", err
		case repo.Bare():
			return "", refusal.New("a bare repository has no branch checked out: name one with --into BRANCH")
		case branch == "":
			return "", refusal.New("HEAD is detached here: name a branch with --into BRANCH")
		}
		return branch, nil
	}
	ref := into
	if !strings.HasPrefix(into, "refs/") {
		ref = "refs/heads/" + into
	}
	if !strings.HasPrefix(ref, "refs/heads/") {
		return "", refusal.New("--into %s: want the name of a branch", into)
	}
	if name := BranchName(ref); strings.HasPrefix(name, "-") || name == "HEAD" || name == "@" {
		return "", refusal.New("--into %q is not a name a branch can have", name)
	}
	if err := repo.CheckRef(ctx, ref); err != nil {
		return "", refusal.New("--into %v", err)
	}
	if there, err := repo.Ref(ctx, ref); err != nil || there != "" {
		return ref, err
	}
	err := repo.CheckFree(ctx, ref)
	var clash *git.RefClashError
	if errors.As(err, &clash) {
		return "", refusal.New("--into %s: %v", BranchName(ref), clash)
	}
	return ref, err
}

// BaseOf is the commit that a new branch starts from: the base of the run, without the
// user's uncommitted changes in it.
func BaseOf(b store.Base) git.Hash {
	if b.SnapshotOf != "" {
		return git.Hash(b.SnapshotOf)
	}
	return git.Hash(b.Commit)
}
