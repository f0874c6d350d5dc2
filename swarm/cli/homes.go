package cli

import (
	"context"
	"errors"
	"path/filepath"
	"sync"

	"agentswarm/swarm/box"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/environ"
	"agentswarm/swarm/privatehome"
)

// homes are the templates of the private HOMEs of a driven run. Only setups and
// checks write to the shared caches of commands: an agent that could would have
// its own check, and those of others, compile and run its text.
type homes struct {
	agents, commands func() (*privatehome.Template, error)
	// open is that of commands where setups and agents write to the user's HOME.
	// It is nil until the run's first snapshot of HOME.
	open *privatehome.Template
}

// watchSetup looks at the user's HOME before a setup that writes to it. The
// function that it returns adds the changes of the setup to the HOMEs of checks.
func (h *homes) watchSetup() (ended func()) {
	if h == nil || h.open == nil {
		return nil
	}
	before := h.open.Snapshot()
	return func() { h.open.Include(before, h.open.Snapshot()) }
}

// openHomes has the agents of a run that is driven share the caches of tools,
// and its commands others. close removes both. Checks says whether there may be
// any.
func (b *bench) openHomes(c engine.Config, checks bool) (close func() error) {
	if b.unfenced() && !checks || !b.unfenced() && b.rung != box.Landlock {
		return func() error { return nil }
	}
	private := engine.CachesOf(b.run)
	prepare := func(name string, over *privatehome.Template) (*privatehome.Template, error) {
		dir, err := b.run.MakeScratch(private)
		if err != nil {
			return nil, err
		}
		return b.prepareHome(filepath.Join(dir, name), over)
	}
	commands := sync.OnceValues(func() (*privatehome.Template, error) { return prepare("commands", nil) })
	b.homes = &homes{commands: commands, agents: sync.OnceValues(func() (*privatehome.Template, error) {
		if c.Setup == "" && c.Warm == "" {
			return prepare("caches", nil)
		}
		over, err := commands()
		if err != nil {
			return nil, err
		}
		return prepare("caches", over)
	})}
	return func() error {
		b.homes = nil
		return engine.RemoveBox(b.run, private)
	}
}

// fillCaches prepares HOMEs and caches before the first agent starts. cool
// removes the files of the run.
func (b *bench) fillCaches(ctx context.Context, r driveRequest) (cool func() error, err error) {
	unshare := b.openHomes(r.config, r.config.Verify != "" || r.script != nil)
	unwarm, err := b.warmUp(ctx, r.config.Warm)
	if err != nil {
		return nil, errors.Join(err, unshare())
	}
	cool = func() error { return errors.Join(unwarm(), unshare()) }
	if b.homes != nil && b.unfenced() {
		// Now, while no agent has written to the user's HOME.
		if b.homes.open, err = b.homes.commands(); err != nil {
			return nil, errors.Join(err, cool())
		}
	}
	return cool, nil
}

// unfenced reports whether agents write to the user's HOME.
func (b *bench) unfenced() bool { return b.rung == box.None || b.isolation.open() }

// homeTemplate is the common part of private HOMEs for a step. Outside of a run
// that is driven, such as for the check of a merge, each has its own.
func (b *bench) homeTemplate(step engine.Step, private string) (*privatehome.Template, error) {
	switch {
	case b.homes == nil:
		return b.prepareHome(filepath.Join(private, "caches"), nil)
	case step == engine.AgentStep:
		return b.homes.agents()
	default:
		return b.homes.commands()
	}
}

func (b *bench) prepareHome(caches string, over *privatehome.Template) (*privatehome.Template, error) {
	live := b.unfenced()
	hidden := []string{filepath.Dir(b.state.Dir)}
	if !live {
		hidden = append(hidden, b.surroundings().Closed...)
		for _, path := range b.isolation.Hide {
			hidden = append(hidden, expandHome(path, b.env.Getenv("HOME")))
		}
	}
	rules := environ.Rules{Pass: b.isolation.PassEnv}
	return privatehome.Prepare(privatehome.Request{
		Home: b.env.Getenv("HOME"), Hidden: hidden, Shared: caches, Over: over, Live: live,
		Getenv: b.env.Getenv, Step: b.env.Step, Caches: box.CacheVariables(),
		// Others, such as XDG_CONFIG_HOME, are read and not passed.
		Passes: func(name, value string) bool { return !environ.Plain(name) || rules.Passes(name, value) },
	})
}
