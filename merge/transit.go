package merge

import (
	"context"
	"fmt"

	"agentswarm/worktree/git"
	"agentswarm/worktree/git/checkout"
)

// transit moves a branch to another commit, together with the checkouts that
// stand on it.
type transit struct {
	repo     *git.Repo
	ref      string
	from, to git.Hash
	backward bool // branches of submodules may move to commits in their past
	journal  func(Intent) error
	holders  []git.Holder
	modules  []string // the checkouts of submodules that follow
	tx       *checkout.Tx
}

func (t *transit) wrap(err *error) { *err = wrapMove(t.ref, *err) }

// begin opens the transaction.
func (t *transit) begin(ctx context.Context, verb string, r Record, message string) (err error) {
	t.tx, err = checkout.Begin(ctx, checkout.Request{
		Records: r.Records, ID: r.ID, Verb: verb, Repo: t.repo,
		Ref: t.ref, Old: t.from, New: t.to, Message: orSwarm(message), Step: r.Step,
	})
	return err
}

// check sees whether the move can be made, and touches nothing.
func (t *transit) check(ctx context.Context, changes []git.Change) error {
	have, err := t.repo.Ref(ctx, t.ref)
	if err != nil {
		return err
	}
	if have != t.from {
		return &MovedError{Ref: t.ref, Want: t.from, Have: have}
	}
	if t.holders, err = holdersOf(ctx, t.repo, t.ref); err != nil {
		return err
	}
	for _, h := range t.holders {
		if t.to == "" {
			return &HeldError{Ref: t.ref, Dir: h.Repo.TopLevel}
		}
		err := t.tx.Add(ctx, checkout.Side{Repo: h.Repo, From: t.from, To: t.to, Changes: changes, Index: true})
		if err != nil {
			return err
		}
		if err := t.addModules(ctx, h, changes); err != nil {
			return err
		}
	}
	return nil
}

// run makes the move: new files, intent, renames, branch.
func (t *transit) run(ctx context.Context) (*Landing, error) {
	if err := t.tx.Prepare(ctx); err != nil {
		return nil, err
	}
	in := Intent{Ref: t.ref, Old: t.from, New: t.to}
	for _, h := range t.holders {
		in.Checkouts = append(in.Checkouts, h.Repo.TopLevel)
	}
	if err := t.journal(in); err != nil {
		return nil, fmt.Errorf("journal the intent: %w", err)
	}
	if err := t.tx.Commit(ctx); err != nil {
		return nil, err
	}
	return &Landing{Moved: append(in.Checkouts, t.modules...)}, nil
}
