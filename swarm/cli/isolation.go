package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/apparmor"
	"agentswarm/swarm/box"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/config"
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
	if err := p.Given(&pl.isolation); err != nil {
		return err
	}
	if pl.verb == "resume" {
		// It is not what the run has recorded, which is all that would be
		// looked at.
		planned := pl.isolation
		p.Given = func(i *isolation.Settings) error { *i = planned; return nil }
	}
	if pl.isolation.Demanding() {
		_, err = session.FindIsolation(ctx, &p.Place, pl.isolation)
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
	return folders, cmdline.Refused(err)
}

// saySandbox prints the line that names the sandbox of the run.
func (b *bench) saySandbox() {
	fmt.Fprintln(b.Env.Stderr, "sandbox: "+termtext.Line(b.at().sandboxLine(b.Sandbox.Settings, b.Sandbox.Found)))
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
	case got.Why != nil:
		return line + "; " + p.adviceLine(got.Rung, got.Why)
	case len(got.PassedOver) > 0:
		return line + "; not " + termtext.ErrorLine(got.PassedOver[0])
	default:
		return line
	}
}

// adviceLine explains in a line why there is no better sandbox.
func (p *place) adviceLine(rung box.Rung, why error) string {
	if rung.Namespaces() {
		return termtext.ErrorLine(why)
	}
	return p.advice(why).String()
}

// advice explains why there are no namespaces.
func (p *place) advice(why error) userns.Advice {
	if p.Env.Getenv("SWARM_RUN") != "" {
		return userns.Advice{Reason: "this is inside the sandbox of another run"}
	}
	return userns.Read(p.Env.Getenv).Explain(why, apparmor.Remedy(p.Env.Self, p.Env.Getenv))
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
