package plan

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
	"agentswarm/swarm/box"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/config"
	"agentswarm/swarm/isolation"
	"agentswarm/swarm/userns"
	"agentswarm/worktree"
	"agentswarm/worktree/pool"
)

// IsolationFlags are those of every command that runs agents.
func IsolationFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "sandbox", Usage: "run agents in a sandbox: `auto|require|off`; require accepts only namespaces (default: auto)"},
		&cli.StringFlag{Name: "backend", Usage: "backend of workspaces: `auto|overlay|reflink|copy|worktree` (default: auto, the cheapest that works)"},
		&cli.StringSliceFlag{Name: "hide", Usage: "hide the file or folder `PATH` from agents; may be given again"},
		&cli.StringSliceFlag{Name: "write", Usage: "let agents also write to the folder `DIR`; may be given again"},
		&cli.StringSliceFlag{Name: "pass-env", Usage: "pass the variable `NAME` to agents, setup and checks; * matches any characters; may be given again"},
	}
}

// planIsolation lays the flags over the configured isolation. It refuses an
// isolation that was named and is not possible.
func planIsolation(ctx context.Context, p *cmdline.Place, pl *Plan, conf *config.Config) (err error) {
	if pl.Isolation, err = isolation.Configured(ctx, &p.Project, conf); err != nil {
		return err
	}
	if err := p.Given(&pl.Isolation); err != nil {
		return err
	}
	if pl.Verb == "resume" {
		// The plan differs from the recorded isolation of the run; without this
		// line only that would be read.
		planned := pl.Isolation
		p.Given = func(i *isolation.Settings) error { *i = planned; return nil }
	}
	if pl.Isolation.Demanding() {
		_, err = session.FindIsolation(ctx, p, pl.Isolation)
	}
	return err
}

// agentWrites are the folders that an agent may write to.
func agentWrites(p *cmdline.Place, pl *Plan, a config.Agent, absent bool) ([]string, error) {
	s := isolation.Surroundings(&p.Project)
	s.Hide, s.Absent = pl.Isolation.Hide, absent
	logins := box.Logins(s.Home) // its own, as its user says
	s.Closed = slices.DeleteFunc(s.Closed, func(path string) bool { return slices.Contains(logins, path) })
	folders, err := s.WriteFolders(a.Write)
	return folders, cmdline.Refused(err)
}

// SandboxLine names the sandbox and the kind of workspaces. If a better sandbox
// exists it gives the reason, and the remedy.
func SandboxLine(p *cmdline.Place, wanted isolation.Settings, got isolation.Found) string {
	word := got.Level.Short()
	switch {
	case wanted.Off():
		word = "off"
	case got.Level == box.None:
		word += " (agents can change all your files)"
	}
	line := word + ", workspaces " + workspacesWord(p, got.Backend)
	switch {
	case wanted.Off() && got.Why != nil:
		return line // A better one was not wanted.
	case got.Why != nil:
		return line + "; " + AdviceLine(p, got.Level, got.Why)
	case len(got.PassedOver) > 0:
		return line + "; not " + termtext.ErrorLine(got.PassedOver[0])
	default:
		return line
	}
}

// AdviceLine explains in a line why there is no better sandbox.
func AdviceLine(p *cmdline.Place, level box.Level, why error) string {
	if !level.Namespaces() {
		return isolation.Advice(p.Env.Getenv, p.Env.Self, why).String()
	}
	var all []string
	if proc := userns.Read(p.Env.Getenv).ExplainProc(); !level.FreshProc() && proc.Reason != "" && p.Env.Getenv("SWARM_RUN") == "" {
		all = append(all, proc.String())
	}
	// The kernel's words for a file system that overlays cannot write to.
	if !level.Overlay() && strings.Contains(why.Error(), "not supported as upperdir") {
		all = append(all, "the file system of the state folder takes no overlays: set SWARM_STATE_DIR to a folder on a volume that you can write to")
	}
	if len(all) == 0 {
		return termtext.ErrorLine(why)
	}
	var apart *box.ViewRefusal
	if errors.As(why, &apart) {
		all = append(all, termtext.ErrorLine(apart))
	}
	return strings.Join(all, "; ")
}

// workspacesWord names a backend. For copies it adds how long each takes, if
// that is noticeable and none can be reused.
func workspacesWord(p *cmdline.Place, backend worktree.Backend) string {
	if backend != worktree.Copied {
		return string(backend)
	}
	took := worktree.CopyTime(filepath.Join(p.Repo.GitDir, "index")).Round(time.Second)
	if took < time.Second || pool.Pooled(p.State.Pool()) {
		return "copied"
	}
	return fmt.Sprintf("copied (about %d s each)", int(took.Seconds()))
}
