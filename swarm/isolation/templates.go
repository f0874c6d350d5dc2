package isolation

import (
	"path/filepath"
	"sync"

	"agentswarm/swarm/box"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/environ"
	"agentswarm/swarm/privatehome"
)

// templates are the common parts of the private HOMEs of a driven run. Only setups and
// checks write to the shared caches of commands. An agent with that right could make
// its own check, and those of others, compile and run its text.
type templates struct {
	agents, commands func() (*privatehome.Template, error)
	// open is that of commands where setups and agents write to the user's HOME.
	// It is nil until the run's first snapshot of HOME.
	open *privatehome.Template
}

// watchSetup looks at the user's HOME before a setup that writes to it. The
// function that it returns adds the changes of the setup to the HOMEs of checks.
func (t *templates) watchSetup() (ended func()) {
	if t == nil || t.open == nil {
		return nil
	}
	before := t.open.Snapshot()
	return func() { t.open.Include(before, t.open.Snapshot()) }
}

// OpenHomes has the agents of a run that is driven share the caches of tools, and its
// commands others. close removes both. checks tells whether there may be any.
func (e *Executor) OpenHomes(c engine.Config, checks bool) (close func() error) {
	if !e.homeApart() && !(e.writesToHome() && checks) {
		return func() error { return nil }
	}
	private := engine.CachesOf(e.Run)
	prepare := func(name string, over *privatehome.Template) (*privatehome.Template, error) {
		dir, err := e.Run.MakeScratch(private)
		if err != nil {
			return nil, err
		}
		return e.prepareHome(filepath.Join(dir, name), over)
	}
	commands := sync.OnceValues(func() (*privatehome.Template, error) { return prepare("commands", nil) })
	e.templates = &templates{commands: commands, agents: sync.OnceValues(func() (*privatehome.Template, error) {
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
		e.templates = nil
		return engine.RemoveBox(e.Run, private)
	}
}

// WatchHome looks at the user's HOME before the first agent starts, where agents write to
// it. It does nothing elsewhere.
func (e *Executor) WatchHome() (err error) {
	if e.templates != nil && e.writesToHome() {
		e.templates.open, err = e.templates.commands()
	}
	return err
}

// writesToHome reports whether agents write to the user's HOME.
func (e *Executor) writesToHome() bool { return e.Rung == box.None || e.Settings.Off() }

// homeApart reports whether the HOME of an agent is a folder at a path of its own.
func (e *Executor) homeApart() bool {
	return !e.writesToHome() && box.ViewIn(e.Rung, e.Why) == box.Apart
}

// homeTemplate is the common part of private HOMEs for a step. Outside of a run
// that is driven, such as for the check of a merge, each has its own.
func (e *Executor) homeTemplate(step engine.Step, private string) (*privatehome.Template, error) {
	switch {
	case e.templates == nil:
		return e.prepareHome(filepath.Join(private, "caches"), nil)
	case step == engine.AgentStep:
		return e.templates.agents()
	default:
		return e.templates.commands()
	}
}

func (e *Executor) prepareHome(caches string, over *privatehome.Template) (*privatehome.Template, error) {
	live := e.writesToHome()
	var unseen []string
	hidden := []string{filepath.Dir(e.Project.State.Dir)}
	if !live {
		hidden = append(hidden, Surroundings(e.Project).Closed...)
		for _, path := range e.Settings.Hide {
			unseen = append(unseen, expandHome(path, e.Project.Getenv("HOME")))
		}
		hidden = append(hidden, unseen...)
	}
	program := ""
	if e.Shims != "" { // Agents can read its folder.
		program = e.Self
	}
	rules := environ.Rules{Pass: e.Settings.PassEnv}
	return privatehome.Prepare(privatehome.Request{
		Home: e.Project.Getenv("HOME"), Hidden: hidden, Unseen: unseen, Shared: caches, Over: over, Live: live,
		Getenv: e.Project.Getenv, Step: e.Step, Caches: box.CacheVariables(), Program: program,
		// Others, such as XDG_CONFIG_HOME, are read and not passed.
		Passes: func(name, value string) bool { return !environ.Plain(name) || rules.Passes(name, value) },
	})
}
