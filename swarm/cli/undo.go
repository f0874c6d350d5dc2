package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"agentswarm/merge"
	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

func newUndoCommand(env Env) *cli.Command {
	return &cli.Command{
		Name:      "undo",
		Usage:     "undo the last merge or apply",
		ArgsUsage: "[RUN]",
		Flags:     []cli.Flag{jsonFlag()},
		Description: `Takes back the last merge or apply of this repository, or of the run named. A
merge is undone by moving the branch back to where it was, if it is still where
the merge left it; a branch that the merge made is deleted. An apply is undone if
the files are still as it left them. Of a run that was removed nothing is taken
back before its folder is back.

Examples:
  swarm undo
  swarm undo k3x9q2`,
		Action: func(c *cli.Context) error { return undoAction(c, env) },
	}
}

func undoAction(c *cli.Context, env Env) error {
	addresses, err := arguments(c, 0, 1)
	if err != nil {
		return err
	}
	p, err := openPlace(c, env)
	if err != nil {
		return err
	}
	run, err := p.lastLanded(c.Context, addresses)
	if err != nil {
		return err
	}
	owner, err := p.own(c.Context, run)
	if err != nil {
		return err
	}
	var o *movedObject
	b, err := p.bench(c.Context, run, owner)
	if err == nil {
		o, err = b.undo(c.Context, 0)
	}
	if err = errors.Join(err, owner.Close()); err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(env.Stdout, o)
	}
	where := ""
	switch {
	case o.Ref != "" && o.Commit == "":
		where = fmt.Sprintf("; %s was deleted, as the merge had created it", branchName(o.Ref))
	case o.Ref != "":
		where = fmt.Sprintf("; %s is back at %s", branchName(o.Ref), git10(o.Commit))
	}
	_, err = fmt.Fprintf(env.Stdout, "undone: %s %d of run %s, %s%s\n",
		o.Verb, o.ID, run.ID, Count(len(o.Agents), "patch", "patches"), Printable(where))
	return err
}

// lastLanded is the run whose landing is to be undone: the one named, or the
// one that landed last.
func (p *place) lastLanded(ctx context.Context, addresses []string) (*store.Run, error) {
	if len(addresses) > 0 {
		s, err := p.selectRun(ctx, addresses)
		if err != nil {
			return nil, err
		}
		if len(s.named) > 0 {
			return nil, usagef("undo: takes a run, and %q is an agent", addresses[0])
		}
		return s.run, nil
	}
	entries, err := p.state.Runs()
	if err != nil {
		return nil, err
	}
	var last *store.Landing
	var run *store.Run
	for _, e := range entries {
		if e.Damage != nil {
			continue
		}
		v, err := e.Run.View()
		if err != nil {
			continue // one that cannot be read has nothing to be undone
		}
		if l := latest(v, last); l != last {
			last, run = l, e.Run
		}
	}
	if err := p.removedSince(last); err != nil {
		return nil, err
	}
	if run == nil {
		return nil, &noWorkError{text: "nothing to undo: no merge and no apply stands"}
	}
	return run, nil
}

// latest is the last landing of a run that could be taken back, or the one
// given where that is later.
func latest(v *store.View, than *store.Landing) *store.Landing {
	for _, l := range v.Landings {
		if l.Verb != verbUndo && (l.Stands() || l.Outcome == nil) && (than == nil || l.Time.After(than.Time)) {
			than = l
		}
	}
	return than
}

// removedSince refuses where a run that was removed landed after the landing
// given: that one is not what the user has in mind.
func (p *place) removedSince(last *store.Landing) error {
	trashed, err := p.state.Trashed()
	if err != nil {
		return err
	}
	var run *store.Trashed
	for i, t := range trashed {
		v, err := t.View()
		if err != nil {
			continue // one that cannot be read has nothing to be undone
		}
		if l := latest(v, last); l != last {
			last, run = l, &trashed[i]
		}
	}
	if run == nil {
		return nil
	}
	refusal := &UsageError{
		Text: fmt.Sprintf("undo: run %s, which landed last, was removed; its record is %s", run.Run, run.Path),
		Advice: fmt.Sprintf("to take %s %d back, bring the run back with `%s rm --undo %s` and undo again",
			last.Verb, last.ID, p.env.Calls, run.Run),
	}
	switch {
	case last.Ref != "" && last.Old != "":
		refusal.Advice += fmt.Sprintf("; before it, %s was at %s", branchName(last.Ref), git10(last.Old))
	case last.Ref != "":
		refusal.Advice += fmt.Sprintf("; before it, there was no %s", branchName(last.Ref))
	}
	return refusal
}

// undo takes the last landing of the run back. of is the id that it must have; 0:
// any. Another last landing is an error, and nothing moves.
func (b *bench) undo(ctx context.Context, of int) (*movedObject, error) {
	v := b.owner.View()
	if err := b.settleLandings(ctx, v); err != nil {
		return nil, err
	}
	last := v.LastLanding()
	switch {
	case last == nil:
		return nil, &noWorkError{text: fmt.Sprintf("nothing to undo: no merge and no apply of run %s stands", b.run.ID)}
	case of != 0 && last.ID != of:
		return nil, fmt.Errorf("undo landing %d of run %s: landing %d is the last that stands", of, b.run.ID, last.ID)
	}
	var err error
	if last.Verb == verbApply {
		err = b.unapply(ctx, v, last)
	} else {
		err = b.unmerge(ctx, len(v.Landings)+1, last)
	}
	if err != nil {
		return nil, err
	}
	return &movedObject{
		Schema: "swarm.undo/1", Run: b.run.ID, ID: last.ID, Verb: last.Verb, Ref: last.Ref,
		Commit: last.Old, Agents: last.Agents,
	}, nil
}

// unmerge moves the branch back.
func (b *bench) unmerge(ctx context.Context, id int, l *store.Landing) error {
	intended := false
	_, err := merge.Undo(ctx, merge.UndoRequest{
		Repo: b.repo, Ref: l.Ref, Old: git.Hash(l.Old), New: git.Hash(l.New),
		Record: b.record(id), Message: "swarm undo " + b.run.ID,
		Journal: func(in merge.Intent) error {
			intended = true
			_, err := b.owner.Append(&event.Intended{
				ID: id, Verb: verbUndo, Of: l.ID, Ref: in.Ref, Old: string(in.Old), New: string(in.New),
				Dirs: in.Checkouts, Agents: []task.ID{},
			})
			return err
		},
	})
	if !intended {
		return refusedMove(err)
	}
	return b.journalUndone(id, l, err)
}

// journalUndone journals the end of an undo.
func (b *bench) journalUndone(id int, l *store.Landing, err error) error {
	if err == nil {
		// First, so that no kill in between leaves an undo that is of nothing.
		if _, err := b.owner.Append(&event.Undone{ID: l.ID}); err != nil {
			return err
		}
	}
	return b.journalEnd(&event.Landed{ID: id}, err)
}

// unapply takes the patch out of the files.
func (b *bench) unapply(ctx context.Context, v *store.View, l *store.Landing) error {
	if len(l.Agents) != 1 || len(l.Dirs) != 1 {
		return fmt.Errorf("apply %d of run %s names no patch", l.ID, b.run.ID)
	}
	if l.Attempt > 0 {
		v.Rewind(l.Agents[0], l.Attempt)
	}
	if err := b.showCopies(ctx, v, l.Copies); err != nil {
		return err
	}
	a := v.Agent(l.Agents[0])
	if a == nil || patchOf(a) == nil {
		return fmt.Errorf("the patch of apply %d of run %s is gone", l.ID, b.run.ID)
	}
	applied := merge.Applied{Dir: l.Dirs[0]}
	for key, sum := range l.Outcome.Files {
		path, err := pathOf(key)
		if err != nil {
			return fmt.Errorf("read apply %d of run %s: %w", l.ID, b.run.ID, err)
		}
		applied.Files = append(applied.Files, merge.AppliedFile{Path: path, Sum: sum})
	}
	slices.SortFunc(applied.Files, func(x, y merge.AppliedFile) int {
		if x.Path < y.Path {
			return -1
		}
		return 1
	})
	text, err := b.patchText(ctx, b.run, a)
	if err != nil {
		return err
	}
	defer text.Close()
	id, intended := len(v.Landings)+1, false
	err = merge.Unapply(ctx, merge.UnapplyRequest{
		Repo: b.repo, File: patchOf(a).File, Text: text, Applied: applied, Record: b.record(id),
		Journal: func() error {
			intended = true
			_, err := b.owner.Append(&event.Intended{
				ID: id, Verb: verbUndo, Of: l.ID, Dirs: l.Dirs, Agents: []task.ID{},
			})
			return err
		},
	})
	if !intended {
		return refusedApply(err)
	}
	return b.journalUndone(id, l, err)
}
