package lander

import (
	"context"
	"errors"
	"strings"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/patch"
	"agentswarm/swarm/refusal"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// PrepareDrop finds the merge to take back, and completes the request by its check, its
// style, and the patches that are left. queue has the options of a check that is taken from
// the last merge. All that can be refused is refused here, before the branch moves. The
// error is a [*refusal.Error] or a [*BlockedError] then.
func (ld *Lander) PrepareDrop(ctx context.Context, names []string, r *MergeRequest, queue QueueOptions) (landing.Drop, error) {
	if err := ld.Settle(ctx, ld.Owner.View()); err != nil {
		return landing.Drop{}, err
	}
	d, err := ld.findDrop(ctx, r.Into, names)
	if err != nil {
		return d, err
	}
	if r.Verify == "" && d.Command != "" {
		r.Verify, r.Queue = d.Command, queue
	}
	r.Style = landing.StyleOver(d.Landing.Style, r.Style)
	if r.Verify == "" && d.Landing.Verified != nil {
		return d, refusal.New("merge: --drop: the command that verified the merge is not known; give --verify CMD")
	}
	if len(d.Left) == 0 {
		return d, nil
	}
	return d, ld.prepareAgain(ctx, r, d)
}

// MergeAgain takes a merge back and merges the patches that are left of it. The report is
// nil if none is left. A process that ends after the undo leaves the patches as before the
// merge, with their verdicts.
func (ld *Lander) MergeAgain(ctx context.Context, d landing.Drop, r MergeRequest) (*Report, error) {
	if _, err := ld.Undo(ctx, d.Landing.ID); err != nil {
		return nil, err
	}
	if len(d.Left) == 0 {
		return nil, nil
	}
	return ld.Merge(ctx, r)
}

// findDrop finds the merge to take back, and the patches that are left of it.
func (ld *Lander) findDrop(ctx context.Context, into string, drop []string) (landing.Drop, error) {
	ref, err := TargetRef(ctx, ld.Repo, into)
	if err != nil {
		return landing.Drop{}, err
	}
	r := landing.DropRequest{
		View: ld.Owner.View(), Ref: ref,
		TreeOf: func(commit git.Hash) (git.Hash, error) { return ld.Repo.TreeOf(ctx, commit) },
	}
	for _, text := range drop {
		a, which, err := patch.Resolve(ld.State, ld.Run.ID+"/"+text)
		if err != nil {
			return landing.Drop{}, &BlockedError{err}
		}
		r.Agents = append(r.Agents, a.Agent)
		if which.Copy > 0 {
			r.Copies = append(r.Copies, patch.CopyName(a.Agent, which.Copy))
		}
	}
	d, err := landing.FindDrop(r)
	if not, ok := errors.AsType[*landing.DropError](err); ok {
		refused := &refusal.Error{Text: "merge: --drop: " + not.Reason}
		if not.Undone != nil {
			refused.Advice = ld.restOf(*not.Undone, into)
		}
		return d, refused
	}
	return d, err
}

// restOf names the command that lands the rest of a merge that was taken back.
func (ld *Lander) restOf(d landing.Drop, into string) string {
	if len(d.Left) == 0 {
		return "it had no other patch"
	}
	words := []string{"merge"}
	if into != "" {
		words = append(words, "--into", ShellQuoted(into))
	}
	if d.Command != "" {
		words = append(words, "--verify", ShellQuoted(d.Command))
	}
	for _, name := range d.Left {
		words = append(words, ld.Run.ID+"/"+name)
	}
	return "the others land with: " + ld.Calls + " " + strings.Join(words, " ")
}

// ShellQuoted is a text as a word of a shell.
func ShellQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// prepareAgain names the patches that are left in the request. It refuses those that
// a merge would refuse after the undo, and a style that their commits cannot have.
func (ld *Lander) prepareAgain(ctx context.Context, r *MergeRequest, d landing.Drop) error {
	after := ld.Owner.View()
	after.Apply(event.Record{Time: time.Now(), Event: &event.Undone{ID: d.Landing.ID}})
	var err error
	if r.Works, err = ld.worksOf(ctx, after, d.Left); err != nil {
		return err
	}
	named, err := r.named(after)
	if err != nil {
		return err
	}
	chosen, _, err := choose(landing.SelectRequest{View: after, Ref: d.Landing.Ref, Named: named, Verified: r.Verify != ""})
	if err != nil {
		return err
	}
	return checkStyle(ld.styleOf(ctx, r.Style, r.Author), chosen)
}

// worksOf are agents by their names, or by those of copies of their workspaces.
func (ld *Lander) worksOf(ctx context.Context, v *store.View, names []string) ([]*store.Agent, error) {
	var works []*store.Agent
	for _, name := range names {
		w := patch.Work{Agent: task.ID(name)}
		if id, n, ok := store.AttemptOf(name); ok {
			w = patch.Work{Agent: id, Attempt: n}
		}
		if id, n, ok := store.CopyOf(name); ok {
			w = patch.Work{Agent: id, Copy: n}
		}
		a, err := ld.Patches.At(ctx, ld.Run, v.Agent(w.Agent), w)
		if err != nil {
			return nil, err
		}
		works = append(works, a)
	}
	return works, nil
}
