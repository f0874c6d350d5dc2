package configcmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/follow"
	"agentswarm/swarm/config"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/initconfig"
	"agentswarm/swarm/project"
)

// NewInit returns the command init.
func NewInit(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:  "init",
		Usage: "write a configuration for this repository",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "force", Usage: "replace the file, and keep the old one as config.toml.bak"},
			&cli.BoolFlag{Name: "print", Usage: "print the file instead of writing it"},
		},
		Description: `Finds out how this checkout is built and tested, and which agents are on your PATH.
It writes .swarm/config.toml with comments, and prints its findings on standard
error. The commands in that file count as approved. On a terminal it may ask
whether agents may destroy their own files, and writes the answer to your own
configuration. No other file changes.

Examples:
  swarm init
  swarm init --print
  swarm init --force`,
		Action: func(c *cli.Context) error { return initAction(c, env) },
	}
}

func initAction(c *cli.Context, env cmdline.Env) error {
	if _, err := cmdline.Arguments(c, 0, 0); err != nil {
		return err
	}
	onlyPrint, force := c.Bool("print"), c.Bool("force")
	if onlyPrint && force {
		return exit.Usagef("init: --print writes no file, so there is nothing to --force")
	}
	p, err := cmdline.Open(c, env)
	if err != nil {
		return err
	}
	if p.Repo.Bare() {
		return exit.Usagef("init: a bare repository has no checkout to write %s in", project.ConfigName)
	}
	root, err := os.OpenRoot(p.Repo.TopLevel)
	if err != nil {
		return err
	}
	defer root.Close() // only a folder that was read
	if err := initconfig.CheckFolder(root); err != nil {
		return err
	}
	if !onlyPrint {
		if err := initconfig.CheckFree(root, force); err != nil {
			return err
		}
	}
	s, err := initconfig.Look(c.Context, p.Repo, root, env.Getenv("PATH"))
	if err != nil {
		return err
	}
	if onlyPrint {
		if _, err := io.WriteString(env.Stdout, s.Text()); err != nil {
			return err
		}
		return printLines(p, append(s.Found(), s.Hints()...))
	}
	if err := initconfig.Write(root, s.Text(), force); err != nil {
		return fmt.Errorf("init: %w", err)
	}
	lines := s.Found()
	approved, err := approveOwn(p, s.Text())
	if err != nil {
		return fmt.Errorf("init: %s is written, but not approved: %w", project.ConfigName, err)
	}
	if approved != "" {
		lines = append(lines, approved)
	}
	if err := printLines(p, append(lines, s.Hints()...)); err != nil {
		return err
	}
	if err := follow.OfferConfined(c.Context, p); err != nil {
		return err
	}
	_, err = fmt.Fprintln(env.Stdout, filepath.Join(p.Repo.TopLevel, project.ConfigName))
	return err
}

func printLines(p *cmdline.Place, lines []string) error {
	_, err := io.WriteString(p.Env.Stderr, strings.Join(lines, "\n")+"\n")
	return err
}

// approveOwn approves the commands that init itself has written, and says so:
// the user asked for them. An agent that runs init approves nothing.
func approveOwn(p *cmdline.Place, text string) (string, error) {
	own, err := config.Load(config.Source{
		Layer: config.Project, Name: project.ConfigName, Text: []byte(text),
	})
	if err != nil {
		return "", err
	}
	items := own.Needs(config.Use{Warm: true, Setup: true, Verify: true})
	if len(items) == 0 {
		return "", nil
	}
	var keys []string
	for _, item := range items {
		keys = append(keys, item.Key)
	}
	what := strings.Join(keys, " and ")
	err = cmdline.Personal(p.Env, "approving commands")
	if err == nil {
		err = p.Personal("approving commands")
	}
	var agent *cmdline.AgentError
	switch {
	case errors.As(err, &agent):
		return "not approved, since an agent wrote it: " + what, nil
	case err != nil:
		return "", err
	}
	if err := p.Trust().Approve(items); err != nil {
		return "", err
	}
	return "approved, until it changes: " + what, nil
}
