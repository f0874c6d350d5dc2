package lander

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"agentswarm/merge"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/patch"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// move is a merged commit on its way to a branch.
type move struct {
	id         int
	quarantine *git.Quarantine
	onto       git.Hash
	tip        git.Hash   // of the branch when the merge began, as checks see it
	base       store.Base // of the run
	command    string     // text of the check; may be empty
	style      *event.CommitStyle
	continues  int    // as in event.Intended
	more       bool   // likewise
	key        string // of the script's request; empty: no script asked
	// check is made on the merged commit before anything moves; nil: none.
	check func(context.Context) (bool, error)
	// attest merges again after check passed, with commits that name the check. Nil:
	// the checked commits land.
	attest func(context.Context) error
}

// openLanding makes ready for a landing on the branch of the report.
func (ld *Lander) openLanding(ctx context.Context, report *Report) (l move, err error) {
	l = move{id: len(report.View.Landings) + 1, base: report.View.Identity.Base}
	if report.Old, err = ld.Repo.Ref(ctx, report.Ref); err != nil {
		return l, err
	}
	if l.onto = report.Old; l.onto == "" {
		l.onto = BaseOf(l.base)
	}
	l.tip = l.onto
	objects := filepath.Join(ld.Run.Dir, "landings", fmt.Sprint(l.id), "objects")
	if err := os.RemoveAll(filepath.Dir(objects)); err != nil {
		return l, err
	}
	l.quarantine, err = ld.Frozen.Quarantine(objects)
	return l, err
}

// land checks the merged result and moves the branch to it.
func (ld *Lander) land(ctx context.Context, l move, report *Report) error {
	out := report.Outcome
	report.New = out.Commit
	report.LeftOut = report.LeftOut || len(out.Conflicts)+len(out.Undoing) > 0
	switch {
	case report.DryRun && len(out.Landed) > 0:
		return ld.checkMove(ctx, &l, report)
	case report.DryRun:
		return nil
	case len(out.Landed) == 0:
		return ld.journalNone(l, report)
	}
	have := []git.Hash{l.onto, git.Hash(l.base.Commit)}
	if l.check != nil {
		if ok, err := ld.checkLanding(ctx, l, report, have); err != nil || !ok {
			return err
		}
	}
	out = report.Outcome
	hold := captureref.Landing(ld.Run.ID, l.id, out.Commit)
	intent := &event.Intended{
		ID: l.id, Verb: landing.VerbMerge, Ref: report.Ref, Old: string(report.Old), New: string(out.Commit),
		Hold: hold, Key: l.key, Continues: l.continues, More: l.more, Command: l.command, Style: l.style,
		Conflicts: Conflicts(out.Conflicts), Refused: report.Refusals(), There: report.there(), Verified: report.Verified,
	}
	report.nameWorks(intent, ld.Owner.View())
	journaled := false
	moved, err := merge.Land(ctx, merge.LandRequest{
		Quarantine: l.quarantine, Ref: report.Ref, Old: report.Old, New: out.Commit,
		Keep: hold, Have: have, Record: ld.record(l.id),
		Message: "swarm merge " + ld.Run.ID,
		Modules: ld.modulesOf(&l),
		Journal: func(in merge.Intent) error {
			intent.Dirs = in.Checkouts
			journaled = true
			_, err := ld.Owner.Append(intent)
			return err
		},
	})
	if err == nil {
		report.Checkouts = moved.Moved
	}
	if !journaled {
		return blocked(err)
	}
	return ld.journalEnd(&event.Landed{ID: intent.ID}, err)
}

// journalNone journals the conflicts of a merge that lands no patch.
func (ld *Lander) journalNone(l move, report *Report) error {
	out, there := report.Outcome, report.there()
	if len(out.Conflicts)+len(there) > 0 {
		if _, err := ld.Owner.Append(&event.Conflicted{
			Ref: report.Ref, Tip: string(l.onto), Conflicts: Conflicts(out.Conflicts), There: there,
		}); err != nil {
			return err
		}
	}
	refused := report.unchecked() // the queue journals its own
	if len(refused) == 0 {
		return nil
	}
	_, err := ld.Owner.Append(&event.Refused{Ref: report.Ref, Tip: string(l.onto), Refused: refused})
	return err
}

// nameWorks names the agents that land, and which of them do so with the patch of a copy
// or of an attempt before the latest, which now shows.
func (r *Report) nameWorks(intent *event.Intended, now *store.View) {
	for _, landed := range r.Outcome.Landed {
		a := r.View.Agent(task.ID(landed.ID))
		intent.Agents = append(intent.Agents, a.ID)
		switch latest := now.Agent(a.ID); {
		case a.Copy > 0:
			intent.Copies = append(intent.Copies, patch.CopyName(a.ID, a.Copy))
			if a.Partial {
				intent.Parts = append(intent.Parts, patch.CopyName(a.ID, a.Copy))
			}
		case latest.Attempt != a.Attempt:
			intent.Earlier = append(intent.Earlier, store.AttemptName(a.ID, a.Attempt))
		}
	}
}

// Conflicts are a merge's conflicts as the journal has them.
func Conflicts(all []merge.Conflict) []event.Conflict {
	out := make([]event.Conflict, 0, len(all))
	for _, c := range all {
		e := event.Conflict{Agent: task.ID(c.ID), Paths: c.Paths, Text: c.Text}
		for _, id := range c.With {
			e.With = append(e.With, task.ID(id))
		}
		for _, h := range c.Hunks {
			e.Hunks = append(e.Hunks, event.Hunk{
				Path: h.Path, OursStart: h.OursStart, OursLines: h.OursLines,
				TheirsStart: h.TheirsStart, TheirsLines: h.TheirsLines,
			})
		}
		out = append(out, e)
	}
	return out
}

// checkMove refuses a merge whose result could not land, before its check runs. A
// dry run reports the refusal.
func (ld *Lander) checkMove(ctx context.Context, l *move, report *Report) error {
	scratch, err := os.MkdirTemp(filepath.Join(ld.Run.Dir, "landings", fmt.Sprint(l.id)), "check-")
	if err != nil {
		return err
	}
	err = blocked(merge.Check(ctx, merge.CheckRequest{
		Quarantine: l.quarantine, Ref: report.Ref, Old: report.Old, New: report.Outcome.Commit, Scratch: scratch,
		Modules: ld.modulesOf(l), Filters: report.DryRun,
	}))
	if gone := os.RemoveAll(scratch); gone != nil {
		return errors.Join(err, gone)
	}
	if _, refused := errors.AsType[*BlockedError](err); refused && report.DryRun {
		report.Blocked = err
		return nil
	}
	return err
}

// modulesOf says how a landing moves submodules.
func (ld *Lander) modulesOf(l *move) merge.Modules {
	return merge.Modules{Onto: l.onto, Stores: ld.Run.Modules(), Refs: captureref.Landings(ld.Run.ID)}
}

// linked leaves out the patches that record commits of submodules which the user
// cannot get, and names them in the report.
func (ld *Lander) linked(ctx context.Context, chosen []*store.Agent, report *Report) ([]*store.Agent, error) {
	may, not, err := landing.Linked(ctx, landing.ModulesRequest{
		Repo: ld.Repo, Stores: ld.Run.Modules(), Agents: chosen,
	})
	if err == nil && len(not) > 0 {
		report.Unlinked = not
		report.LeftOut = true
	}
	return may, err
}

// committer is the user, or swarm if git knows no name of the user.
func (ld *Lander) committer(ctx context.Context) git.Person {
	if user, ok := ld.Repo.User(ctx); ok {
		user.When = time.Now()
		return user
	}
	return git.Swarm(time.Now())
}

// blame finds, for conflicts with the branch itself and for lines of it that are taken
// back, the patches of this run that an earlier merge landed there and that touch the same
// files.
func (ld *Lander) blame(ctx context.Context, v *store.View, report *Report) error {
	touched := map[string][]string{} // path to agents
	for _, l := range v.Landings {
		if l.Verb != landing.VerbMerge || l.Ref != report.Ref || !l.Stands() || len(report.Outcome.Conflicts)+len(report.Outcome.Undoing) == 0 {
			continue
		}
		if there, err := ld.Repo.Contains(ctx, report.Old, git.Hash(l.New)); err != nil || !there {
			continue // the branch was moved away from it since
		}
		for _, id := range l.Agents {
			p := v.Agent(id).Patch()
			if p == nil {
				continue // it is at work again
			}
			changes, err := ld.Repo.Changes(ctx, git.Hash(p.Base), git.Hash(p.Commit))
			if err != nil {
				return err
			}
			for _, ch := range changes {
				touched[ch.Path] = append(touched[ch.Path], string(id))
			}
		}
	}
	for i := range report.Outcome.Conflicts {
		c := &report.Outcome.Conflicts[i]
		c.With = blamed(c.ID, c.With, c.Paths, touched)
	}
	for i := range report.Outcome.Undoing {
		u := &report.Outcome.Undoing[i]
		u.With = blamed(u.ID, u.With, u.Paths, touched)
	}
	return nil
}

// blamed are the patches that touch the files, unless some are known already.
func blamed(own string, known, paths []string, touched map[string][]string) []string {
	if len(known) > 0 {
		return known
	}
	for _, path := range paths {
		for _, id := range touched[path] {
			if id != own && !slices.Contains(known, id) {
				known = append(known, id)
			}
		}
	}
	return known
}
