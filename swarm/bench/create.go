package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

const againstAdd = "git worktree add"

// create measures workspaces: first each backend's with an empty state, then in
// turns with `git worktree add`. Each workspace is entered: the sandbox stands,
// and a command has run where an agent would.
func (b *bench) create(ctx context.Context) error {
	b.progress("%s", againstAdd)
	plain, err := b.plainDisk(ctx)
	if err != nil {
		return err
	}
	cold, disk := map[*field]Figure{}, map[*field]Figure{}
	err = b.each(func(f *field) error {
		b.progress("%s: %s, with nothing there", b.many(f), f.backend)
		before, err := b.footprint(f)
		if err != nil {
			return err
		}
		var took rounds
		made, err := b.round(ctx, f, &took, func() (err error) {
			disk[f], err = b.diskOf(f, before)
			return err
		})
		if err == nil {
			cold[f] = took.figure(made, b.Agents)
		}
		return err
	})
	if err != nil {
		return err
	}
	var adds rounds
	warm := map[*field]*rounds{}
	for i := range b.Sample {
		b.progress("workspaces, %s", b.turn(i+1))
		dir := filepath.Join(b.dir, "plain-add")
		if err := adds.time(func() error { return b.addPlain(ctx, dir) }); err != nil {
			return err
		}
		if err := b.run(ctx, b.repo, "worktree", "remove", "--force", dir); err != nil {
			return err
		}
		err := b.each(func(f *field) error {
			if warm[f] == nil {
				warm[f] = &rounds{}
			}
			_, err := b.round(ctx, f, warm[f], nil)
			return err
		})
		if err != nil {
			return err
		}
	}
	add := adds.figure(1, b.Agents)
	for _, f := range b.fields {
		row := Row{Backend: string(f.backend), Against: againstAdd, Baseline: add}
		row.Step, row.Swarm = StepCreate, warm[f].figure(b.each1(f), b.Agents)
		b.add(row)
		row.Step, row.Swarm = StepCold, cold[f]
		b.add(row)
		row.Step, row.Baseline, row.Swarm = StepDisk, plain, disk[f]
		b.add(row)
	}
	return nil
}

// each1 is how many workspaces of a backend are made in a round.
func (b *bench) each1(f *field) int {
	if f.sampled() {
		return 1
	}
	return b.Agents
}

// many says how many workspaces of a backend are made in a round.
func (b *bench) many(f *field) string {
	if n := b.each1(f); n != 1 {
		return fmt.Sprint(n, " workspaces")
	}
	return "1 workspace"
}

// plainDisk makes the worktree of the baselines, which brings the objects into
// the page cache, and returns its size on the disk.
func (b *bench) plainDisk(ctx context.Context) (f Figure, err error) {
	before, err := diskUsage(b.dir)
	if err != nil {
		return f, err
	}
	dir := filepath.Join(b.dir, "plain")
	if err := b.addPlain(ctx, dir); err != nil {
		return f, err
	}
	if b.plain, err = b.git.Discover(ctx, dir); err != nil {
		return f, err
	}
	after, err := diskUsage(b.dir)
	n := int64(b.Agents)
	return Figure{Bytes: (after - before) * n, Run: 1, Of: b.Agents, Rounds: 1}, err
}

// addPlain is the baseline.
func (b *bench) addPlain(ctx context.Context, dir string) error {
	return b.run(ctx, b.repo, "worktree", "add", "--quiet", "--detach", dir, string(b.base))
}

// round makes the workspaces of a round, all at once, and removes them. While
// they are there it calls look, where that is not nil. It tells how many.
func (b *bench) round(ctx context.Context, f *field, took *rounds, look func() error) (n int, err error) {
	s, err := f.product.Shift(ctx)
	if err != nil {
		return 0, err
	}
	n = b.each1(f)
	places := make([]*place, n)
	defer func() {
		// They are removed in any case; a worktree that cannot be removed goes
		// with the folder.
		ctx := context.WithoutCancel(ctx)
		for _, p := range places {
			err = errors.Join(err, s.drop(ctx, p))
		}
		err = errors.Join(err, s.Close())
	}()
	err = took.time(func() error {
		group, ctx := errgroup.WithContext(ctx)
		for i := range places {
			group.Go(func() (err error) {
				places[i], err = s.enter(ctx, i, worktree.LeaseRequest{Base: b.base, Backend: f.backend})
				return err
			})
		}
		return group.Wait()
	})
	if err == nil && look != nil {
		err = look()
	}
	return n, err
}

// diskOf returns the disk use of a backend: its whole state, and the growth of
// the clone's git dir.
func (b *bench) diskOf(f *field, before footprint) (Figure, error) {
	after, err := b.footprint(f)
	n, grown := b.each1(f), max(0, after.state-before.state)+max(0, after.common-before.common)
	return Figure{Bytes: before.state + grown*int64(b.Agents)/int64(n), Run: n, Of: b.Agents, Rounds: 1}, err
}

// footprint is where a backend puts things.
type footprint struct{ state, common int64 }

func (b *bench) footprint(f *field) (on footprint, err error) {
	if on.state, err = diskUsage(b.stateOf(f.backend)); err != nil {
		return on, err
	}
	on.common, err = diskUsage(b.repo.CommonDir)
	return on, err
}

// tree returns the tree of the baseline's worktree.
func (b *bench) tree(ctx context.Context) (git.Hash, error) {
	if err := b.run(ctx, b.plain, "add", "-A"); err != nil {
		return "", err
	}
	out, err := b.plain.Run(ctx, git.Cmd{Args: []string{"write-tree"}, Writes: true})
	return hash(out), err
}

// reset takes the baseline's worktree back to the base.
func (b *bench) reset(ctx context.Context) error {
	if err := b.run(ctx, b.plain, "reset", "--quiet", "--hard", string(b.base)); err != nil {
		return err
	}
	return b.run(ctx, b.plain, "clean", "--quiet", "-ffd")
}
