package workflow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/nearest"
)

// options reads what agents of the type are to use from its front matter.
func (t *Type) options(file string, fields map[string]field) *TypeError {
	if model, there := fields["model"]; there && model.text != "inherit" {
		if !agent.IsOption(model.text) {
			return &TypeError{Line: model.line, Reason: fmt.Sprintf("model: %q is no word without blanks that does not begin with -", model.text)}
		}
		t.Model = model.text
	}
	// To another tool the word means something else, if anything.
	if role, there := fields["role"]; there && !lenient(file) {
		if !roles.IsName(role.text) {
			return &TypeError{Line: role.line, Reason: fmt.Sprintf("role: %q is no name of a role", role.text)}
		}
		t.Role = role.text
	}
	var bad *TypeError
	if tools, there := fields["tools"]; there {
		if t.Tools, bad = tools.tools("tools", lenient(file)); bad != nil {
			return bad
		}
	}
	// Only another tool's files get here with it.
	without, there := fields["disallowedTools"]
	if !there {
		return nil
	}
	refused, bad := without.tools("disallowedTools", true)
	if bad != nil {
		return bad
	}
	if len(t.Tools) == 0 {
		t.Tools = agent.AllTools()
	}
	t.Tools = slices.DeleteFunc(t.Tools, func(tool string) bool { return slices.Contains(refused, tool) })
	if len(t.Tools) == 0 {
		return &TypeError{Line: without.line, Reason: "disallowedTools leaves it no tool"}
	}
	return nil
}

// tools are the names of tools under a key: a list, or a text with commas, of
// our names or those of Claude Code. What a file of that names beside them
// there is none of here.
func (f field) tools(key string, foreign bool) ([]string, *TypeError) {
	var all []string
	for _, name := range f.names() {
		known := cmp.Or(toolOf(name), name)
		switch {
		case slices.Contains(all, known), foreign && !slices.Contains(agent.AllTools(), known):
		case slices.Contains(agent.AllTools(), known):
			all = append(all, known)
		default:
			reason := fmt.Sprintf("%s: there is no tool %q", key, name)
			if near := nearest.Word(name, agent.AllTools()); near != "" {
				return nil, &TypeError{Line: f.line, Reason: fmt.Sprintf("%s; did you mean %q?", reason, near)}
			}
			return nil, &TypeError{Line: f.line, Reason: reason + "; there is " + strings.Join(agent.AllTools(), ", ")}
		}
	}
	if len(all) == 0 && key == "tools" {
		return nil, &TypeError{Line: f.line, Reason: key + ": none of them is one of " + strings.Join(agent.AllTools(), ", ")}
	}
	return all, nil
}

// names are the words of a list, or those of a text between commas.
func (f field) names() []string {
	words := f.list
	if f.text != "" {
		words = strings.Split(strings.Trim(f.text, "[]"), ",")
	}
	var all []string
	for _, w := range words {
		if w = strings.Trim(strings.TrimSpace(w), `"'`); w != "" {
			all = append(all, w)
		}
	}
	return all
}

// toolOf is our name of a tool of Claude Code; empty for any other. What is allowed of one, in parentheses, is not told apart.
func toolOf(name string) string {
	name, _, _ = strings.Cut(name, "(")
	switch strings.TrimSpace(name) {
	case "Read", "NotebookRead":
		return "read"
	case "Grep":
		return "grep"
	case "Glob":
		return "find"
	case "LS":
		return "ls"
	case "Edit", "MultiEdit", "NotebookEdit":
		return "edit"
	case "Write":
		return "write"
	case "Bash":
		return "bash"
	default:
		return ""
	}
}
