package initconfig

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"agentswarm/swarm/agent/kinds"
	"agentswarm/swarm/project"
	"agentswarm/worktree/git"
)

// Look finds out how the checkout of repo is built and tested, and which agents lie
// in the folders of path, a list like PATH. root is the top of the checkout.
func Look(ctx context.Context, repo *git.Repo, root *os.Root, path string) (Survey, error) {
	c := checkout{root}
	s := Survey{ecosystems: c.ecosystems(), makefile: c.makeTest()}
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
	ignored, err := ignoredBy(ctx, repo, asked)
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
		if onPath(path, a.program) {
			s.agents = append(s.agents, a)
		}
	}
	return s, nil
}

func onPath(path, name string) bool {
	for _, dir := range filepath.SplitList(path) {
		if filepath.IsAbs(dir) && kinds.Executable(filepath.Join(dir, name)) {
			return true
		}
	}
	return false
}

// ignoredBy lists the paths, relative to the top of the checkout, that git ignores. A
// missing folder has to end in a slash.
func ignoredBy(ctx context.Context, repo *git.Repo, paths []string) (map[string]bool, error) {
	out, err := repo.Run(ctx, git.Cmd{
		Args:  []string{"check-ignore", "-z", "--stdin"},
		Stdin: strings.NewReader(strings.Join(paths, "\x00") + "\x00"),
	})
	var none *git.Error
	if err != nil && !(errors.As(err, &none) && none.Code == 1) {
		return nil, fmt.Errorf("init: ask git for ignored files: %w", err)
	}
	ignored := map[string]bool{}
	for name := range strings.SplitSeq(string(out), "\x00") {
		ignored[name] = true
	}
	return ignored, nil
}
