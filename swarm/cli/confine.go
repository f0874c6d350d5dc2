package cli

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/box"
	"agentswarm/swarm/control"
	"agentswarm/swarm/proc"
	"agentswarm/worktree/git"
)

// confining runs gits of swarm's own whose filters read what agents wrote. The
// filters are the user's, and what they read is written by somebody else: so
// they run behind the walls that stand around that somebody.
type confining struct {
	*place
	isolation
	run  string
	self string // starts supervisors
	find func(context.Context) (isolated, error)
}

// confine is how captures of the run have such a git run; nil where there are
// no walls.
func (b *bench) confine(self string) git.Confine {
	if b.rung == box.None || b.isolation.open() {
		return nil
	}
	c := &confining{place: &b.place, isolation: b.isolation, run: b.run.ID, self: self}
	c.find = func(context.Context) (isolated, error) { return b.isolated, nil }
	return c.start
}

// confineLater is confine for a command that puts up no walls otherwise. Which
// ones there can be is found out when the first filter is to run.
func (p *place) confineLater(run string, i isolation) git.Confine {
	if i.open() {
		return nil
	}
	c := &confining{place: p, isolation: i, run: run}
	var once sync.Once
	var found isolated
	var failed error
	c.find = func(ctx context.Context) (isolated, error) {
		once.Do(func() {
			if c.self, failed = p.self(); failed == nil {
				found.rung, found.why, failed = p.probe(ctx, c.self)
			}
		})
		return found, failed
	}
	return c.start
}

// start runs one of them, to its end.
func (c *confining) start(ctx context.Context, r git.ConfineRequest) (code int, err error) {
	around, err := c.find(ctx)
	if err != nil {
		return -1, err
	}
	walls, err := c.walls(around, r)
	if err != nil {
		return -1, err
	}
	env, err := c.environ(around, r)
	if err != nil {
		return -1, err
	}
	p, err := launcher(c.self, around.rung).Start(ctx, proc.Spec{
		Run: c.run, Argv: r.Argv, Env: env, Dir: r.Dir, Walls: walls,
		Stdin: r.Stdin, Stdout: r.Stdout, Stderr: r.Stderr,
	})
	if err != nil {
		return -1, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(ctx, p.Stop)
	pid, _ := p.Started()
	watched := c.repo.WatchFilters(ctx, cancel, pid)
	exit := p.Wait()
	watched()
	stop()
	var hung *git.HungFilterError
	switch {
	case errors.As(context.Cause(ctx), &hung):
		return -1, hung
	case exit.Reason != proc.Exited:
		return -1, errors.New(exitWords(exit))
	case exit.Signal != "":
		return -1, nil
	default:
		return exit.Code, nil
	}
}

// walls are those around an agent of the run. What stands behind them beside
// the folders of the command is the repository, to be read.
func (c *confining) walls(around isolated, r git.ConfineRequest) (json.RawMessage, error) {
	root := c.rootDir()
	pieces := []box.Piece{{At: root, From: root}}
	for _, dir := range r.Read {
		if dir != root {
			pieces = append(pieces, box.Piece{At: dir, From: dir})
		}
	}
	for _, dir := range r.Write {
		pieces = append(pieces, box.Piece{At: dir, From: dir, Write: true})
	}
	w, err := box.Compose(around.rung, false, box.Place{
		Pieces: pieces, State: filepath.Dir(c.state.Dir), Home: c.env.Getenv("HOME"),
		Private: r.Private, Sockets: control.Folders(c.env.Getenv), Getenv: c.env.Getenv,
		Hide: c.Hide, Write: c.Write, View: box.ViewIn(around.why),
		Programs: slices.Concat(filepath.SplitList(c.env.Getenv("PATH")), r.Programs),
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(w)
}

// environ is that of an agent, with what git is told.
func (c *confining) environ(around isolated, r git.ConfineRequest) ([]string, error) {
	at := agent.Place{Run: c.run, Worktree: r.Dir, Root: c.rootDir(), Pass: c.isolation.PassEnv}
	switch around.rung {
	case box.None:
	case box.Landlock: // /tmp may be closed
		at.Tmp = box.TmpOf(r.Private)
	default:
		at.Tmp = "/tmp"
	}
	env, err := agent.Environ(r.Env, agent.Inline(), at)
	for _, kv := range r.Env {
		if strings.HasPrefix(kv, "GIT_") {
			env = append(env, kv)
		}
	}
	return env, err
}
