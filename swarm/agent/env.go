package agent

import (
	"fmt"
	"slices"
	"strings"

	"agentswarm/swarm/ask"
	"agentswarm/swarm/environ"
	"agentswarm/swarm/task"
)

// Place is where an attempt runs, as its agent is told by its environment.
type Place struct {
	Run       string   // SWARM_RUN
	Agent     task.ID  // SWARM_AGENT
	Attempt   int      // SWARM_ATTEMPT
	Item      string   // SWARM_ITEM, only where there is an item
	Worktree  string   // SWARM_WORKTREE: the workspace
	Root      string   // SWARM_ROOT: the user's checkout, or the bare repository
	Base      string   // SWARM_BASE: the commit
	Artifacts string   // SWARM_ARTIFACTS: a folder that is kept
	Schema    string   // SWARM_SCHEMA: a file, only where a structured answer is asked for
	Workspace string   // SWARM_WORKSPACE: how the workspace is made; empty: not set
	Tmp       string   // TMPDIR: empty: the caller's
	Ask       string   // SWARM_ASK: the socket that hooks ask on; empty: none
	Contract  string   // SWARM_CONTRACT: a file that says how actions are judged; empty: none
	Shims     string   // a folder that comes first in PATH; empty: none
	Needs     []string // variables that its login needs, credentials too
	Settings  []string // patterns of variables that set up its kind
	Pass      []string // the user's pass_env patterns
	Guards    string   // a folder that comes before Shims in PATH, only with Ask; empty: none
	Env       []string // KEY=VALUE of the sandbox, such as HOME; they replace the caller's
}

// rules are the rules for variables that pass from the caller's environment to
// an agent of a spec.
func (p *Place) rules() environ.Rules {
	return environ.Rules{Needs: p.Needs, Settings: p.Settings, Pass: p.Pass}
}

// Held are the names of the caller's variables that an agent does not get and
// that it may miss, sorted. It gets another value of those that its spec or its
// sandbox set.
func Held(caller []string, spec *Spec, p Place) []string {
	_, held := p.rules().Select(caller)
	return slices.DeleteFunc(held, func(name string) bool {
		for _, value := range spec.Env {
			if value == "$"+name {
				return true
			}
		}
		_, declared := spec.Env[name]
		return declared || slices.ContainsFunc(p.Env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	})
}

// Environ returns the environment of an agent. It begins with the plain
// variables of the caller and those that its login, its kind or the user's
// pass_env name. The spec's declared variables and the variables of its place
// follow. Package environ has the rules. It returns an error if the spec takes
// a variable from the caller that is not set there.
func Environ(caller []string, spec *Spec, p Place) ([]string, error) {
	values, given := map[string]string{}, map[string]bool{}
	for _, kv := range p.Env {
		name, _, _ := strings.Cut(kv, "=")
		given[name] = true
	}
	for _, kv := range caller {
		if name, value, ok := strings.Cut(kv, "="); ok {
			values[name] = value
		}
	}
	passed, _ := p.rules().Select(caller)
	env := make([]string, 0, len(passed)+20)
	for _, kv := range passed {
		name, value, _ := strings.Cut(kv, "=")
		_, declared := spec.Env[name]
		if declared || given[name] || spec.PTY && ofTerminal(name) || p.Tmp != "" && name == "TMPDIR" {
			continue
		}
		if name == "PATH" {
			kv = "PATH=" + p.path(value)
		}
		env = append(env, kv)
	}
	for _, kv := range p.Env {
		// A variable that the user configured for the agent stays.
		name, value, _ := strings.Cut(kv, "=")
		if name == "PATH" {
			kv = "PATH=" + p.path(value)
		}
		if _, declared := spec.Env[name]; !declared {
			env = append(env, kv)
		}
	}
	for _, name := range sortedKeys(spec.Env) {
		value := spec.Env[name]
		if ref, ok := strings.CutPrefix(value, "$"); ok && isName(ref) {
			if value, ok = values[ref]; !ok {
				return nil, fmt.Errorf("agent %s: its variable %s takes $%s, which is not set", spec.Name, name, ref)
			}
		}
		if name == "PATH" {
			value = p.path(value)
		}
		env = append(env, name+"="+value)
	}
	if _, declared := spec.Env["TERM"]; spec.PTY && !declared {
		env = append(env, "TERM="+terminalKind(values["TERM"]))
	}
	env = append(env,
		"PWD="+p.Worktree,
		"SWARM_RUN="+p.Run,
		"SWARM_AGENT="+string(p.Agent),
		fmt.Sprintf("SWARM_ATTEMPT=%d", p.Attempt),
		"SWARM_WORKTREE="+p.Worktree,
		"SWARM_ROOT="+p.Root,
		"SWARM_BASE="+p.Base,
		"SWARM_ARTIFACTS="+p.Artifacts,
	)
	for _, more := range []struct{ name, value string }{
		{"SWARM_ITEM", p.Item}, {"SWARM_SCHEMA", p.Schema}, {"SWARM_WORKSPACE", p.Workspace}, {"TMPDIR", p.Tmp}, {ask.Variable, p.Ask}, {"SWARM_CONTRACT", p.Contract},
	} {
		if more.value != "" {
			env = append(env, more.name+"="+more.value)
		}
	}
	return env, nil
}

// path returns a PATH with the folders of the place before it. It leaves guards
// out where there is no Ask: they would refuse every action.
func (p *Place) path(value string) string {
	if p.Shims != "" {
		value = p.Shims + ":" + value
	}
	if p.Guards != "" && p.Ask != "" {
		value = p.Guards + ":" + value
	}
	return value
}

// ofTerminal reports whether a variable describes the caller's terminal, which
// is not the agent's.
func ofTerminal(name string) bool { return name == "TERM" || name == "COLUMNS" || name == "LINES" }

// terminalKind returns the agent's TERM: the caller's, since that terminal will
// likely be attached, else a common default.
func terminalKind(callers string) string {
	if callers == "" || callers == "dumb" {
		return "xterm-256color"
	}
	return callers
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// isName reports whether s may be the name of a variable.
func isName(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}
