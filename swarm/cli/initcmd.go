package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/fspath"
	"agentswarm/swarm/agent/kinds"
	"agentswarm/swarm/config"
	"agentswarm/swarm/project"
	"agentswarm/worktree/git"
)

func newInitCommand(env Env) *cli.Command {
	return &cli.Command{
		Name:  "init",
		Usage: "write a configuration for this repository",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "force", Usage: "replace the file, and keep the old one as config.toml.bak"},
			&cli.BoolFlag{Name: "print", Usage: "print the file instead of writing it"},
		},
		Description: `Finds out how this checkout is built and tested, and which agents are on your PATH.
It writes .swarm/config.toml with comments, and prints its findings on standard
error. The commands in that file count as approved. No other file changes.

Examples:
  swarm init
  swarm init --print
  swarm init --force`,
		Action: func(c *cli.Context) error { return initAction(c, env) },
	}
}

func initAction(c *cli.Context, env Env) error {
	if _, err := arguments(c, 0, 0); err != nil {
		return err
	}
	onlyPrint, force := c.Bool("print"), c.Bool("force")
	if onlyPrint && force {
		return usagef("init: --print writes no file, so there is nothing to --force")
	}
	p, err := openPlace(c, env)
	if err != nil {
		return err
	}
	if p.Repo.Bare() {
		return usagef("init: a bare repository has no checkout to write %s in", project.ConfigName)
	}
	root, err := os.OpenRoot(p.Repo.TopLevel)
	if err != nil {
		return err
	}
	defer root.Close() // only a folder that was read
	if err := checkConfigFolder(root); err != nil {
		return err
	}
	if !onlyPrint {
		if err := checkConfigFree(root, force); err != nil {
			return err
		}
	}
	s, err := p.survey(c.Context, checkout{root})
	if err != nil {
		return err
	}
	if onlyPrint {
		if _, err := io.WriteString(env.Stdout, s.text()); err != nil {
			return err
		}
		return p.tell(append(s.found(), s.hints()...))
	}
	if err := writeProjectConfig(root, s.text(), force); err != nil {
		return fmt.Errorf("init: %w", err)
	}
	lines := s.found()
	approved, err := p.approveOwn(s.text())
	if err != nil {
		return fmt.Errorf("init: %s is written, but not approved: %w", project.ConfigName, err)
	}
	if approved != "" {
		lines = append(lines, approved)
	}
	if err := p.tell(append(lines, s.hints()...)); err != nil {
		return err
	}
	if err := p.offerConfined(c.Context); err != nil {
		return err
	}
	_, err = fmt.Fprintln(env.Stdout, filepath.Join(p.Repo.TopLevel, project.ConfigName))
	return err
}

func (p *place) tell(lines []string) error {
	_, err := io.WriteString(p.env.Stderr, strings.Join(lines, "\n")+"\n")
	return err
}

// checkConfigFolder refuses to work through something that is no folder: a
// link may lead to anywhere, and its target is not ours.
func checkConfigFolder(root *os.Root) error {
	dir := filepath.Dir(project.ConfigName)
	stat, err := root.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("init: %w", err)
	case !stat.IsDir():
		return usagef("init: %s is not a folder; move it away first", dir)
	}
	return nil
}

// checkConfigFree refuses to write where something is that must stay.
func checkConfigFree(root *os.Root, force bool) error {
	stat, err := root.Lstat(project.ConfigName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("init: %w", err)
	case !stat.Mode().IsRegular():
		return usagef("init: %s is not a regular file; move it away first", project.ConfigName)
	case !force:
		return usagef("init: %s exists; --force replaces it and keeps the old one as config.toml.bak", project.ConfigName)
	}
	if _, err := root.Lstat(project.ConfigName + ".bak"); !errors.Is(err, fs.ErrNotExist) {
		return usagef("init: %s.bak exists too; move it away first", project.ConfigName)
	}
	return nil
}

// writeProjectConfig puts the text in its place, whole or not at all. With
// force a file that is there is kept under another name; without, one that
// has come since we looked is an error.
func writeProjectConfig(root *os.Root, text string, force bool) (err error) {
	dir, name := filepath.Dir(project.ConfigName), filepath.Base(project.ConfigName)
	if err := root.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	folder, err := root.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	fresh := "." + name + "." + rand.Text()
	if err := fspath.WriteNew(folder, fresh, strings.NewReader(text)); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, folder.Remove(fresh))
		}
	}()
	if force {
		if err := keepOld(folder, name); err != nil {
			return err
		}
		return folder.Rename(fresh, name)
	}
	// Unlike a rename, a link never replaces.
	err = folder.Link(fresh, name)
	switch {
	case err == nil:
		return folder.Remove(fresh)
	case errors.Is(err, fs.ErrExist):
		return err
	default: // this file system has no links
		return folder.Rename(fresh, name)
	}
}

// keepOld copies the file that is to be replaced, if there is one.
func keepOld(folder *os.Root, name string) error {
	old, err := folder.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(fspath.WriteNew(folder, name+".bak", old), old.Close())
}

// approveOwn approves what init itself has written, and says so: the user
// asked for it. An agent that runs init approves nothing.
func (p *place) approveOwn(text string) (string, error) {
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
	err = p.env.personal("approving commands")
	if err == nil {
		err = p.personal("approving commands")
	}
	var agent *AgentError
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

// survey looks at the checkout and the PATH.
func (p *place) survey(ctx context.Context, c checkout) (survey, error) {
	s := survey{ecosystems: c.ecosystems(), makefile: c.makeTest()}
	asked := []string{project.LocalConfigName}
	present := []string{}
	for _, name := range []string{"node_modules", ".venv", "venv", "vendor", "deps", ".env"} {
		if c.hasFolder(name) || c.has(name) {
			present = append(present, name)
		}
	}
	asked = append(asked, present...)
	for _, e := range s.ecosystems {
		// Git refuses a slash behind a link.
		if _, err := c.root.Lstat(e.makes); e.makes != "" && errors.Is(err, fs.ErrNotExist) {
			asked = append(asked, e.makes+"/")
		}
	}
	ignored, err := p.ignored(ctx, asked)
	if err != nil {
		return s, err
	}
	s.localShows = !ignored[project.LocalConfigName]
	for _, name := range present {
		if ignored[name] {
			s.absent = append(s.absent, name)
		}
	}
	for i, e := range s.ecosystems {
		if e.makes != "" && e.doubt == "" && !ignored[e.makes+"/"] && !ignored[e.makes] {
			s.ecosystems[i].doubt = "git does not ignore " + e.makes + ", which would get into every patch"
		}
	}
	for _, a := range agentCLIs() {
		if p.onPath(a.program) {
			s.agents = append(s.agents, a)
		}
	}
	return s, nil
}

func (p *place) onPath(name string) bool {
	for _, dir := range filepath.SplitList(p.env.Getenv("PATH")) {
		if filepath.IsAbs(dir) && kinds.Executable(filepath.Join(dir, name)) {
			return true
		}
	}
	return false
}

// ignored are those of the paths, relative to the root, that git ignores. A
// folder that is not there has to end in a slash.
func (p *place) ignored(ctx context.Context, paths []string) (map[string]bool, error) {
	out, err := p.Repo.Run(ctx, git.Cmd{
		Args:  []string{"check-ignore", "-z", "--stdin"},
		Stdin: strings.NewReader(strings.Join(paths, "\x00") + "\x00"),
	})
	var none *git.Error
	if err != nil && !(errors.As(err, &none) && none.Code == 1) {
		return nil, fmt.Errorf("init: ask git what it ignores: %w", err)
	}
	ignored := map[string]bool{}
	for name := range strings.SplitSeq(string(out), "\x00") {
		ignored[name] = true
	}
	return ignored, nil
}
