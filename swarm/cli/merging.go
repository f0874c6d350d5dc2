package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentswarm/merge"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// The verbs of what moves something of the user's, as they are journaled.
const (
	verbMerge = landing.VerbMerge
	verbApply = "apply"
	verbUndo  = "undo"
)

// mergeRequest says what is to be merged, and onto what.
type mergeRequest struct {
	// works are the agents that were named, each with the work to take; empty: all
	// that can be merged.
	works  []*store.Agent
	into   string       // a branch; empty: the branch checked out here
	verify string       // run on the merged result first
	queue  queueOptions // with verify
	dry    bool         // tell, and move nothing
	style  commitStyle
	// queued is the outcome of the rounds before, whose refusals stand.
	queued *queuedReport
	// unfiltered are patches on whose files a filter failed in the rounds before.
	unfiltered []unfiltered
	// resolved names the conflict that a person has resolved in the patch, such as
	// "text with a7"; empty: none.
	resolved string
}

// named are the agents of a request. The view shows each of them with the work
// that is to be taken.
func (r *mergeRequest) named(v *store.View) ([]task.ID, error) {
	var ids []task.ID
	for _, w := range r.works {
		a := v.Agent(w.ID)
		switch {
		case slices.Contains(ids, w.ID) && a.Copy == w.Copy && a.Attempt == w.Attempt:
			continue
		case slices.Contains(ids, w.ID):
			return nil, usagef("two patches of %s are named, and each is all of its work: name one", w.ID)
		case a == nil:
			return nil, usagef("run %s has no agent %s", v.Identity.Run, w.ID)
		case w.Copy > 0:
			then := a.AtCopy(w.Copy, patchOf(w))
			then.Partial = w.Partial
			v.Replace(then)
		default:
			v.Rewind(w.ID, w.Attempt)
		}
		ids = append(ids, w.ID)
	}
	return ids, nil
}

// mergeReport is what a merge did.
type mergeReport struct {
	run      string
	view     *store.View
	ref      string
	old, new git.Hash
	created  bool
	outcome  *merge.Outcome
	moved    []string
	verified *bool
	output   string        // of the check
	queued   *queuedReport // nil: the merge had no landing queue
	skipped  []*store.Agent
	lost     []*store.Agent // whose commits are gone from the repository
	unlinked []landing.Unlinked
	filters  []unfiltered // patches on whose files a filter failed
	blocked  error        // of a dry run: a merge would be refused with it now
	codes    []Code
	dry      bool
	left     []string // patches that this merge landed, and that are no longer on the branch
	undoes   []string // patches that an undo takes back, if the merge moved the branch several times
	stopped  error    // ended the merge after it had moved the branch
	calls    string   // how the program was called, for commands that follow
}

// target is the full ref that a merge lands on.
func (p *place) targetRef(ctx context.Context, into string) (string, error) {
	if into == "" {
		branch, err := p.repo.Branch(ctx)
		switch {
		case err != nil:
			return "", err
		case p.repo.Bare():
			return "", usagef("a bare repository has no branch checked out: name one with --into BRANCH")
		case branch == "":
			return "", usagef("HEAD is detached here: name a branch with --into BRANCH")
		}
		return branch, nil
	}
	ref := into
	if !strings.HasPrefix(into, "refs/") {
		ref = "refs/heads/" + into
	}
	if !strings.HasPrefix(ref, "refs/heads/") {
		return "", usagef("--into %s: want the name of a branch", into)
	}
	if name := branchName(ref); strings.HasPrefix(name, "-") || name == "HEAD" || name == "@" {
		return "", usagef("--into %q is not a name a branch can have", name)
	}
	if err := p.repo.CheckRef(ctx, ref); err != nil {
		return "", usagef("--into %v", err)
	}
	if there, err := p.repo.Ref(ctx, ref); err != nil || there != "" {
		return ref, err
	}
	err := p.repo.CheckFree(ctx, ref)
	var clash *git.RefClashError
	if errors.As(err, &clash) {
		return "", usagef("--into %s: %v", branchName(ref), clash)
	}
	return ref, err
}

// target refuses a --merge that could not land, before anything starts.
func (p *place) target(ctx context.Context, pl *plan) error {
	switch {
	case pl.into != "" && !pl.merge:
		return usagef("run: --into says where --merge lands; give --merge too")
	case !pl.merge:
		return nil
	case pl.workflow.Count > 1:
		return usagef("run: --merge and --count exclude each other: of alternatives you choose one")
	}
	_, err := p.targetRef(ctx, pl.into)
	return err
}

// mergeOnce merges onto the tip that the branch has now.
func (b *bench) mergeOnce(ctx context.Context, r mergeRequest) (*mergeReport, error) {
	v := b.owner.View()
	err := b.settleLandings(ctx, v)
	if err == nil && !r.dry {
		err = b.clearVerifications(ctx, b.run, b.deps.Workspaces)
	}
	if err != nil {
		return nil, err
	}
	named, err := r.named(v)
	if err != nil {
		return nil, err
	}
	report := &mergeReport{run: b.run.ID, view: v, dry: r.dry, calls: b.env.Calls}
	if report.ref, err = b.targetRef(ctx, r.into); err != nil {
		return nil, err
	}
	chosen, err := b.chosenOf(ctx, &r, named, report)
	if err != nil {
		return nil, err
	}
	if chosen, err = b.linked(ctx, r.filtered(r.queued.notRefused(chosen), report), report); err != nil {
		return nil, err
	}
	l, err := b.openLanding(ctx, report)
	if err != nil {
		return nil, err
	}
	l.command, l.style = r.verify, r.style.recorded()
	if r.verify != "" && !r.queue.on {
		l.check = func(ctx context.Context) (bool, error) { return b.verifyMerged(ctx, &l, r.verify, report) }
	}
	style, err := b.styleOf(ctx, r.style)
	if err == nil {
		err = checkStyle(style, chosen)
	}
	if err == nil {
		work := mergeWork{
			quarantine: l.quarantine, chosen: chosen, style: style, resolved: r.resolved,
			request: merge.Request{Onto: l.onto, Committer: b.committer(ctx), Squash: style.Squashed(b.run.ID, len(chosen))},
		}
		if r.queue.on {
			err = b.mergeQueued(ctx, &l, work, r, report)
		} else {
			err = b.mergeChosen(ctx, work, report)
			l.attest = func(ctx context.Context) error { return b.attest(ctx, work, r.verify, report) }
		}
	}
	if err == nil {
		err = b.blame(ctx, v, report)
	}
	if err == nil && !report.queued.isOver() {
		err = b.land(ctx, l, report)
	}
	if err == nil {
		err = b.completeJoins(ctx, report)
	}
	return report, errors.Join(err, l.quarantine.Discard())
}

// openLanding makes ready for a landing on the branch of the report.
func (b *bench) openLanding(ctx context.Context, report *mergeReport) (l branchMove, err error) {
	l = branchMove{id: len(report.view.Landings) + 1, base: report.view.Identity.Base}
	if report.old, err = b.repo.Ref(ctx, report.ref); err != nil {
		return l, err
	}
	if l.onto = report.old; l.onto == "" {
		report.created = true
		l.onto = landingBase(l.base)
	}
	l.tip = l.onto
	objects := filepath.Join(b.run.Dir, "landings", fmt.Sprint(l.id), "objects")
	if err := os.RemoveAll(filepath.Dir(objects)); err != nil {
		return l, err
	}
	l.quarantine, err = b.frozen.Quarantine(objects)
	return l, err
}

// landingBase is what a new branch starts from: the base of the run, but not
// the user's uncommitted changes in it.
func landingBase(b store.Base) git.Hash {
	if b.SnapshotOf != "" {
		return git.Hash(b.SnapshotOf)
	}
	return git.Hash(b.Commit)
}

func branchName(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }

// committer is the user, or swarm where the user has not said who they are.
func (b *bench) committer(ctx context.Context) git.Person {
	if user, ok := b.repo.User(ctx); ok {
		user.When = time.Now()
		return user
	}
	return git.Swarm(time.Now())
}

// branchMove is a merged commit on its way to a branch.
type branchMove struct {
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

// land checks the merged result and moves the branch to it.
func (b *bench) land(ctx context.Context, l branchMove, report *mergeReport) error {
	out := report.outcome
	report.new = out.Commit
	if len(out.Conflicts) > 0 {
		report.codes = append(report.codes, CodeConflict)
	}
	switch {
	case report.dry && len(out.Landed) > 0:
		return b.checkMove(ctx, &l, report)
	case report.dry:
		return nil
	case len(out.Landed) == 0 && len(out.Conflicts)+len(report.there()) == 0:
		return nil
	case len(out.Landed) == 0:
		_, err := b.owner.Append(&event.Conflicted{
			Ref: report.ref, Tip: string(l.onto), Conflicts: conflicts(out.Conflicts), There: report.there(),
		})
		return err
	}
	have := []git.Hash{l.onto, git.Hash(l.base.Commit)}
	if l.check != nil {
		if ok, err := b.checkLanding(ctx, l, report, have); err != nil || !ok {
			return err
		}
	}
	out = report.outcome
	hold := captureref.Landing(b.run.ID, l.id, out.Commit)
	intent := &event.Intended{
		ID: l.id, Verb: verbMerge, Ref: report.ref, Old: string(report.old), New: string(out.Commit),
		Hold: hold, Key: l.key, Continues: l.continues, More: l.more, Command: l.command, Style: l.style,
		Conflicts: conflicts(out.Conflicts), Refused: report.queued.refusals(), There: report.there(), Verified: report.verified,
	}
	report.nameWorks(intent, b.owner.View())
	journaled := false
	moved, err := merge.Land(ctx, merge.LandRequest{
		Quarantine: l.quarantine, Ref: report.ref, Old: report.old, New: out.Commit,
		Keep: hold, Have: have, Record: b.record(l.id),
		Message: "swarm merge " + b.run.ID,
		Modules: b.modulesOf(&l),
		Journal: func(in merge.Intent) error {
			intent.Dirs = in.Checkouts
			journaled = true
			_, err := b.owner.Append(intent)
			return err
		},
	})
	if err == nil {
		report.moved = moved.Moved
	}
	if !journaled {
		return refusedMove(err)
	}
	return b.journalEnd(&event.Landed{ID: intent.ID}, err)
}

// nameWorks names the agents that land, and which of them do so with the patch of a copy
// or of an attempt before the latest, which now shows.
func (r *mergeReport) nameWorks(intent *event.Intended, now *store.View) {
	for _, landed := range r.outcome.Landed {
		a := r.view.Agent(task.ID(landed.ID))
		intent.Agents = append(intent.Agents, a.ID)
		switch latest := now.Agent(a.ID); {
		case a.Copy > 0:
			intent.Copies = append(intent.Copies, copyName(a.ID, a.Copy))
			if a.Partial {
				intent.Parts = append(intent.Parts, copyName(a.ID, a.Copy))
			}
		case latest.Attempt != a.Attempt:
			intent.Earlier = append(intent.Earlier, store.AttemptName(a.ID, a.Attempt))
		}
	}
}

// there are the agents whose own patches the branch has already. A copy is no
// patch of its agent's.
func (r *mergeReport) there() []task.ID {
	var ids []task.ID
	for _, id := range r.outcome.Empty {
		if a := r.view.Agent(task.ID(id)); a != nil && a.Copy == 0 {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

// conflicts are a merge's conflicts as the journal has them.
func conflicts(all []merge.Conflict) []event.Conflict {
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
