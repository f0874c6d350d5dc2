package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"

	"agentswarm/swarm/limit"
	"agentswarm/swarm/proc"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

const againstCommands = "the commands alone"

// The commands of short agents: an agent that only writes, and an agent that
// computes for some 50 ms first, as a useful agent does.
const (
	trivial = `echo "swarm bench" >> "$1"`
	busy    = `i=0; while [ $i -lt 75000 ]; do i=$((i+1)); done; echo "swarm bench" >> "$1"`
)

// ends measures agents from the start of the command to the merged branch,
// through the binary, beside nothing but the same commands.
func (b *bench) ends(ctx context.Context) error {
	lands := map[*field]*rounds{}
	for _, k := range []struct {
		step           Step
		script, called string
	}{{StepEnds, trivial, "trivial"}, {StepBusy, busy, "busy"}} {
		var alone rounds
		whole := map[*field]*rounds{}
		for _, f := range b.fields {
			whole[f], lands[f] = &rounds{}, &rounds{}
		}
		for i := range b.Sample + 1 {
			b.progress("%s agents, end to end, %s", k.called, b.turn(i))
			if i == 1 { // the first of each was to warm up
				alone = nil
				for _, f := range b.fields {
					*whole[f], *lands[f] = nil, nil
				}
			}
			want, err := b.alone(ctx, k.script, &alone)
			if err != nil {
				return err
			}
			err = b.each(func(f *field) error {
				if f.sampled() && i > 1 {
					return nil
				}
				return b.whole(ctx, f, job{
					script: k.script, want: want, branch: fmt.Sprint(k.step, i), whole: whole[f], land: lands[f],
				})
			})
			if err != nil {
				return err
			}
		}
		n := b.Agents
		for _, f := range b.fields {
			b.add(Row{
				Step: k.step, Backend: string(f.backend), Against: againstCommands,
				Baseline: alone.figure(n, n), Swarm: whole[f].figure(b.jobs(f), n),
			})
		}
	}
	b.addLands(lands)
	return nil
}

// turn says which round it is.
func (b *bench) turn(i int) string {
	if i == 0 {
		return "to warm up"
	}
	return fmt.Sprintf("round %d of %d", i, b.Sample)
}

// addLands adds the time of merging by the command, which has to find the run,
// own it, journal and move the branch. The commits are those of busy agents.
func (b *bench) addLands(lands map[*field]*rounds) {
	var merged []Row
	for _, r := range b.report.Rows {
		if r.Step == StepMerge {
			merged = append(merged, r)
		}
	}
	f := b.fields[0]
	for _, r := range merged {
		r.Step, r.Backend, r.Goal = StepLand, string(f.backend), nil
		r.Swarm = lands[f].figure(b.jobs(f), b.Agents)
		b.add(r)
	}
}

// jobs is how many agents of a backend are run.
func (b *bench) jobs(f *field) int {
	if f.sampled() {
		return b.Sample
	}
	return b.Agents
}

// alone runs the commands in the baseline's worktree, all at once, and returns
// the tree that they leave.
func (b *bench) alone(ctx context.Context, script string, took *rounds) (git.Hash, error) {
	err := took.time(func() error {
		group, ctx := errgroup.WithContext(ctx)
		for _, file := range b.files {
			group.Go(func() error {
				return b.command(ctx, command{dir: b.plain.TopLevel, argv: []string{"sh", "-c", script, "sh", file}, env: b.env})
			})
		}
		return group.Wait()
	})
	if err != nil {
		return "", err
	}
	tree, err := b.tree(ctx)
	return tree, errors.Join(err, b.reset(context.WithoutCancel(ctx)))
}

// command is a command to run as a shell would.
type command struct {
	dir   string
	argv  []string
	env   []string
	stdin io.Reader
	out   io.Writer
}

// command runs a command. A command that gets a signal to end may take its
// time.
func (b *bench) command(ctx context.Context, c command) error {
	signals := make(chan os.Signal, 1)
	stop := context.AfterFunc(ctx, func() { signals <- syscall.SIGTERM })
	defer stop()
	code, err := proc.Foreground(proc.ForegroundRequest{
		Argv: c.argv, Env: c.env, Dir: c.dir, Stdin: c.stdin, Stdout: c.out, Stderr: c.out, Signals: signals,
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err == nil && code != 0 {
		err = fmt.Errorf("%s ended with %d", strings.Join(c.argv, " "), code)
	}
	return err
}

// job is a measurement end to end.
type job struct {
	script      string
	want        git.Hash // the tree of all
	branch      string
	whole, land *rounds
}

// whole has swarm run agents and merge their changes.
func (b *bench) whole(ctx context.Context, f *field, j job) error {
	n := b.jobs(f)
	branch := landing + "/" + j.branch + "-" + string(f.backend)
	var out bytes.Buffer
	swarm := func(stdin string, words ...string) error {
		return b.command(ctx, command{
			dir: b.repo.TopLevel, argv: append([]string{f.product.Self()}, words...), env: b.environ(f.backend),
			stdin: strings.NewReader(stdin), out: &out,
		})
	}
	err := j.whole.time(func() error {
		err := swarm(strings.Join(b.files[:n], "\n")+"\n", "run", "-", "--backend", string(f.backend),
			"-j", strconv.Itoa(min(n, limit.MaxJobs)), "--", "sh", "-c", j.script, "sh", "{item}")
		if err != nil {
			return err
		}
		return j.land.time(func() error { return swarm("", "merge", "--into", branch) })
	})
	if err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(out.String()))
	}
	tree, err := b.repo.TreeOf(ctx, git.Hash("refs/heads/"+branch))
	if err == nil && n == b.Agents && tree != j.want {
		err = fmt.Errorf("swarm merged the tree %s, and the commands left %s", tree.Short(), j.want.Short())
	}
	return errors.Join(err, b.tidy(context.WithoutCancel(ctx), f))
}

// tidy removes the files of swarm from the clone and its trash, so that each
// round begins alike: every git looks at all packs there are.
func (b *bench) tidy(ctx context.Context, f *field) error {
	out, err := b.repo.Run(ctx, git.Cmd{Args: []string{
		"for-each-ref", "--format=delete %(refname)", strings.TrimSuffix(git.OwnRefs, "/"), "refs/heads/" + landing,
	}})
	if err != nil {
		return err
	}
	_, err = b.repo.Run(ctx, git.Cmd{Args: []string{"update-ref", "--stdin"}, Stdin: bytes.NewReader(out), Writes: true})
	if err != nil {
		return err
	}
	packs, err := b.packs()
	for _, file := range packs {
		if !slices.Contains(b.packed, file) {
			err = errors.Join(err, os.Remove(file))
		}
	}
	states, serr := below(b.stateOf(f.backend))
	err = errors.Join(err, serr)
	for _, state := range states {
		trash, terr := below(filepath.Join(state, "trash"))
		err = errors.Join(err, terr)
		for _, entry := range trash {
			err = errors.Join(err, worktree.RemoveAll(entry))
		}
	}
	return err
}

// landing is the folder of all branches that swarm merges to.
const landing = "bench-landing"
