package isolation

import (
	"path/filepath"
	"sync"

	"agentswarm/internal/fspath"
	"agentswarm/swarm/box"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/environ"
	"agentswarm/swarm/privatehome"
	"agentswarm/swarm/project"
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
	if e.writesToHome() && !checks {
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
func (e *Executor) writesToHome() bool { return e.Level == box.None || e.Settings.Off() }

// homeApart reports whether HOME in a step of an attempt is a folder at a path of its own.
// refused is set where the machine allowed a better view when the run began.
func (e *Executor) homeApart(r engine.SandboxRequest) (apart bool, refused error) {
	if e.writesToHome() {
		return false, nil
	}
	if box.ViewIn(e.Level, e.Why) == box.Apart {
		return true, nil
	}
	home := e.Project.Getenv("HOME")
	if refused = box.MountsBelow(home, filepath.Dir(e.Project.State.Dir)); refused == nil {
		return fspath.Exists(e.Run.Scratch(r.Private)), nil // An earlier step had it.
	}
	// Files of the attempt in layers are seen only through an overlay.
	if fspath.Exists(box.HomeOf(filepath.Join(r.Private, SetupLayers))) ||
		r.Step == engine.AgentStep && fspath.Exists(box.HomeOf(r.Private)) {
		return false, nil
	}
	return true, refused
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
	r := privatehome.Request{Shared: caches, Over: over, Live: e.writesToHome(), Step: e.Step, Caches: box.CacheVariables()}
	if e.Shims != "" { // Agents can read its folder.
		r.Program = e.Self
	}
	return prepareHome(e.Project, e.Settings, r)
}

// prepareHome fills in the user's HOME, and the paths of it that agents do not see.
func prepareHome(p *project.Project, s Settings, r privatehome.Request) (*privatehome.Template, error) {
	r.Home, r.Getenv = p.Getenv("HOME"), p.Getenv
	r.Hidden = []string{filepath.Dir(p.State.Dir)}
	if !r.Live {
		r.Hidden = append(r.Hidden, Surroundings(p).Closed...)
		for _, path := range s.Hide {
			r.Unseen = append(r.Unseen, expandHome(path, r.Home))
		}
		r.Hidden = append(r.Hidden, r.Unseen...)
	}
	rules := environ.Rules{Pass: s.PassEnv}
	// Others, such as XDG_CONFIG_HOME, are read and not passed.
	r.Passes = func(name, value string) bool { return !environ.Plain(name) || rules.Passes(name, value) }
	return privatehome.Prepare(r)
}
