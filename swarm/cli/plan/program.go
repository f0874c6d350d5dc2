package plan

import (
	"context"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/swarm/agent/kinds"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/exit"
)

// FindPrograms refuses a run whose agents have no program to run.
func FindPrograms(_ context.Context, p *cmdline.Place, pl *Plan) error {
	for _, name := range slices.Sorted(maps.Keys(pl.Config.Agents)) {
		spec := pl.Config.Agents[name]
		if pl.Script != nil && pl.Script.Agent != name {
			continue // the script may never name it
		}
		if err := findProgram(p, pl, wanted{"agent " + name + ": ", spec.Command[0], spec.Env}); err != nil {
			return err
		}
	}
	seen := map[string]bool{}
	for _, call := range pl.Calls {
		if len(call.Command) == 0 || seen[call.Command[0]] {
			continue
		}
		seen[call.Command[0]] = true
		if err := findProgram(p, pl, wanted{"run: ", call.Command[0], nil}); err != nil {
			return err
		}
	}
	return nil
}

// wanted is a program that a run needs.
type wanted struct {
	who  string // begins the message that it is missing
	name string
	env  map[string]string // the agent's own variables of the environment
}

// findProgram looks for a program where its agent will: on the PATH it will
// have, or, if its name has a slash, from the workspace.
func findProgram(p *cmdline.Place, pl *Plan, w wanted) error {
	switch {
	case w.name == "":
		return exit.Usagef("%sthe command is an empty word", w.who)
	case filepath.IsAbs(w.name):
		if !kinds.Executable(w.name) {
			return exit.Usagef("%s%s: there is no such program", w.who, w.name)
		}
		return nil
	case strings.Contains(w.name, "/"):
		if pl.Config.Setup == "" && !mayHold(pl.Files, w.name) {
			return exit.Usagef("%s%s: there is no such file in the base, and no setup that could make it", w.who, w.name)
		}
		return nil
	}
	for _, dir := range filepath.SplitList(cmdline.NewMachine(p.Env).SearchPath(w.env)) {
		if dir != "" && kinds.Executable(filepath.Join(dir, w.name)) {
			return nil
		}
	}
	return exit.Usagef("%s%s: command not found", w.who, w.name)
}

// mayHold reports whether a workspace of these files can have something at a
// relative path. It is true for paths behind a symbolic link or outside, which
// are unknown.
func mayHold(files []string, name string) bool {
	name = path.Clean(name)
	if name == ".." || strings.HasPrefix(name, "../") {
		return true
	}
	for ; name != "."; name = path.Dir(name) {
		if slices.Contains(files, name) {
			return true
		}
	}
	return false
}
