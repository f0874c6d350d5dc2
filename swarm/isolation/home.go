package isolation

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/internal/fspath"
	"agentswarm/swarm/box"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/privatehome"
	"agentswarm/worktree"
)

// ownHome is the HOME and the TMPDIR of a step of an attempt.
type ownHome struct {
	private string // where the sandbox keeps writes outside of the workspace
	setup   string // where it kept the writes of the setup, as layers; empty: it did not
	home    string // HOME, where it is at a path of its own; empty: it is not
	tmp     string // TMPDIR; empty: the caller's
	plain   string // the folder of configuration without credentials; empty: there is none
	written string // where the writes of this step alone to HOME are kept; empty: nowhere
	env     []string
	read    []string // more folders that may be read
	write   []string // more folders that may be written to
	hide    []string // more paths that are hidden
	notes   []string // for people
	ended   func()   // is called when a setup has ended; nil: it is not called
}

// ownHome makes them. A check never gets files that the agent wrote there: only
// those of the setup and of the user.
func (e *Executor) ownHome(r engine.SandboxRequest) (ownHome, error) {
	if e.writesToHome() {
		if r.Step == engine.CheckStep {
			return e.freeHome(r)
		}
		own := ownHome{private: r.Private}
		if r.Step == engine.SetupStep {
			own.ended = e.templates.watchSetup()
		}
		return own, nil
	}
	apart, refused := e.homeApart(r)
	if apart {
		own, err := e.privateHome(r)
		if refused != nil {
			own.notes = append(own.notes, "HOME is a folder of its own for this attempt: "+refused.Error())
		}
		return own, err
	}
	own, err := layeredHome(r)
	if err != nil {
		return own, err
	}
	return e.withHome(own)
}

// withHome leads programs to a HOME where the user has none that they could write to.
// Otherwise it copies the configuration of tools without credentials.
func (e *Executor) withHome(own ownHome) (ownHome, error) {
	home := e.Project.Getenv("HOME")
	if dir := box.OwnHome(home); dir != "" {
		own.env = append(own.env, "HOME="+dir)
		return own, nil
	}
	own.plain = filepath.Join(own.private, "plain")
	if fspath.Exists(own.plain) { // of an earlier step, which may still run
		return own, nil
	}
	return own, privatehome.WritePlain(home, e.Project.Getenv, own.plain)
}

// SetupLayers and checkLayers are folders in an attempt's private folder where overlays can be
// mounted. The agent's layers lie in the private folder itself.
const (
	SetupLayers = "setup"
	checkLayers = "check"
)

// layeredHome is an overlay at the path of the user's HOME. Agent and check each
// have their own over the layers of the setup.
func layeredHome(r engine.SandboxRequest) (ownHome, error) {
	own := ownHome{private: r.Private, tmp: "/tmp"}
	setup := filepath.Join(r.Private, SetupLayers)
	if r.Step == engine.SetupStep {
		own.private = setup
	} else {
		own.setup = setup
	}
	if r.Step == engine.CheckStep {
		own.private = filepath.Join(r.Private, checkLayers)
		own.hide = []string{r.Private}
		own.written = box.HomeOf(own.private)
		return own, worktree.RemoveAll(own.private) // of an earlier check
	}
	if r.Step == engine.SetupStep {
		own.written = box.HomeOf(own.private)
	}
	return own, nil
}

// privateHome is for sandboxes that lay nothing over HOME: it is a folder at a path of its
// own, and so is TMPDIR where nothing can be mounted.
func (e *Executor) privateHome(r engine.SandboxRequest) (own ownHome, err error) {
	if own.private, err = e.Run.MakeScratch(r.Private); err != nil {
		return own, err
	}
	home, tmp := box.HomeOf(own.private), box.TmpOf(own.private)
	stages := []string{filepath.Base(home), filepath.Base(tmp)}
	if e.Level.Namespaces() { // The folder for temporary files is mounted.
		tmp, stages = "/tmp", append(stages, "var-tmp")
	}
	template, err := e.homeTemplate(r.Step, own.private)
	if err != nil {
		return own, err
	}
	s := privatehome.Stages{Dir: own.private, Own: func(name string) bool { return slices.Contains(stages, name) }, Step: e.Step}
	if err := enterStage(r.Step, s, func() error { return own.adopt(template, home) }); err != nil {
		return own, err
	}
	own.in(template, home, tmp)
	if path := e.Project.Getenv("PATH"); path != "" {
		own.env = append(own.env, "PATH="+template.Path(home, path))
	}
	if fspath.Exists(home) {
		return own, nil // A program was there: nothing is written below it from outside.
	}
	return own, template.Build(home, e.given(r.Write))
}

// enterStage prepares the folders for a step.
func enterStage(step engine.Step, s privatehome.Stages, adopt func() error) error {
	switch step {
	case engine.AgentStep:
		return s.BeforeAgent(adopt)
	case engine.CheckStep:
		return s.BeforeCheck()
	default:
		return nil
	}
}

// adopt leads the HOME of a setup, which has other caches, to those of agents.
func (o *ownHome) adopt(t *privatehome.Template, home string) error {
	if !fspath.Exists(home) {
		return nil
	}
	left, err := t.Adopt(home)
	if len(left) > 0 {
		o.notes = append(o.notes, fmt.Sprintf("the setup made ~/%s no folder of HOME: cargo does not share crates with other agents", strings.Join(left, " and ~/")))
	}
	return errors.Join(err, t.Refresh())
}

// freeHome is for a check in no sandbox, whose agent wrote to the user's HOME.
func (e *Executor) freeHome(r engine.SandboxRequest) (own ownHome, err error) {
	if own.private, err = e.Run.MakeScratch(r.Private); err != nil {
		return own, err
	}
	template, err := e.homeTemplate(r.Step, own.private)
	if err != nil {
		return own, err
	}
	home, tmp := box.HomeOf(own.private), box.TmpOf(own.private)
	for _, dir := range []string{home, tmp} { // of an earlier check
		if err := worktree.RemoveAll(dir); err != nil {
			return own, err
		}
	}
	own.in(template, home, tmp)
	own.write = append(own.write, home, tmp)
	return own, errors.Join(os.Mkdir(tmp, 0o700), template.Build(home, nil))
}

// view is the view of HOME on a level with overlays.
func (o *ownHome) view() box.View {
	if o.home != "" {
		return box.Apart
	}
	return box.Whole
}

// in sets the variables by which programs find a private HOME and its caches.
func (o *ownHome) in(t *privatehome.Template, home, tmp string) {
	o.home, o.tmp = home, tmp
	// tmux has all of a user's sessions in a single folder of /tmp.
	o.env = append(t.Environ(home), "TMUX_TMPDIR="+tmp)
	o.read, o.write = t.Readable(), t.Writable()
}

// given are the folders that may be written to, those of the user first.
func (e *Executor) given(more []string) []string {
	all := slices.Concat(e.Settings.Write, more)
	for i, dir := range all {
		all[i] = expandHome(dir, e.Project.Getenv("HOME"))
	}
	return all
}

// expandHome is a path that may begin with "~/".
func expandHome(path, home string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(home, rest)
	}
	return path
}
