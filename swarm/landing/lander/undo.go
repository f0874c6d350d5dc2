package lander

import (
	"agentswarm/swarm/task"
	"context"
	"fmt"
	"slices"

	"agentswarm/merge"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// Undo takes the last landing of the run back and returns it. of is the id that it must
// have; 0: any. Another last landing is an error, and nothing moves. The error is a
// [*NoLandingError] if no landing stands.
func (ld *Lander) Undo(ctx context.Context, of int) (*store.Landing, error) {
	v := ld.Owner.View()
	if err := ld.Settle(ctx, v); err != nil {
		return nil, err
	}
	last := v.LastLanding()
	switch {
	case last == nil:
		return nil, &NoLandingError{Run: ld.Run.ID}
	case of != 0 && last.ID != of:
		return nil, fmt.Errorf("undo landing %d of run %s: the last landing that was not undone is %d", of, ld.Run.ID, last.ID)
	}
	var err error
	if last.Verb == landing.VerbApply {
		err = ld.unapply(ctx, v, last)
	} else {
		err = ld.unmerge(ctx, len(v.Landings)+1, last)
	}
	if err != nil {
		return nil, err
	}
	return last, nil
}

// unmerge moves the branch back.
func (ld *Lander) unmerge(ctx context.Context, id int, l *store.Landing) error {
	intended := false
	_, err := merge.Undo(ctx, merge.UndoRequest{
		Repo: ld.Repo, Ref: l.Ref, Old: git.Hash(l.Old), New: git.Hash(l.New),
		Record: ld.record(id), Message: "swarm undo " + ld.Run.ID,
		Journal: func(in merge.Intent) error {
			intended = true
			_, err := ld.Owner.Append(&event.Intended{
				ID: id, Verb: landing.VerbUndo, Of: l.ID, Ref: in.Ref, Old: string(in.Old), New: string(in.New),
				Dirs: in.Checkouts, Agents: []task.ID{},
			})
			return err
		},
	})
	if !intended {
		return blocked(err)
	}
	return ld.journalUndone(id, l, err)
}

// journalUndone journals the end of an undo.
func (ld *Lander) journalUndone(id int, l *store.Landing, err error) error {
	if err == nil {
		// First, so that no kill in between leaves an undo that is of nothing.
		if _, err := ld.Owner.Append(&event.Undone{ID: l.ID}); err != nil {
			return err
		}
	}
	return ld.journalEnd(&event.Landed{ID: id}, err)
}

// unapply takes the patch out of the files.
func (ld *Lander) unapply(ctx context.Context, v *store.View, l *store.Landing) error {
	if len(l.Agents) != 1 || len(l.Dirs) != 1 {
		return fmt.Errorf("apply %d of run %s names no patch", l.ID, ld.Run.ID)
	}
	if l.Attempt > 0 {
		v.Rewind(l.Agents[0], l.Attempt)
	}
	if err := ld.Patches.ShowCopies(ctx, ld.Run, v, l.Copies); err != nil {
		return err
	}
	a := v.Agent(l.Agents[0])
	if a == nil || a.Patch() == nil {
		return fmt.Errorf("the patch of apply %d of run %s is gone", l.ID, ld.Run.ID)
	}
	applied := merge.Applied{Dir: l.Dirs[0]}
	for key, sum := range l.Outcome.Files {
		path, err := pathOf(key)
		if err != nil {
			return fmt.Errorf("read apply %d of run %s: %w", l.ID, ld.Run.ID, err)
		}
		applied.Files = append(applied.Files, merge.AppliedFile{Path: path, Sum: sum})
	}
	slices.SortFunc(applied.Files, func(x, y merge.AppliedFile) int {
		if x.Path < y.Path {
			return -1
		}
		return 1
	})
	text, err := ld.Patches.Text(ctx, ld.Run, a)
	if err != nil {
		return err
	}
	defer text.Close()
	id, intended := len(v.Landings)+1, false
	err = merge.Unapply(ctx, merge.UnapplyRequest{
		Repo: ld.Repo, File: a.Patch().File, Text: text, Applied: applied, Record: ld.record(id),
		Journal: func() error {
			intended = true
			_, err := ld.Owner.Append(&event.Intended{
				ID: id, Verb: landing.VerbUndo, Of: l.ID, Dirs: l.Dirs, Agents: []task.ID{},
			})
			return err
		},
	})
	if !intended {
		return blockedApply(err)
	}
	return ld.journalUndone(id, l, err)
}

// Latest is the last landing of a run that could be taken back, or than if that is
// later. than may be nil.
func Latest(v *store.View, than *store.Landing) *store.Landing {
	for _, l := range v.Landings {
		if l.Verb != landing.VerbUndo && (l.Stands() || l.Outcome == nil) && (than == nil || l.Time.After(than.Time)) {
			than = l
		}
	}
	return than
}
