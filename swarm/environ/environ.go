// Package environ decides which variables of the user's environment reach the
// programs that swarm starts in workspaces: agents, setup and checks.
//
// The rule is an allowlist. A variable passes if it is plain (see [Plain]) and
// its value holds no credential, or if somebody named it: the kind of an agent,
// or a pass_env pattern of the user. All others are held back. The package
// owns the list, the patterns and the recognition of credentials. It starts
// nothing and reads no environment by itself.
package environ

import (
	"slices"
	"strings"
)

// Rules decide which variables pass beside the plain variables.
type Rules struct {
	// Needs are the exact names that an agent's login needs, credentials too.
	Needs []string
	// Settings are the variables that set up an agent's kind. A whole name
	// passes whatever its value is. A pattern such as CODEX_* passes nothing
	// that looks like a credential.
	Settings []string
	// Pass are the user's pass_env patterns. They pass credentials too.
	Pass []string
}

// Passes reports whether a variable passes. Variables that point git to
// another repository, and PWD and OLDPWD, never do. Those of git and of swarm
// itself need an exact name.
func (r Rules) Passes(name, value string) bool {
	switch {
	case misleads(name):
		return false
	case slices.Contains(r.Needs, name), slices.Contains(r.Settings, name):
		return !strings.HasPrefix(name, "GIT_")
	case strings.HasPrefix(name, "SWARM_"):
		return false
	case strings.HasPrefix(name, "GIT_") && !Plain(name):
		return slices.Contains(r.Pass, name)
	case Match(r.Pass, name):
		return true
	case Plain(name):
		return !secretValue(name, value)
	default:
		return Match(r.Settings, name) && !Credential(name, value)
	}
}

// Select splits an environment into the variables that pass, as NAME=value in
// their order, and the names of those that are held back and that somebody may
// miss, sorted. Entries that are no variables are dropped.
func (r Rules) Select(environ []string) (passed, held []string) {
	for _, kv := range environ {
		name, value, ok := strings.Cut(kv, "=")
		switch {
		case !ok || name == "":
		case r.Passes(name, value):
			passed = append(passed, kv)
		case !unmissed(name) && identifier(name):
			held = append(held, name)
		}
	}
	slices.Sort(held)
	return passed, slices.Compact(held)
}

// identifier reports whether a shell could set a variable of this name. Programs
// add others for each other, such as BASH_FUNC_x%%.
func identifier(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// misleads reports whether a variable would lead a program out of its
// workspace: git into another repository, or a shell into the user's folder.
func misleads(name string) bool {
	switch name {
	case "PWD", "OLDPWD", "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_CONFIG_GLOBAL",
		"GIT_CONFIG_SYSTEM", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE", "GIT_REPLACE_REF_BASE",
		"GIT_NO_REPLACE_OBJECTS", "GIT_IMPLICIT_WORK_TREE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_CEILING_DIRECTORIES", "GIT_EXEC_PATH":
		return true
	}
	return strings.HasPrefix(name, "GIT_CONFIG_KEY_") || strings.HasPrefix(name, "GIT_CONFIG_VALUE_")
}
