package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// dropAction makes the last merge of a run again without some of its patches. The
// branch goes back first, as undo does it. A process that ends after that leaves the
// patches as before the merge, with their verdicts.
func dropAction(c *cli.Context, env Env, options queueOptions) error {
	p, s, err := openSelection(c, env, 0, 1)
	if err != nil {
		return err
	}
	if len(s.named) > 0 {
		return usagef("merge: --drop leaves patches of the last merge out: name its run, or nothing")
	}
	r := mergeRequest{into: c.String("into"), verify: c.String("verify"), queue: options}
	if r.style, err = styleFlags(c); err != nil {
		return err
	}
	owner, err := p.own(c.Context, s.run)
	if err != nil {
		return err
	}
	report, err := p.mergeAgain(c, s, &r, owner)
	if err = errors.Join(err, owner.Close()); err != nil && (report == nil || report.stopped == nil) {
		return err
	}
	if report == nil {
		fmt.Fprintf(env.Stderr, "%s: the last merge is taken back, and had no other patch\n", program)
		return nil
	}
	return errors.Join(err, p.tellMerge(c, env, report))
}

// mergeAgain takes the last merge back and merges what is left of it. It returns no
// report if nothing is left. All that can be refused is refused before the branch
// moves.
func (p *place) mergeAgain(c *cli.Context, s *selection, r *mergeRequest, owner *store.Owner) (*mergeReport, error) {
	ctx := c.Context
	b, err := p.bench(ctx, s.run, owner)
	if err != nil {
		return nil, err
	}
	if err := b.settleLandings(ctx, owner.View()); err != nil {
		return nil, err
	}
	d, err := b.findDrop(ctx, r.into, c.StringSlice("drop"))
	if err != nil {
		return nil, err
	}
	if r.verify == "" && d.Command != "" {
		r.verify, r.queue = d.Command, queueOptions{on: true, slots: c.Int("slots"), order: c.String("order")}
	}
	r.style = styleOver(d.Landing.Style, r.style)
	if r.queue, err = p.screened(c, r.queue); err != nil {
		return nil, err
	}
	if r.verify == "" && d.Landing.Verified != nil {
		return nil, usagef("merge: --drop: the command that verified the merge is not known; give --verify CMD")
	}
	if len(d.Left) > 0 {
		if err := b.prepareAgain(ctx, r, d); err != nil {
			return nil, err
		}
		if err := p.refuseRejected(ctx, "merge", s, r.works); err != nil {
			return nil, err
		}
	}
	if _, err := b.undo(ctx, d.Landing.ID); err != nil {
		return nil, err
	}
	if len(d.Left) == 0 {
		return nil, nil
	}
	return b.merge(ctx, *r)
}

// findDrop finds the merge to take back, and the patches that are left of it.
func (b *bench) findDrop(ctx context.Context, into string, drop []string) (landing.Drop, error) {
	ref, err := b.targetRef(ctx, into)
	if err != nil {
		return landing.Drop{}, err
	}
	r := landing.DropRequest{
		View: b.owner.View(), Ref: ref,
		TreeOf: func(commit git.Hash) (git.Hash, error) { return b.repo.TreeOf(ctx, commit) },
	}
	for _, text := range drop {
		a, which, err := b.resolveWork(b.run.ID + "/" + text)
		if err != nil {
			return landing.Drop{}, refused(err)
		}
		r.Agents = append(r.Agents, a.Agent)
		if which.copied > 0 {
			r.Copies = append(r.Copies, copyName(a.Agent, which.copied))
		}
	}
	d, err := landing.FindDrop(r)
	if not, ok := errors.AsType[*landing.DropError](err); ok {
		refusal := &UsageError{Text: "merge: --drop: " + not.Reason}
		if not.Undone != nil {
			refusal.Advice = b.restOf(*not.Undone, into)
		}
		return d, refusal
	}
	return d, err
}

// restOf names the command that lands what is left of a merge that was taken back.
func (b *bench) restOf(d landing.Drop, into string) string {
	if len(d.Left) == 0 {
		return "it had no other patch"
	}
	words := []string{"merge"}
	if into != "" {
		words = append(words, "--into", shellQuoted(into))
	}
	if d.Command != "" {
		words = append(words, "--verify", shellQuoted(d.Command))
	}
	for _, name := range d.Left {
		words = append(words, b.run.ID+"/"+name)
	}
	return "the others land with: " + b.env.Calls + " " + strings.Join(words, " ")
}

// shellQuoted is a text as a word of a shell.
func shellQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// prepareAgain names the patches that are left in the request. It refuses those that
// a merge would refuse after the undo, and a style that their commits cannot have.
func (b *bench) prepareAgain(ctx context.Context, r *mergeRequest, d landing.Drop) error {
	after := b.owner.View()
	after.Apply(event.Record{Time: time.Now(), Event: &event.Undone{ID: d.Landing.ID}})
	var err error
	if r.works, err = b.worksOf(ctx, b.run, after, d.Left); err != nil {
		return err
	}
	named, err := r.named(after)
	if err != nil {
		return err
	}
	chosen, _, err := choose(landing.SelectRequest{View: after, Ref: d.Landing.Ref, Named: named, Verified: r.verify != ""})
	if err != nil {
		return err
	}
	style, err := b.styleOf(ctx, r.style)
	if err != nil {
		return err
	}
	return checkStyle(style, chosen)
}

// worksOf are agents by their names, or by those of copies of their workspaces.
func (p *place) worksOf(ctx context.Context, run *store.Run, v *store.View, names []string) ([]*store.Agent, error) {
	var works []*store.Agent
	for _, name := range names {
		w := namedWork{agent: task.ID(name)}
		if id, n, ok := store.AttemptOf(name); ok {
			w = namedWork{agent: id, attempt: n}
		}
		if id, n, ok := store.CopyOf(name); ok {
			w = namedWork{agent: id, copied: n}
		}
		a, err := p.workOf(ctx, run, v.Agent(w.agent), w)
		if err != nil {
			return nil, err
		}
		works = append(works, a)
	}
	return works, nil
}
