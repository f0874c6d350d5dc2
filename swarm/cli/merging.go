package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"agentswarm/merge"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
	checkouts "agentswarm/worktree/git/checkout"
)

// The verbs of what moves something of the user's, as they are journaled.
const (
	verbMerge = "merge"
	verbApply = "apply"
	verbUndo  = "undo"
)

// mergeRequest says what is to be merged, and onto what.
type mergeRequest struct {
	named  []task.ID // empty: all that can be
	into   string    // a branch; empty: the one checked out here
	verify string    // run on the merged result first
	dry    bool      // tell, and move nothing
	// attempts are those of the named agents whose work is taken; 0: the latest.
	attempts []int
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
	output   string // of the check
	skipped  []*store.Agent
	lost     []*store.Agent // whose commits are gone from the repository
	codes    []Code
	dry      bool
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

// merge merges patches of a run this process owns onto a branch.
func (b *bench) merge(ctx context.Context, r mergeRequest) (*mergeReport, error) {
	v := b.owner.View()
	err := b.settleLandings(ctx, v)
	if err != nil {
		return nil, err
	}
	for i, attempt := range r.attempts {
		v.Rewind(r.named[i], attempt)
	}
	report := &mergeReport{run: b.run.ID, view: v, dry: r.dry}
	if report.ref, err = b.targetRef(ctx, r.into); err != nil {
		return nil, err
	}
	chosen, skipped, err := choose(v, r.named, report.ref)
	if err != nil {
		return nil, err
	}
	report.skipped = skipped
	l, err := b.openLanding(ctx, report)
	if err != nil {
		return nil, err
	}
	if r.verify != "" {
		l.check = func(ctx context.Context) (bool, error) { return b.verifyMerged(ctx, l.id, r.verify, report) }
	}
	err = b.mergeChosen(ctx, mergeWork{
		quarantine: l.quarantine, chosen: chosen, request: merge.Request{Onto: l.onto, Committer: b.committer(ctx)},
	}, report)
	if err == nil {
		err = b.blame(ctx, v, report)
	}
	if err == nil {
		err = b.land(ctx, l, report)
	}
	return report, errors.Join(err, l.quarantine.Discard())
}

// openLanding makes ready for a landing on the branch of the report.
func (b *bench) openLanding(ctx context.Context, report *mergeReport) (l landing, err error) {
	l = landing{id: len(report.view.Landings) + 1, base: report.view.Identity.Base}
	if report.old, err = b.repo.Ref(ctx, report.ref); err != nil {
		return l, err
	}
	if l.onto = report.old; l.onto == "" {
		report.created = true
		l.onto = landingBase(l.base)
	}
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

// patches are the chosen agents' patches as merge wants them.
func (b *bench) patches(chosen []*store.Agent) []merge.Patch {
	patches := make([]merge.Patch, 0, len(chosen))
	for _, a := range chosen {
		patches = append(patches, b.patchAs(a, patchOf(a)))
	}
	return patches
}

// patchAs is a patch of an agent as merge wants it.
func (b *bench) patchAs(a *store.Agent, p *task.Patch) merge.Patch {
	return merge.Patch{
		ID: string(a.ID), Label: engine.Title(a.ID, a.Call),
		Base: git.Hash(p.Base), Commit: git.Hash(p.Commit),
		Subject: subject(a, p),
		Author:  b.author(a),
		Trailers: []string{
			"Swarm-Run: " + b.run.ID, "Swarm-Agent: " + string(a.ID),
		},
	}
}

// subject is what a patch's commit is called: as a model said, where one was
// asked. The label of an alternative says only which one it is.
func subject(a *store.Agent, p *task.Patch) string {
	if named, _ := a.Subject(p.Commit); named != "" {
		return named
	}
	call := *a.Call
	if call.Group != "" {
		call.Label = ""
	}
	return engine.Title(a.ID, &call)
}

// author is who a patch is by: the agent and its kind, not the user.
func (b *bench) author(a *store.Agent) git.Person {
	kind, name := agent.KindCommand, a.Call.Agent
	if spec := b.agents[name]; spec != nil {
		kind = spec.Kind
	}
	switch name {
	case "", kind:
		name = kind
	default:
		name += " (" + kind + ")"
	}
	return git.Person{Name: name, Email: kind + "@swarm.localhost", When: a.Ended}
}

// committer is the user, or swarm where the user has not said who they are.
func (b *bench) committer(ctx context.Context) git.Person {
	if user, ok := b.repo.User(ctx); ok {
		user.When = time.Now()
		return user
	}
	return git.Swarm(time.Now())
}

// landing is a merged commit on its way to a branch.
type landing struct {
	id         int
	quarantine *git.Quarantine
	onto       git.Hash
	base       store.Base // of the run
	key        string     // of the script's request; empty: no script asked
	// check is made on the merged commit before anything moves; nil: none.
	check func(context.Context) (bool, error)
}

// land checks the merged result and moves the branch to it.
func (b *bench) land(ctx context.Context, l landing, report *mergeReport) error {
	out := report.outcome
	report.new = out.Commit
	if len(out.Conflicts) > 0 {
		report.codes = append(report.codes, CodeConflict)
	}
	if len(out.Landed) == 0 || report.dry {
		return nil
	}
	// The name has the commit in it: a landing that is given up leaves its
	// number to the next one, but not its ref.
	hold := fmt.Sprintf("refs/swarm/%s/landed/%d-%s", b.run.ID, l.id, out.Commit.Short())
	have := []git.Hash{l.onto, git.Hash(l.base.Commit)}
	if l.check != nil {
		// The check needs the commit in the repository; our ref holds it.
		if err := l.quarantine.Publish(ctx, git.PublishRequest{
			Refs: []git.RefUpdate{{Ref: hold, New: out.Commit, Any: true}}, Have: have,
			Message: "swarm merge " + b.run.ID,
		}); err != nil {
			return err
		}
		ok, err := l.check(ctx)
		if err != nil {
			return err
		}
		if report.verified = &ok; !ok {
			report.codes = append(report.codes, CodeVerify)
			return nil
		}
	}
	intent := &event.Intended{
		ID: l.id, Verb: verbMerge, Ref: report.ref, Old: string(report.old), New: string(out.Commit),
		Hold: hold, Key: l.key, Conflicts: conflicts(out.Conflicts), Verified: report.verified,
	}
	for _, landed := range out.Landed {
		intent.Agents = append(intent.Agents, task.ID(landed.ID))
	}
	journaled := false
	moved, err := merge.Land(ctx, merge.LandRequest{
		Quarantine: l.quarantine, Ref: report.ref, Old: report.old, New: out.Commit,
		Keep: hold, Have: have, Record: b.record(l.id),
		Message: "swarm merge " + b.run.ID,
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

// refusedMove gives the errors of a branch or a tree that is not as it has
// to be the code of a refusal.
func refusedMove(err error) error {
	var dirty *git.DirtyError
	var moved *merge.MovedError
	var busy *merge.BusyError
	var held *merge.HeldError
	var refs *git.RefMovedError
	var clash *git.RefClashError
	var locked *checkouts.LockedError
	var open *checkouts.OpenError
	if errors.As(err, &open) {
		return err
	}
	if errors.As(err, &dirty) || errors.As(err, &moved) || errors.As(err, &busy) || errors.As(err, &held) ||
		errors.As(err, &refs) || errors.As(err, &clash) || errors.As(err, &locked) {
		return refused(err)
	}
	return err
}

// verifyMerged runs the user's check on the merged commit in a workspace of
// its own.
func (b *bench) verifyMerged(ctx context.Context, id int, text string, report *mergeReport) (ok bool, err error) {
	if b.trees.Include == nil {
		if err := b.bringAlong(ctx); err != nil {
			return false, err
		}
	}
	dir := filepath.Join(b.run.Dir, "landings", fmt.Sprint(id))
	out := filepath.Join(dir, fmt.Sprintf("verify.%d", time.Now().UnixNano()))
	err = b.inSpace(ctx, spaceRequest{
		name: fmt.Sprintf("landing.%d.%d", id, time.Now().UnixNano()), commit: report.outcome.Commit,
		saved: filepath.Join(dir, "index"), kept: dir,
	}, func(s *space) error {
		exit, err := s.shell(ctx, text, out)
		ok = exit.Reason == proc.Exited && exit.Code == 0
		return err
	})
	if err != nil {
		return false, err
	}
	report.output = out + ".out"
	return ok, nil
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
