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

// ModuleBranchError says that the commit of a submodule does not contain the branch
// that is checked out there. For an undo: neither contains the other.
type ModuleBranchError struct {
	Dir, Branch string
	Commit      git.Hash
}

func (e *ModuleBranchError) Error() string {
	return fmt.Sprintf("%s in %s cannot move to %s: commits of the branch would be lost", e.Branch, e.Dir, e.Commit.Short())
}

// Hint tells the user how to free the submodule's branch.
func (e *ModuleBranchError) Hint() string { return "detach HEAD there: git -C DIR switch --detach" }

// Modules says where commits of submodules come from, and which refs hold them.
type Modules struct {
	// Onto is the commit that New was merged onto. It tells the submodules that the
	// landing moves from those that the branch had. Empty: no submodule is looked at.
	Onto   git.Hash
	Stores string // as in [submodule.Request]
	Refs   string // as in [submodule.BringRequest]
}

// steps lists the submodules that a landing of a commit moves. A commit that cannot
// be had is a [*ModuleError].
func (m Modules) steps(ctx context.Context, q *git.Quarantine, to git.Hash) ([]submodule.Step, error) {
	if m.Onto == "" {
		return nil, nil
	}
	changes, err := q.Changes(ctx, m.Onto, to)
	if err != nil || !slices.ContainsFunc(changes, recordsModule) {
		return nil, err
	}
	steps, missing, err := submodule.Steps(ctx, submodule.Request{
		Repo: q.Repo(), Stores: m.Stores, From: m.Onto, Changes: changes,
	})
	if err == nil && len(missing) > 0 {
		err = &ModuleError{Missing: missing}
	}
	return steps, err
}

// bringModules brings the commits of submodules that a landing records into the
// user's submodules.
func (t *transit) bringModules(ctx context.Context, req LandRequest) error {
	steps, err := req.Modules.steps(ctx, req.Quarantine, t.to)
	if err != nil || len(steps) == 0 {
		return err
	}
	return submodule.Bring(ctx, submodule.BringRequest{
		Steps: steps, Scratch: t.tx.Scratch(), Refs: req.Modules.Refs, Message: orSwarm(req.Message),
	})
}

func recordsModule(c git.Change) bool { return c.NewMode == git.Gitlink }

// moduleMoves looks for the checkouts of submodules that follow a checkout of
// their parent.
type moduleMoves struct {
	ref      string // the branch of the parent
	from     git.Hash
	backward bool // a branch of a submodule may move to a commit in its past
	// stores and brought are set by a look before a landing: the landing brings the
	// commits of the steps in brought from the stores.
	stores  string
	brought []submodule.Step
}

// moduleMove is the checkout of a submodule that follows.
type moduleMove struct {
	submodule.Step
	head    string // the branch that is checked out there, or "HEAD"
	changes []git.Change
}

// of lists the checkouts that follow a checkout of the parent. A checkout at
// another commit than the parent recorded stays. It returns a [*BusyError] or a
// [*ModuleBranchError] if a checkout blocks the move.
func (m moduleMoves) of(ctx context.Context, h git.Holder, changes []git.Change) (moves []moduleMove, err error) {
	if !slices.ContainsFunc(changes, recordsModule) {
		return nil, nil
	}
	// A commit that is missing here is not checked out here.
	steps, _, err := submodule.Steps(ctx, submodule.Request{Repo: h.Repo, Stores: m.stores, From: m.from, Changes: changes})
	if err != nil {
		return nil, err
	}
	var missing []string // submodules whose commits the landing does not bring
	for _, s := range steps {
		if !m.arrives(s) || slices.ContainsFunc(missing, func(path string) bool { return strings.HasPrefix(s.Path, path+"/") }) {
			missing = append(missing, s.Path)
			continue
		}
		if s.User.Bare() || s.From == "" {
			continue
		}
		move, err := m.move(ctx, s)
		if err != nil {
			return nil, err
		}
		if move != nil {
			moves = append(moves, *move)
		}
	}
	return moves, nil
}

// arrives reports whether the submodule of a step has its commit when the checkouts
// move.
func (m moduleMoves) arrives(s submodule.Step) bool {
	return s.Store == nil || slices.ContainsFunc(m.brought, func(b submodule.Step) bool {
		return b.To == s.To && b.User.CommonDir == s.User.CommonDir
	})
}

// move is the move of a submodule; nil if its checkout stays as it is.
func (m moduleMoves) move(ctx context.Context, s submodule.Step) (*moduleMove, error) {
	head, err := s.User.Ref(ctx, "HEAD")
	if err != nil || head != s.From {
		return nil, err
	}
	if s.Store != nil {
		// A store may lack a commit that the user checked out since. Land looks at it.
		if has, err := s.Store.HasCommit(ctx, s.From); err != nil || !has {
			return nil, err
		}
	}
	if doing := s.User.Doing(); doing != "" {
		return nil, &BusyError{Ref: m.ref, Dir: s.User.TopLevel, Doing: doing}
	}
	branch, err := s.User.Branch(ctx)
	if err != nil {
		return nil, err
	}
	if branch == "" {
		branch = "HEAD"
	} else if err := m.keepsCommits(ctx, s, branch); err != nil {
		return nil, err
	}
	changes, err := s.Changes(ctx)
	return &moduleMove{Step: s, head: branch, changes: changes}, err
}

// keepsCommits refuses to move a branch of the user's to a commit that does not
// contain it: commits of the branch would be lost. An undo moves it backward.
func (m moduleMoves) keepsCommits(ctx context.Context, s submodule.Step, branch string) error {
	along, err := s.Reader().Contains(ctx, s.To, s.From)
	if err == nil && !along && m.backward {
		along, err = s.Reader().Contains(ctx, s.From, s.To)
	}
	if err != nil || along {
		return err
	}
	return &ModuleBranchError{Dir: s.User.TopLevel, Branch: branch, Commit: s.To}
}

// addModules has the checkouts of submodules follow a checkout of their parent.
func (t *transit) addModules(ctx context.Context, h git.Holder, changes []git.Change) error {
	moves, err := moduleMoves{ref: t.ref, from: t.from, backward: t.backward}.of(ctx, h, changes)
	if err != nil {
		return err
	}
	for _, m := range moves {
		err := t.tx.Add(ctx, checkout.Side{
			Repo: m.User, From: m.From, To: m.To, Changes: m.changes, Index: true, Parent: h.Repo.GitDir, Head: m.head,
		})
		if err != nil {
			return err
		}
		t.modules = append(t.modules, m.User.TopLevel)
	}
	return nil
}
