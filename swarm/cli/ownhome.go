package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"agentswarm/swarm/box"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/environ"
	"agentswarm/swarm/privatehome"
	"agentswarm/worktree"
)

// ownHome is the HOME and the TMPDIR of whatever runs in a sandbox.
type ownHome struct {
	private string // where the sandbox keeps what is written outside of the workspace
	tmp     string // TMPDIR; empty: the caller's
	env     []string
	write   []string // more folders that may be written to
}

// ownHome makes them. Where mounts are possible they stand at the paths of the
// user's; with Landlock alone they are folders of their own.
func (b *bench) ownHome(r engine.WallsRequest) (own ownHome, err error) {
	own.private = r.Private
	switch {
	case b.rung == box.None || b.isolation.open():
		return own, nil
	case b.rung != box.Landlock:
		own.tmp = "/tmp"
		return own, nil
	}
	if own.private, err = b.run.MakeScratch(r.Private); err != nil {
		return own, err
	}
	own.tmp = box.TmpOf(own.private)
	template, err := b.homeTemplate(own.private)
	if err != nil {
		return own, err
	}
	home := box.HomeOf(own.private)
	// tmux has all of a user's sessions in one folder of /tmp.
	own.env = append(template.Environ(home), "TMUX_TMPDIR="+own.tmp)
	own.write = template.Writable()
	if exists(home) {
		return own, nil // An agent was there: nothing is written below it from outside.
	}
	if err := template.Build(home); err != nil {
		return own, err
	}
	return own, b.linkGiven(home, slices.Concat(b.isolation.Write, r.Write))
}

// homeTemplate is what the private HOMEs of a run have in common. Outside of a
// run that is driven, such as for the check of a merge, each has its own.
func (b *bench) homeTemplate(private string) (*privatehome.Template, error) {
	if b.homes != nil {
		return b.homes()
	}
	return b.prepareHome(filepath.Join(private, "caches"))
}

func (b *bench) prepareHome(caches string) (*privatehome.Template, error) {
	hidden := append(b.surroundings().Closed, filepath.Dir(b.state.Dir))
	for _, path := range b.isolation.Hide {
		hidden = append(hidden, expandHome(path, b.env.Getenv("HOME")))
	}
	rules := environ.Rules{Pass: b.isolation.PassEnv}
	return privatehome.Prepare(privatehome.Request{
		Home: b.env.Getenv("HOME"), Hidden: hidden, Shared: caches, Getenv: b.env.Getenv,
		// Others, such as XDG_CONFIG_HOME, are read and not passed.
		Passes: func(name, value string) bool { return !environ.Plain(name) || rules.Passes(name, value) },
	})
}

// shareCaches has the agents of a run that is driven share the caches of tools.
// unshare removes them.
func (b *bench) shareCaches() (unshare func() error) {
	if b.rung != box.Landlock || b.isolation.open() {
		return func() error { return nil }
	}
	private := engine.CachesOf(b.run)
	b.homes = sync.OnceValues(func() (*privatehome.Template, error) {
		dir, err := b.run.MakeScratch(private)
		if err != nil {
			return nil, err
		}
		return b.prepareHome(filepath.Join(dir, "caches"))
	})
	return func() error {
		b.homes = nil
		return engine.RemoveBox(b.run, private)
	}
}

// linkGiven shows the folders of the user's HOME that may be written to, such
// as the login of an agent's own kind, at their paths in a HOME elsewhere.
func (b *bench) linkGiven(home string, folders []string) error {
	users := b.env.Getenv("HOME")
	for _, dir := range folders {
		dir = expandHome(dir, users)
		rel, ok := below(users, dir)
		if !ok || rel == "" || !exists(dir) {
			continue
		}
		at := filepath.Join(home, rel)
		if same(at, dir) {
			continue // A folder above it is a link.
		}
		err := os.MkdirAll(filepath.Dir(at), 0o700)
		if err == nil {
			err = errors.Join(worktree.RemoveAll(at), os.Symlink(dir, at))
		}
		if err != nil {
			return fmt.Errorf("show %s in HOME: %w", dir, err)
		}
	}
	return nil
}

// expandHome is a path that may begin with "~/".
func expandHome(path, home string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(home, rest)
	}
	return path
}

// same reports whether two paths lead to one file.
func same(a, b string) bool {
	x, xerr := os.Stat(a)
	y, yerr := os.Stat(b)
	return xerr == nil && yerr == nil && os.SameFile(x, y)
}
