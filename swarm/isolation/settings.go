package isolation

import (
	"cmp"
	"context"
	"slices"

	"agentswarm/swarm/box"
	"agentswarm/swarm/config"
	"agentswarm/swarm/control"
	"agentswarm/swarm/privatehome"
	"agentswarm/swarm/project"
	"agentswarm/swarm/refusal"
	"agentswarm/worktree"
)

// Settings say how agents are kept apart from everything else. They are recorded with the
// run, and a resume goes on with them.
type Settings struct {
	Sandbox string   `json:"sandbox,omitempty"` // auto, require or off; empty: auto
	Backend string   `json:"backend,omitempty"` // of workspaces, or auto; empty: auto
	Hide    []string `json:"hide,omitempty"`    // paths that agents cannot see
	Write   []string `json:"write,omitempty"`   // folders that agents may write to
	// PassEnv are patterns of variables that agents get too. Their values are
	// those of the process that owns the run, and are not recorded.
	PassEnv []string `json:"pass_env,omitempty"`

	// SandboxBy and BackendBy name the flag or the key that asked for these, for messages.
	// Empty: the run was started with them.
	SandboxBy string `json:"-"`
	BackendBy string `json:"-"`
}

// AnyBackend reports whether no backend was asked for by name.
func (i Settings) AnyBackend() bool { return i.Backend == "" || i.Backend == BackendAuto }

// Demanding reports whether something was asked for that not every machine gives.
func (i Settings) Demanding() bool {
	return i.Sandbox == SandboxRequire || !i.AnyBackend() && i.Backend != string(worktree.Linked)
}

// Values of [Settings].
const (
	SandboxRequire = "require"
	SandboxOff     = "off"
	BackendAuto    = "auto"
)

// Off reports whether agents may write wherever their user may.
func (i Settings) Off() bool { return i.Sandbox == SandboxOff }

// SandboxSource names the origin of the choice of the sandbox.
func (i Settings) SandboxSource() string { return cmp.Or(i.SandboxBy, "sandbox "+i.Sandbox) }

// BackendSource names the origin of the choice of the backend.
func (i Settings) BackendSource() string { return cmp.Or(i.BackendBy, "backend "+i.Backend) }

// Configured are the settings of the configuration. A path that cannot be hidden or written
// to is a [*refusal.Cause].
func Configured(ctx context.Context, p *project.Project, conf *config.Config) (i Settings, err error) {
	if conf.Sandbox != config.SandboxUnset {
		i.Sandbox, i.SandboxBy = conf.Sandbox.String(), originOf(conf, "sandbox.mode")
	}
	if conf.Backend != config.BackendUnset {
		i.Backend, i.BackendBy = conf.Backend.String(), originOf(conf, "workspace.backend")
	}
	i.PassEnv = conf.PassEnvPatterns()
	s := Surroundings(p)
	if i.Hide, err = s.HidePaths(conf.Hide); err != nil {
		return i, refusal.Of(err)
	}
	s.Hide = i.Hide
	if i.Write, err = s.WriteFolders(conf.Write); err != nil {
		return i, refusal.Of(err)
	}
	stores, err := p.Repo.CredentialFiles(ctx, p.Getenv("HOME"))
	i.Hide = Union(i.Hide, stores)
	return i, err
}

// originOf names a key where a file sets it, else the variable that does.
func originOf(conf *config.Config, key string) string {
	origin, _ := conf.Origin(key)
	if origin.Layer == config.Environment {
		return origin.String()
	}
	return origin.String() + ": " + key
}

// Surroundings are the paths that configured paths are compared with.
func Surroundings(p *project.Project) config.Surroundings {
	home := p.Getenv("HOME")
	return config.Surroundings{
		Home: home, Repo: []string{p.Root(), p.Repo.CommonDir}, State: p.StateRoot,
		Closed: box.Hidden(box.Place{
			Home: home, Sockets: control.Folders(p.Getenv), Getenv: p.Getenv, Secret: privatehome.GitIncludes(home, p.Getenv),
		}),
	}
}

// Union is a list with the entries of another that it lacks.
func Union(list, more []string) []string {
	list = slices.Clone(list)
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}
