package merge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentswarm/worktree/git"
)

// backTime is how long it may take to put checkouts back.
const backTime = time.Minute

// transit is a branch on its way from one commit to another, together with
// the checkouts that stand on it.
type transit struct {
	repo     *git.Repo
	ref      string
	from, to git.Hash
	message  string
	journal  func(Intent) error
	hook     func(string) error
	holders  []git.Holder
	changes  []git.Change
}

func (t *transit) wrap(err *error) {
	if *err != nil {
		*err = fmt.Errorf("move %s: %w", t.ref, *err)
	}
}

func (t *transit) step(name string) error {
	if t.hook == nil {
		return nil
	}
	return t.hook(name)
}

// check sees whether the move can be made, and touches nothing.
func (t *transit) check(ctx context.Context, changes []git.Change) error {
	if err := t.at(ctx, t.from); err != nil {
		return err
	}
	holders, err := t.repo.Holders(ctx, t.ref)
	if err != nil {
		return err
	}
	t.holders, t.changes = holders, changes
	for _, h := range holders {
		if h.Doing != "" {
			return &BusyError{Ref: t.ref, Dir: h.Repo.TopLevel, Doing: h.Doing}
		}
		if t.to == "" {
			return &HeldError{Ref: t.ref, Dir: h.Repo.TopLevel}
		}
		if err := h.Repo.CheckMove(ctx, t.from, changes); err != nil {
			return err
		}
	}
	return nil
}

// at checks where the branch is.
func (t *transit) at(ctx context.Context, want git.Hash) error {
	have, err := t.repo.Ref(ctx, t.ref)
	if err == nil && have != want {
		err = &MovedError{Ref: t.ref, Want: want, Have: have}
	}
	return err
}

// run makes the move: intent, files, branch.
func (t *transit) run(ctx context.Context) (*Landing, error) {
	in := Intent{Ref: t.ref, Old: t.from, New: t.to}
	for _, h := range t.holders {
		in.Checkouts = append(in.Checkouts, h.Repo.TopLevel)
	}
	if err := t.journal(in); err != nil {
		return nil, fmt.Errorf("journal the intent: %w", err)
	}
	if err := t.step("journaled"); err != nil {
		return nil, err
	}
	for i, h := range t.holders {
		if err := h.Repo.MoveCheckout(ctx, t.from, t.to); err != nil {
			return nil, errors.Join(err, t.back(ctx, t.holders[:i]))
		}
		if err := t.step("followed"); err != nil {
			return nil, err
		}
	}
	if err := t.swap(ctx); err != nil {
		return nil, errors.Join(err, t.back(ctx, t.holders))
	}
	if err := t.step("swapped"); err != nil {
		return nil, err
	}
	return &Landing{Moved: in.Checkouts}, nil
}

// swap moves the branch, seen from a checkout that stands on it, whose HEAD
// has a reflog too.
func (t *transit) swap(ctx context.Context) error {
	from := t.repo
	if len(t.holders) > 0 {
		from = t.holders[0].Repo
	}
	err := from.UpdateRefs(ctx, t.message, git.RefUpdate{Ref: t.ref, Old: t.from, New: t.to})
	if err == nil {
		return nil
	}
	if moved := t.at(ctx, t.from); moved != nil {
		return moved
	}
	return err
}

// back takes checkouts to where they came from, after the branch could not
// follow. One whose new branch agrees with their files stays: somebody
// committed in the instant between, and has what we brought in his commit.
func (t *transit) back(ctx context.Context, moved []git.Holder) error {
	if len(moved) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), backTime)
	defer cancel()
	now, err := t.repo.Ref(ctx, t.ref)
	if err != nil {
		return err
	}
	if now != t.from && now != "" {
		differs, err := t.repo.Changes(ctx, now, t.to)
		if err != nil {
			return err
		}
		if !meet(t.changes, differs) {
			return nil
		}
	}
	for _, h := range moved {
		err = errors.Join(err, h.Repo.MoveCheckout(ctx, t.to, t.from))
	}
	return err
}

// meet reports whether two changes have a path in common.
func meet(a, b []git.Change) bool {
	paths := make(map[string]bool, len(a))
	for _, c := range a {
		paths[c.Path] = true
	}
	for _, c := range b {
		if paths[c.Path] {
			return true
		}
	}
	return false
}
