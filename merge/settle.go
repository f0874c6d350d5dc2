package merge

import (
	"context"
	"errors"
	"fmt"

	"agentswarm/worktree/git"
)

// SettleRequest is an intent whose process died.
type SettleRequest struct {
	Repo     *git.Repo // required
	Intent   Intent
	LockFile string // required, as in the landing
	Message  string
}

// Settled is what became of it.
type Settled struct {
	// Happened is set when the branch is where the intent wanted it, be it
	// that it was already or that settling finished the move.
	Happened bool
	// Moved are the checkouts whose files followed.
	Moved []string
	// Left is what nobody but the user may judge.
	Left []Leftover
}

// Leftover is what could not be put back in a checkout.
type Leftover struct {
	Dir string
	// Paths hold neither what they held before nor what the move brings.
	Paths []string
	// Doing is what is in progress there, as in a [*BusyError]; a lock that
	// a killed git left on the index looks like another git command.
	Doing string
}

// Settle finds out what became of a move that was cut off, and ends it: on
// if all files were there already and only the branch is missing, back
// otherwise. Nothing is replayed that did not begin, and a branch that
// somebody moved since stays where it is.
func Settle(ctx context.Context, req SettleRequest) (_ *Settled, err error) {
	in := req.Intent
	t := &transit{repo: req.Repo, ref: in.Ref, from: in.Old, to: in.New, message: orSwarm(req.Message)}
	defer t.wrap(&err)
	unlock, err := lock(ctx, req.LockFile)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	now, err := req.Repo.Ref(ctx, in.Ref)
	if err != nil {
		return nil, err
	}
	switch {
	case now == in.New:
		return &Settled{Happened: true, Moved: in.Checkouts}, nil
	case now != in.Old:
		happened, err := passed(ctx, req.Repo, in, now)
		return &Settled{Happened: happened}, err
	case in.New == "" || len(in.Checkouts) == 0:
		return &Settled{}, nil
	}
	return t.settle(ctx, in)
}

// passed reports whether a branch that is somewhere else by now went through
// the move before: it has the new commit in its past, and not the old one
// unless the new one brings it along.
func passed(ctx context.Context, repo *git.Repo, in Intent, now git.Hash) (bool, error) {
	if now == "" || in.New == "" {
		return false, nil
	}
	reached, err := repo.Contains(ctx, now, in.New)
	if err != nil || !reached || in.Old == "" {
		return reached, err
	}
	old, err := repo.Contains(ctx, now, in.Old)
	if err != nil || !old {
		return err == nil, err
	}
	return repo.Contains(ctx, in.New, in.Old)
}

// settle looks at the checkouts while the branch is where it was.
func (t *transit) settle(ctx context.Context, in Intent) (*Settled, error) {
	all, err := t.repo.Holders(ctx, t.ref)
	if err != nil {
		return nil, err
	}
	mine := map[string]bool{}
	for _, dir := range in.Checkouts {
		mine[dir] = true
	}
	after := 0
	standing := map[string]git.Standing{}
	for _, h := range all {
		dir := h.Repo.TopLevel
		if !mine[dir] {
			continue
		}
		t.holders = append(t.holders, h)
		if standing[dir], err = h.Repo.Standing(ctx, t.from, t.to); err != nil {
			return nil, err
		}
		if standing[dir] == git.After {
			after++
		}
	}
	if after > 0 && after == len(all) {
		if err := t.swap(ctx); err != nil {
			return nil, err
		}
		return &Settled{Happened: true, Moved: in.Checkouts}, nil
	}
	var out Settled
	for _, h := range t.holders {
		at := standing[h.Repo.TopLevel]
		left, err := t.home(ctx, h, at)
		if err != nil {
			return nil, err
		}
		if len(left) > 0 || h.Doing != "" && at != git.Before {
			out.Left = append(out.Left, Leftover{Dir: h.Repo.TopLevel, Paths: left, Doing: h.Doing})
		}
	}
	return &out, nil
}

// home takes one checkout back, as far as it left.
func (t *transit) home(ctx context.Context, h git.Holder, at git.Standing) ([]string, error) {
	switch at {
	case git.Before:
		return nil, nil
	case git.After:
		if h.Doing != "" {
			return nil, nil
		}
		err := h.Repo.MoveCheckout(ctx, t.to, t.from)
		var dirty *DirtyError
		if errors.As(err, &dirty) {
			return dirty.Paths, nil
		}
		return nil, err
	case git.Between:
		return h.Repo.PutBack(ctx, t.from, t.to)
	}
	panic(fmt.Sprintf("unhandled standing %d", at))
}
