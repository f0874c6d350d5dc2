package merge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"agentswarm/worktree/git"
	"agentswarm/worktree/git/checkout"
	"agentswarm/worktree/submodule"
)

// ModuleError says that a merged commit records commits of submodules that the
// user does not have.
type ModuleError struct{ Missing []submodule.Missing }

func (e *ModuleError) Error() string {
	lines := make([]string, len(e.Missing))
	for i, m := range e.Missing {
		lines[i] = m.String()
	}
	return strings.Join(lines, "; ")
}

// ModuleBranchError says that the commit of a submodule is on another line of
// history than the branch that is checked out there.
type ModuleBranchError struct {
	Dir, Branch string
	Commit      git.Hash
}

func (e *ModuleBranchError) Error() string {
	return fmt.Sprintf("%s in %s cannot move to %s: neither contains the other", e.Branch, e.Dir, e.Commit.Short())
}

// Hint says what the user can do.
func (e *ModuleBranchError) Hint() string { return "detach HEAD there: git -C DIR switch --detach" }

// Modules says where commits of submodules come from, and which refs hold them.
type Modules struct {
	// Onto is the commit that New was merged onto. It tells the submodules that the
	// landing moves from those that the branch had. Required.
	Onto   git.Hash
	Stores string // as in [submodule.Request]
	Refs   string // as in [submodule.BringRequest]
}

// bringModules brings the commits of submodules that a landing records into the
// user's submodules. A commit that cannot be had is a [*ModuleError].
func (t *transit) bringModules(ctx context.Context, req LandRequest) error {
	changes, err := req.Quarantine.Changes(ctx, req.Modules.Onto, t.to)
	if err != nil || !slices.ContainsFunc(changes, recordsModule) {
		return err
	}
	steps, missing, err := submodule.Steps(ctx, submodule.Request{
		Repo: t.repo, Stores: req.Modules.Stores, From: req.Modules.Onto, Changes: changes,
	})
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return &ModuleError{Missing: missing}
	}
	return submodule.Bring(ctx, submodule.BringRequest{
		Steps: steps, Scratch: t.tx.Scratch(), Refs: req.Modules.Refs, Message: orSwarm(req.Message),
	})
}

func recordsModule(c git.Change) bool { return c.NewMode == git.Gitlink }

// addModules has the checkouts of submodules follow a checkout of their parent.
// A checkout that stands on another commit than the parent recorded stays as it is.
func (t *transit) addModules(ctx context.Context, h git.Holder, changes []git.Change) error {
	if !slices.ContainsFunc(changes, recordsModule) {
		return nil
	}
	// A commit that is missing here is not checked out here.
	steps, _, err := submodule.Steps(ctx, submodule.Request{Repo: h.Repo, From: t.from, Changes: changes})
	if err != nil {
		return err
	}
	for _, s := range steps {
		if s.User.Bare() || s.From == "" {
			continue
		}
		if err := t.addModule(ctx, h, s); err != nil {
			return err
		}
	}
	return nil
}

func (t *transit) addModule(ctx context.Context, h git.Holder, s submodule.Step) error {
	head, err := s.User.Ref(ctx, "HEAD")
	if err != nil || head != s.From {
		return err
	}
	if doing := s.User.Doing(); doing != "" {
		return &BusyError{Ref: t.ref, Dir: s.User.TopLevel, Doing: doing}
	}
	branch, err := s.User.Branch(ctx)
	if err != nil {
		return err
	}
	if branch == "" {
		branch = "HEAD"
	} else if err := onOneLine(ctx, s, branch); err != nil {
		return err
	}
	changes, err := s.Changes(ctx)
	if err != nil {
		return err
	}
	err = t.tx.Add(ctx, checkout.Side{
		Repo: s.User, From: s.From, To: s.To, Changes: changes, Index: true, Of: h.Repo.GitDir, Head: branch,
	})
	if err == nil {
		t.modules = append(t.modules, s.User.TopLevel)
	}
	return err
}

// onOneLine refuses to move a branch of the user's to a commit of another line of
// history: commits of the branch would be lost.
func onOneLine(ctx context.Context, s submodule.Step, branch string) error {
	for _, ends := range [][2]git.Hash{{s.To, s.From}, {s.From, s.To}} {
		if along, err := s.User.Contains(ctx, ends[0], ends[1]); err != nil || along {
			return err
		}
	}
	return &ModuleBranchError{Dir: s.User.TopLevel, Branch: branch, Commit: s.To}
}
