package cli

import (
	"context"
	"path/filepath"
	"sync"

	"agentswarm/swarm/box"
	"agentswarm/swarm/confine"
	"agentswarm/worktree/git"
)

// confiner runs gits of swarm's own whose filters read what agents wrote behind
// the walls of agents of a run.
func (p *place) confiner(run string, i isolation) *confine.Runner {
	return &confine.Runner{
		Run: run, Repo: p.repo, Root: p.rootDir(), State: filepath.Dir(p.state.Dir), Getenv: p.env.Getenv,
		Hide: i.Hide, Write: i.Write, Pass: i.PassEnv,
	}
}

// confine is how captures of the run have such a git run; nil where there are
// no walls.
func (b *bench) confine(self string) git.Confine {
	if b.rung == box.None || b.isolation.open() {
		return nil
	}
	c := b.confiner(b.run.ID, b.isolation)
	c.Find = func(context.Context) (confine.Sandbox, error) {
		return confine.Sandbox{Rung: b.rung, Why: b.why, Launcher: launcher(self, b.rung)}, nil
	}
	return c.Start
}

// confineLater is confine for a command that puts up no walls otherwise. Which
// ones there can be is found out when the first filter is to run.
func (p *place) confineLater(run string, i isolation) git.Confine {
	if i.open() {
		return nil
	}
	c := p.confiner(run, i)
	var once sync.Once
	var found confine.Sandbox
	var failed error
	c.Find = func(ctx context.Context) (confine.Sandbox, error) {
		once.Do(func() {
			var self string
			if self, failed = p.self(); failed == nil {
				found.Rung, found.Why, failed = p.probe(ctx, self)
				found.Launcher = launcher(self, found.Rung)
			}
		})
		return found, failed
	}
	return c.Start
}
