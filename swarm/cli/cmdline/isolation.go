package cmdline

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/config"
	"agentswarm/swarm/environ"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/isolation"
)

// readIsolationFlags lays the flags over the configured or recorded isolation.
func (p *Place) readIsolationFlags(c *cli.Context, i *isolation.Settings) error {
	if c.IsSet("sandbox") {
		var mode config.Sandbox
		if err := mode.UnmarshalText([]byte(c.String("sandbox"))); err != nil {
			return exit.Usagef("%s: --sandbox %q: want auto, require or off", c.Command.Name, c.String("sandbox"))
		}
		i.Sandbox, i.SandboxBy = mode.String(), "--sandbox="+mode.String()
	}
	if c.IsSet("backend") {
		var backend config.Backend
		if err := backend.UnmarshalText([]byte(c.String("backend"))); err != nil {
			return exit.Usagef("%s: --backend %q: want auto, overlay, reflink, copy or worktree", c.Command.Name, c.String("backend"))
		}
		i.Backend, i.BackendBy = backend.String(), "--backend="+backend.String()
	}
	for _, pattern := range c.StringSlice("pass-env") {
		if err := environ.CheckPattern(pattern); err != nil {
			return exit.Usagef("%s: --pass-env: %v", c.Command.Name, err)
		}
	}
	i.PassEnv = isolation.Union(i.PassEnv, c.StringSlice("pass-env"))
	if c.IsSet("hide") && i.Off() {
		return exit.Usagef("%s: --hide needs a sandbox, and there is none: %s", c.Command.Name, i.SandboxSource())
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

// flagPaths are the values of a flag. A relative path is below the folder of
// the command line.
func (p *Place) flagPaths(c *cli.Context, flag string) []config.Path {
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
		return exit.Usagef("%s: --%s: %s", c.Command.Name, flag, bad.Reason)
	}
	return err
}
