package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/apparmor"
	"agentswarm/swarm/box"
	"agentswarm/swarm/config"
	"agentswarm/swarm/control"
	"agentswarm/swarm/environ"
	"agentswarm/swarm/userns"
	"agentswarm/worktree"
	"agentswarm/worktree/pool"
	"agentswarm/worktree/precheck"
)

// isolation is how agents are kept apart from everything else. It is recorded
// with the run, and a resume goes on with it.
type isolation struct {
	Sandbox string   `json:"sandbox,omitempty"` // auto, require or off; empty: auto
	Backend string   `json:"backend,omitempty"` // of workspaces, or auto; empty: auto
	Hide    []string `json:"hide,omitempty"`    // paths that agents see nothing of
	Write   []string `json:"write,omitempty"`   // folders that agents may write to
	// PassEnv are patterns of variables that agents get too. Their values are
	// those of the process that owns the run, and are not recorded.
	PassEnv []string `json:"pass_env,omitempty"`

	// What asked for these, for messages; empty: the run was started with them.
	sandboxBy, backendBy string
}

// anyBackend reports whether no backend was asked for by name.
func (i isolation) anyBackend() bool { return i.Backend == "" || i.Backend == backendAuto }

// picky reports whether something was asked for that not every machine gives.
func (i isolation) picky() bool {
	return i.Sandbox == sandboxRequire || !i.anyBackend() && i.Backend != string(worktree.Linked)
}

const (
	sandboxRequire = "require"
	sandboxOff     = "off"
	backendAuto    = "auto"
)

// open reports whether agents may write wherever their user may.
func (i isolation) open() bool { return i.Sandbox == sandboxOff }

// isolationFlags are those of every command that runs agents.
func isolationFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "sandbox", Usage: "run agents in a sandbox: `auto|require|off`; require accepts only namespaces (default: auto)"},
		&cli.StringFlag{Name: "backend", Usage: "backend of workspaces: `auto|overlay|reflink|copy|worktree` (default: auto, the cheapest that works)"},
		&cli.StringSliceFlag{Name: "hide", Usage: "hide the file or folder `PATH` from agents; may be given again"},
		&cli.StringSliceFlag{Name: "write", Usage: "let agents also write to the folder `DIR`; may be given again"},
		&cli.StringSliceFlag{Name: "pass-env", Usage: "pass the variable `NAME` to agents, setup and checks; * matches any characters; may be given again"},
	}
}

// planIsolation lays the flags over what is configured. What was asked for by
// name and cannot be had is refused.
func (p *place) planIsolation(ctx context.Context, pl *plan, conf *config.Config) (err error) {
	if pl.isolation, err = p.configuredIsolation(ctx, conf); err != nil {
		return err
	}
	if err := p.given(&pl.isolation); err != nil {
		return err
	}
	if pl.verb == "resume" {
		// It is not what the run has recorded, which is all that would be
		// looked at.
		planned := pl.isolation
		p.given = func(i *isolation) error { *i = planned; return nil }
	}
	if pl.isolation.picky() {
		_, err = p.isolate(ctx, pl.isolation)
	}
	return err
}

// configuredIsolation is what the files and the environment say.
func (p *place) configuredIsolation(ctx context.Context, conf *config.Config) (i isolation, err error) {
	if conf.Sandbox != config.SandboxUnset {
		i.Sandbox, i.sandboxBy = conf.Sandbox.String(), placeOf(conf, "sandbox.mode")
	}
	if conf.Backend != config.BackendUnset {
		i.Backend, i.backendBy = conf.Backend.String(), placeOf(conf, "workspace.backend")
	}
	i.PassEnv = conf.PassEnvPatterns()
	s := p.surroundings()
	if i.Hide, err = s.HidePaths(conf.Hide); err != nil {
		return i, refused(err)
	}
	s.Hide = i.Hide
	if i.Write, err = s.WriteFolders(conf.Write); err != nil {
		return i, refused(err)
	}
	stores, err := p.repo.CredentialFiles(ctx, p.env.Getenv("HOME"))
	i.Hide = with(i.Hide, stores)
	return i, err
}

// placeOf names a key where a file sets it, else the variable that does.
func placeOf(conf *config.Config, key string) string {
	origin, _ := conf.Origin(key)
	if origin.Layer == config.Environment {
		return origin.String()
	}
	return origin.String() + ": " + key
}

// surroundings are what configured paths are held against.
func (p *place) surroundings() config.Surroundings {
	home := p.env.Getenv("HOME")
	return config.Surroundings{
		Home: home, Repo: []string{p.rootDir(), p.repo.CommonDir}, State: p.root,
		Closed: box.Hidden(box.Place{Home: home, Sockets: control.Folders(p.env.Getenv), Getenv: p.env.Getenv}),
	}
}

// agentWrites are the folders that one agent may write to.
func (p *place) agentWrites(pl *plan, a config.Agent, absent bool) ([]string, error) {
	s := p.surroundings()
	s.Hide, s.Absent = pl.isolation.Hide, absent
	logins := box.Logins(s.Home) // its own, as its user says
	s.Closed = slices.DeleteFunc(s.Closed, func(path string) bool { return slices.Contains(logins, path) })
	folders, err := s.WriteFolders(a.Write)
	return folders, refused(err)
}

// readIsolationFlags lays the flags over what is configured or recorded.
func (p *place) readIsolationFlags(c *cli.Context, i *isolation) error {
	if c.IsSet("sandbox") {
		var mode config.Sandbox
		if err := mode.UnmarshalText([]byte(c.String("sandbox"))); err != nil {
			return usagef("%s: --sandbox %q: want auto, require or off", c.Command.Name, c.String("sandbox"))
		}
		i.Sandbox, i.sandboxBy = mode.String(), "--sandbox="+mode.String()
	}
	if c.IsSet("backend") {
		var backend config.Backend
		if err := backend.UnmarshalText([]byte(c.String("backend"))); err != nil {
			return usagef("%s: --backend %q: want auto, overlay, reflink, copy or worktree", c.Command.Name, c.String("backend"))
		}
		i.Backend, i.backendBy = backend.String(), "--backend="+backend.String()
	}
	for _, pattern := range c.StringSlice("pass-env") {
		if err := environ.CheckPattern(pattern); err != nil {
			return usagef("%s: --pass-env: %v", c.Command.Name, err)
		}
	}
	i.PassEnv = with(i.PassEnv, c.StringSlice("pass-env"))
	if c.IsSet("hide") && i.open() {
		return usagef("%s: --hide needs a sandbox, and there is none: %s", c.Command.Name, i.sandboxFrom())
	}
	s := p.surroundings()
	hidden, err := s.HidePaths(p.flagPaths(c, "hide"))
	if err != nil {
		return flagError(c, "hide", err)
	}
	i.Hide = with(i.Hide, hidden)
	s.Hide = i.Hide
	written, err := s.WriteFolders(p.flagPaths(c, "write"))
	if err != nil {
		return flagError(c, "write", err)
	}
	// What a flag hides may be open by what a file says.
	i.Write = with(i.Write, written)
	if len(hidden) == 0 {
		return nil
	}
	s.Absent = true
	_, err = s.WriteFolders(plainPaths(i.Write))
	return flagError(c, "hide", err)
}

// flagPaths are the values of a flag. A relative one is below the folder where
// the command was given.
func (p *place) flagPaths(c *cli.Context, flag string) []config.Path {
	texts := slices.Clone(c.StringSlice(flag))
	for i, text := range texts {
		if text != "" && !filepath.IsAbs(text) && !strings.HasPrefix(text, "~/") {
			texts[i] = filepath.Join(p.dir, text)
		}
	}
	return plainPaths(texts)
}

// plainPaths are paths that stand in no file.
func plainPaths(texts []string) []config.Path {
	all := make([]config.Path, len(texts))
	for i, text := range texts {
		all[i].Text = text
	}
	return all
}

// flagError refuses a path that a flag gives.
func flagError(c *cli.Context, flag string, err error) error {
	var bad *config.Error
	if errors.As(err, &bad) {
		return usagef("%s: --%s: %s", c.Command.Name, flag, bad.Reason)
	}
	return err
}

// with is a list and what is new of another.
func with(list, more []string) []string {
	list = slices.Clone(list)
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

func (i isolation) sandboxFrom() string { return cmp.Or(i.sandboxBy, "sandbox "+i.Sandbox) }

func (i isolation) backendFrom() string { return cmp.Or(i.backendBy, "backend "+i.Backend) }

// isolated is what a machine gives of what was asked for.
type isolated struct {
	rung    box.Rung
	why     error // why no better rung
	backend worktree.Backend
	// passed over are the cheaper backends that do not work here, and why.
	passed []error
}

// isolate finds out what this machine can do. What was asked for by name and
// cannot be had is refused.
func (p *place) isolate(ctx context.Context, wanted isolation) (got isolated, err error) {
	// Not by the kept binary: a plan that is refused has written nothing.
	if got.rung, got.why, err = p.probe(ctx, p.env.Self); err != nil {
		return got, err
	}
	if wanted.Sandbox == sandboxRequire && !got.rung.Namespaces() {
		return got, refused(fmt.Errorf("%s: there are no namespaces here: %s", wanted.sandboxFrom(), oneLine(got.why)))
	}
	for _, backend := range worktree.Backends() {
		if wanted.anyBackend() || wanted.Backend == string(backend) {
			err := p.possible(got.rung, backend)
			if err == nil {
				got.backend = backend
				return got, nil
			}
			got.passed = append(got.passed, fmt.Errorf("%s: %w", backend, err))
		}
	}
	return got, refused(fmt.Errorf("%s: %s", wanted.backendFrom(), oneLine(errors.Join(got.passed...))))
}

// possible says why a backend does not work here; nil where it does.
func (p *place) possible(rung box.Rung, backend worktree.Backend) error {
	if backend == worktree.Overlay && !rung.Overlay() {
		return fmt.Errorf("no overlay can be mounted in the sandbox %s", rung)
	}
	return precheck.Refuses(backend, precheck.Surroundings{
		At: p.rootDir(), State: p.state.Dir, Home: p.env.Getenv("HOME"), Caches: box.CacheFolders(p.env.Getenv),
	})
}

// oneLine is an error for a message of one line.
func oneLine(err error) string {
	if err == nil {
		return "nothing says why"
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}

// wallsWord names the walls, for a person and the journal.
func (b *bench) wallsWord() string {
	if b.isolation.open() && b.rung.Namespaces() {
		return "off, but for namespaces (" + b.rung.String() + ")"
	}
	if b.isolation.open() {
		return "off"
	}
	return b.rung.String()
}

// saySandbox prints the line that names the sandbox of the run.
func (b *bench) saySandbox() {
	fmt.Fprintln(b.env.Stderr, "sandbox: "+Printable(b.place.sandboxLine(b.isolation, b.isolated)))
}

// sandboxLine names the sandbox and the kind of workspaces. Where a better one
// exists it gives the reason, and the remedy.
func (p *place) sandboxLine(wanted isolation, got isolated) string {
	word := got.rung.Short()
	switch {
	case wanted.open():
		word = "off"
	case got.rung == box.None:
		word += " (agents can change all your files)"
	}
	line := word + ", workspaces " + p.workspacesWord(got.backend)
	switch {
	case got.why != nil && !got.rung.Namespaces():
		return line + "; " + p.advice(got.why).String()
	case got.why != nil:
		return line + "; " + oneLine(got.why)
	case len(got.passed) > 0:
		return line + "; not " + oneLine(got.passed[0])
	default:
		return line
	}
}

// advice explains why there are no namespaces.
func (p *place) advice(why error) userns.Advice {
	if p.env.Getenv("SWARM_RUN") != "" {
		return userns.Advice{Reason: "this is inside the sandbox of another run"}
	}
	return userns.Read(p.env.Getenv).Explain(why, apparmor.Remedy(p.env.Self, p.env.Getenv))
}

// workspacesWord names a backend. Of copies it says how long each takes, if
// one notices and none can be reused.
func (p *place) workspacesWord(backend worktree.Backend) string {
	if backend != worktree.Copied {
		return string(backend)
	}
	took := worktree.CopyTime(filepath.Join(p.repo.GitDir, "index")).Round(time.Second)
	if took < time.Second || pool.Pooled(p.state.Pool()) {
		return "copied"
	}
	return fmt.Sprintf("copied (about %d s each)", int(took.Seconds()))
}

// mountedAt is where agents see workspaces that are not linked worktrees: at the
// path of the user's checkout. It is empty where nothing can be mounted: there
// they work where the files lie, since at that path would be the user's own.
func (b *bench) mountedAt() string {
	if !b.rung.Namespaces() {
		return ""
	}
	return b.rootDir()
}

// walled reports whether walls stand around what is run.
func (b *bench) walled() bool { return b.rung.Namespaces() && !b.isolation.open() }
