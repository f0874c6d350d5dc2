package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/apparmor"
	"agentswarm/swarm/box"
	"agentswarm/swarm/config"
	"agentswarm/swarm/environ"
	"agentswarm/swarm/isolation"
	"agentswarm/swarm/userns"
	"agentswarm/worktree"
	"agentswarm/worktree/pool"
)

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
	if pl.isolation, err = isolation.Configured(ctx, &p.Project, conf); err != nil {
		return err
	}
	if err := p.given(&pl.isolation); err != nil {
		return err
	}
	if pl.verb == "resume" {
		// It is not what the run has recorded, which is all that would be
		// looked at.
		planned := pl.isolation
		p.given = func(i *isolation.Settings) error { *i = planned; return nil }
	}
	if pl.isolation.Demanding() {
		_, err = p.isolate(ctx, pl.isolation)
	}
	return err
}

// agentWrites are the folders that one agent may write to.
func (p *place) agentWrites(pl *plan, a config.Agent, absent bool) ([]string, error) {
	s := isolation.Surroundings(&p.Project)
	s.Hide, s.Absent = pl.isolation.Hide, absent
	logins := box.Logins(s.Home) // its own, as its user says
	s.Closed = slices.DeleteFunc(s.Closed, func(path string) bool { return slices.Contains(logins, path) })
	folders, err := s.WriteFolders(a.Write)
	return folders, refused(err)
}

// readIsolationFlags lays the flags over what is configured or recorded.
func (p *place) readIsolationFlags(c *cli.Context, i *isolation.Settings) error {
	if c.IsSet("sandbox") {
		var mode config.Sandbox
		if err := mode.UnmarshalText([]byte(c.String("sandbox"))); err != nil {
			return usagef("%s: --sandbox %q: want auto, require or off", c.Command.Name, c.String("sandbox"))
		}
		i.Sandbox, i.SandboxBy = mode.String(), "--sandbox="+mode.String()
	}
	if c.IsSet("backend") {
		var backend config.Backend
		if err := backend.UnmarshalText([]byte(c.String("backend"))); err != nil {
			return usagef("%s: --backend %q: want auto, overlay, reflink, copy or worktree", c.Command.Name, c.String("backend"))
		}
		i.Backend, i.BackendBy = backend.String(), "--backend="+backend.String()
	}
	for _, pattern := range c.StringSlice("pass-env") {
		if err := environ.CheckPattern(pattern); err != nil {
			return usagef("%s: --pass-env: %v", c.Command.Name, err)
		}
	}
	i.PassEnv = isolation.Union(i.PassEnv, c.StringSlice("pass-env"))
	if c.IsSet("hide") && i.Off() {
		return usagef("%s: --hide needs a sandbox, and there is none: %s", c.Command.Name, i.SandboxSource())
	}
	s := isolation.Surroundings(&p.Project)
	hidden, err := s.HidePaths(p.flagPaths(c, "hide"))
	if err != nil {
		return flagError(c, "hide", err)
	}
	i.Hide = isolation.Union(i.Hide, hidden)
	s.Hide = i.Hide
	written, err := s.WriteFolders(p.flagPaths(c, "write"))
	if err != nil {
		return flagError(c, "write", err)
	}
	// A file may open a path that a flag hides.
	i.Write = isolation.Union(i.Write, written)
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
			texts[i] = filepath.Join(p.Dir, text)
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

// saySandbox prints the line that names the sandbox of the run.
func (b *bench) saySandbox() {
	fmt.Fprintln(b.env.Stderr, "sandbox: "+Printable(b.place.sandboxLine(b.sandbox.Settings, b.sandbox.Found)))
}

// sandboxLine names the sandbox and the kind of workspaces. Where a better one
// exists it gives the reason, and the remedy.
func (p *place) sandboxLine(wanted isolation.Settings, got isolation.Found) string {
	word := got.Rung.Short()
	switch {
	case wanted.Off():
		word = "off"
	case got.Rung == box.None:
		word += " (agents can change all your files)"
	}
	line := word + ", workspaces " + p.workspacesWord(got.Backend)
	switch {
	case got.Why != nil && !got.Rung.Namespaces():
		return line + "; " + p.advice(got.Why).String()
	case got.Why != nil:
		return line + "; " + oneLine(got.Why)
	case len(got.PassedOver) > 0:
		return line + "; not " + oneLine(got.PassedOver[0])
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
	took := worktree.CopyTime(filepath.Join(p.Repo.GitDir, "index")).Round(time.Second)
	if took < time.Second || pool.Pooled(p.State.Pool()) {
		return "copied"
	}
	return fmt.Sprintf("copied (about %d s each)", int(took.Seconds()))
}

// isolate finds the sandbox and the backend for settings.
func (p *place) isolate(ctx context.Context, wanted isolation.Settings) (isolation.Found, error) {
	// Not by the kept binary: a plan that is refused has written nothing.
	return isolation.Find(ctx, &p.Project, p.env.Self, wanted)
}

// oneLine is an error for a message of one line.
func oneLine(err error) string { return termtext.ErrorLine(err) }
