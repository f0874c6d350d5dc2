package pullrequest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"agentswarm/worktree/git"
)

// Target is where pull requests go.
type Target struct {
	Remote  string   // empty: the repository has none
	Address string   // of the remote, for pushes
	Base    string   // the branch, without refs/heads/
	Onto    git.Hash // its tip, as this repository knows it
}

// TargetRequest asks for the target of a run.
type TargetRequest struct {
	Repo    *git.Repo // required
	Remote  string    // empty: that of the branch, else the only remote, else origin
	Base    string    // empty: the default branch of the remote, else the branch of the same name
	Branch  string    // the branch that the run landed on, without refs/heads/; required
	Changes []*Change // the landed changes; required
}

// TargetError says that the target of pull requests is not known.
type TargetError struct{ Text, Tip string }

func (e *TargetError) Error() string { return e.Text }

// Hint says which flag would settle it.
func (e *TargetError) Hint() string { return e.Tip }

// FindTarget finds the remote and the base of pull requests. It asks no server. Without
// any remote, the base is the branch as it was before the run landed. An error is a
// [*TargetError], or says that git failed.
func FindTarget(ctx context.Context, r TargetRequest) (*Target, error) {
	remote, err := r.remote(ctx)
	if err != nil {
		return nil, err
	}
	if remote == "" {
		return &Target{Base: r.Branch, Onto: r.Changes[0].Parent}, nil
	}
	t := &Target{Remote: remote}
	if t.Address, err = ask(ctx, r.Repo, "remote", "get-url", "--push", "--", remote); err != nil {
		return nil, err
	}
	of := "refs/remotes/" + remote + "/"
	if r.Base != "" {
		t.Base = r.Base
		if t.Onto, err = r.Repo.Ref(ctx, of+t.Base); err != nil {
			return nil, err
		}
		if t.Onto == "" {
			return nil, &TargetError{
				Text: fmt.Sprintf("this repository knows no branch %s of %s", t.Base, remote),
				Tip:  fmt.Sprintf("fetch it with `git fetch %s`, or choose another --base", remote),
			}
		}
		return t, nil
	}
	head, err := ask(ctx, r.Repo, "symbolic-ref", "--quiet", of+"HEAD")
	if err != nil {
		return nil, err
	}
	for _, base := range []string{strings.TrimPrefix(head, of), r.Branch} {
		if base == "" {
			continue
		}
		if t.Onto, err = r.Repo.Ref(ctx, of+base); err != nil || t.Onto != "" {
			t.Base = base
			return t, err
		}
	}
	return nil, &TargetError{
		Text: fmt.Sprintf("the default branch of %s is not known here, nor a branch %s of it", remote, r.Branch),
		Tip:  fmt.Sprintf("run `git remote set-head %s --auto`, or choose a --base", remote),
	}
}

// remote is the name of the remote; empty where the repository has none.
func (r *TargetRequest) remote(ctx context.Context) (string, error) {
	out, err := ask(ctx, r.Repo, "remote")
	if err != nil {
		return "", err
	}
	all := strings.Fields(out)
	if r.Remote != "" {
		if !slices.Contains(all, r.Remote) {
			return "", &TargetError{
				Text: fmt.Sprintf("there is no remote %q", r.Remote), Tip: "remotes here: " + strings.Join(all, ", "),
			}
		}
		return r.Remote, nil
	}
	own, err := ask(ctx, r.Repo, "config", "--get", "branch."+r.Branch+".remote")
	switch {
	case err != nil:
		return "", err
	case slices.Contains(all, own):
		return own, nil
	case len(all) == 0:
		return "", nil
	case len(all) == 1:
		return all[0], nil
	case slices.Contains(all, "origin"):
		return "origin", nil
	}
	return "", &TargetError{Text: fmt.Sprintf("there are %d remotes", len(all)), Tip: "choose one with --remote: " + strings.Join(all, ", ")}
}

// ask is the answer of git; empty where it ends with 1 and says nothing.
func ask(ctx context.Context, repo *git.Repo, args ...string) (string, error) {
	out, err := repo.Run(ctx, git.Cmd{Args: args})
	if failed, ok := errors.AsType[*git.Error](err); ok && failed.Code == 1 && failed.Stderr == "" {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}
