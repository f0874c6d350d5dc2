// Package kinds lists the kinds of agents. It finds on a machine, before an agent is
// started, the program of each kind, its version, whether that was tried, and its login.
// It starts no agent: the only programs it runs are asked for their versions.
package kinds

import (
	"slices"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/claude"
	"agentswarm/swarm/agent/codex"
	"agentswarm/swarm/agent/command"
	"agentswarm/swarm/agent/copilot"
	"agentswarm/swarm/agent/gemini"
	"agentswarm/swarm/agent/opencode"
	"agentswarm/swarm/agent/pi"
	"agentswarm/swarm/agent/qwen"
)

// List is a list of kinds, in the order in which people are shown them.
type List []agent.Kind

// All returns the kinds of this version. Their models' thoughts are removed
// from their output.
func All() List {
	all := List{pi.Kind(), codex.Kind(), claude.Kind(), opencode.Kind(), gemini.Kind(), qwen.Kind(), copilot.Kind(), command.Builtin()}
	for i := range all {
		all[i].Adapter = agent.Aloud(all[i].Adapter)
	}
	return all
}

// Find is the kind of a name.
func (l List) Find(name string) (agent.Kind, bool) {
	at := slices.IndexFunc(l, func(k agent.Kind) bool { return k.Name == name })
	if at < 0 {
		return agent.Kind{}, false
	}
	return l[at], true
}

// ByName are the kinds by their names.
func (l List) ByName() map[string]agent.Kind {
	all := make(map[string]agent.Kind, len(l))
	for _, k := range l {
		all[k.Name] = k
	}
	return all
}

// Found is a machine's installation of a kind.
type Found struct {
	agent.Kind
	// Path is where its program is; empty where there is none. Of a kind that
	// needs none it is that of swarm.
	Path  string
	Login agent.Login
}

// Here reports whether agents of the kind can be started, but for a login.
func (f Found) Here() bool { return f.Path != "" }

// Ready reports whether they can log in, too.
func (f Found) Ready() bool { return f.Here() && (f.Kind.Login == nil || f.Login.Name != "") }

// LookRequest is where kinds are looked for.
type LookRequest struct {
	Surroundings agent.Surroundings // required
	// Path is where a program of this name is; empty for nowhere. Required.
	Path func(program string) string
	Self string // the program of kinds that need none of their own
}

// Look finds the kinds on a machine, all of them in their order. It starts no
// process and reads only the parts of logins.
func (l List) Look(r LookRequest) []Found {
	all := make([]Found, len(l))
	for i, k := range l {
		all[i] = Found{Kind: k, Path: r.Self}
		if k.Program != "" {
			all[i].Path = r.Path(k.Program)
		}
		if k.Login != nil {
			all[i].Login = k.Login(r.Surroundings)
		}
	}
	return all
}

// Installed are those of the found kinds that have a program of their own
// here.
func Installed(all []Found) []Found {
	return slices.DeleteFunc(slices.Clone(all), func(f Found) bool { return f.Program == "" || f.Path == "" })
}
