package isolation

import (
	"context"
	"path/filepath"
	"sync"

	"agentswarm/swarm/box"
	"agentswarm/swarm/confine"
	"agentswarm/swarm/privatehome"
	"agentswarm/swarm/project"
	"agentswarm/worktree/git"
)

// confiner runs git commands of swarm whose filters read files of agents, in the sandbox of
// the agents of a run.
func confiner(p *project.Project, run string, i Settings) *confine.Runner {
	template := sync.OnceValues(func() (*privatehome.Template, error) {
		return prepareHome(p, i, privatehome.Request{})
	})
	return &confine.Runner{
		Home: func(path string) ([]string, error) {
			t, err := template()
			if err != nil {
				return nil, err
			}
			return t.Environ(path), t.Build(path, nil)
		},
		Run: run, Repo: p.Repo, Root: p.Root(), State: filepath.Dir(p.State.Dir), Getenv: p.Getenv,
		Hide: i.Hide, Write: i.Write, Pass: i.PassEnv,
	}
}

// Confine is how captures of the run start a git whose filters read files of agents; nil:
// there is no sandbox.
func (e *Executor) Confine() git.Confine {
	if e.Level == box.None || e.Settings.Off() {
		return nil
	}
	c := confiner(e.Project, e.Run.ID, e.Settings)
	c.Find = func(context.Context) (confine.Sandbox, error) {
		return confine.Sandbox{Level: e.Level, Why: e.Why, Launcher: Launcher(e.Self, e.Level)}, nil
	}
	return c.Start
}

// ConfineLater is [Executor.Confine] for a command that makes no sandbox otherwise. The
// sandbox of the machine is found when the first filter is to run. self is the path of the
// running binary.
func ConfineLater(p *project.Project, self, run string, i Settings) git.Confine {
	if i.Off() {
		return nil
	}
	c := confiner(p, run, i)
	var once sync.Once
	var found confine.Sandbox
	var failed error
	c.Find = func(ctx context.Context) (confine.Sandbox, error) {
		once.Do(func() {
			var kept string
			if kept, failed = p.Binary(self); failed == nil {
				found.Level, found.Why, failed = Probe(ctx, p, kept)
				found.Launcher = Launcher(kept, found.Level)
			}
		})
		return found, failed
	}
	return c.Start
}
