package cmdline

import (
	"context"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/swarm/pager"
	"agentswarm/worktree/git"
)

// Page shows the further output of the command in the pager of the user, where a
// person looks at it. [Main] waits for it at the end.
func Page(p *Place, c *cli.Context) error {
	out, ok := p.Env.Stdout.(*Sink)
	term := terminal.Detect(p.Env.Stdout, p.Env.Getenv)
	kind := p.Env.Getenv("TERM")
	if !ok || !term.TTY || kind == "" || kind == "dumb" || Invoked(c).NoPager {
		return nil
	}
	core, err := ownSetting(c.Context, p, "core", "pager")
	if err != nil {
		return err
	}
	command := pager.Choice{Getenv: p.Env.Getenv, Core: core}.Command()
	if command == "" {
		return nil
	}
	shown, err := pager.Start(pager.Request{
		Command: command, Environ: p.Env.Environ, Dir: p.Dir,
		Stdout: Unwrapped(out), Stderr: Unwrapped(p.Env.Stderr),
	})
	if err != nil {
		return err
	}
	out.Through(shown)
	return nil
}

// ownSetting is a value of the user's own configuration of git, or of the
// system's; empty for none. The repository's own configuration does not count:
// agents may be able to write to it, and the value is a command to run.
func ownSetting(ctx context.Context, p *Place, section, name string) (string, error) {
	list := func(ctx context.Context) ([]git.Setting, error) {
		return git.New(p.Env.Environ).SettingsAt(ctx, p.Dir)
	}
	if p.Repo != nil {
		list = p.Repo.Settings
	}
	settings, err := list(ctx)
	if err != nil {
		return "", err
	}
	value := ""
	for _, s := range settings {
		own := s.Scope == "global" || s.Scope == "system"
		if own && s.Section == section && s.Of == "" && s.Name == name {
			value = s.Value
		}
	}
	return value, nil
}
