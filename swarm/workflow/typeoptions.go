package workflow

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/toolset"
)

// options reads the options of the type's agents from its front matter.
func (t *Type) options(file string, fields map[string]field) *TypeError {
	if model, there := fields["model"]; there && model.text != "inherit" {
		if !agent.IsOption(model.text) {
			return &TypeError{Line: model.line, Reason: fmt.Sprintf("model: %q is not a word without spaces that does not begin with -", model.text)}
		}
		t.Model = model.text
	}
	// To another tool the word means something else, if anything.
	if role, there := fields["role"]; there && !lenient(file) {
		if !roles.IsName(role.text) {
			return &TypeError{Line: role.line, Reason: fmt.Sprintf("role: %q is not the name of a role", role.text)}
		}
		t.Role = role.text
	}
	// Claude Code has the same words for it; a kind that has others says so.
	if effort, there := fields["effort"]; there {
		if !agent.IsOption(effort.text) {
			return &TypeError{Line: effort.line, Reason: fmt.Sprintf("effort: %q is not a word without spaces that does not begin with -", effort.text)}
		}
		t.Effort = effort.text
	}
	return t.toolLists(fields, lenient(file))
}

// toolLists reads the tools that agents of the type have, and those they do not
// have.
func (t *Type) toolLists(fields map[string]field, foreign bool) (bad *TypeError) {
	if tools, there := fields["tools"]; there {
		if t.Tools, bad = t.entries(tools, "tools", foreign); bad != nil {
			return bad
		}
		if len(t.Tools) == 0 {
			return &TypeError{Line: tools.line, Reason: "tools: none of them is one of " + strings.Join(agent.AllTools(), ", ")}
		}
	}
	without, there := fields["disallowedTools"]
	if !there {
		return nil
	}
	if t.Without, bad = t.entries(without, "disallowedTools", foreign); bad != nil {
		return bad
	}
	left := t.Tools
	if len(left) == 0 || slices.Contains(left, toolset.All) {
		left = agent.AllTools()
	}
	if !slices.ContainsFunc(left, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "(")
		return !slices.Contains(t.Without, name) && !slices.Contains(t.Without, toolset.All)
	}) {
		return &TypeError{Line: without.line, Reason: "disallowedTools leaves it no tool"}
	}
	return nil
}

// entries reads the entries under a key: a list, or a text with commas. A file of
// another tool may name tools that there are none of here; they are kept apart.
func (t *Type) entries(f field, key string, foreign bool) ([]string, *TypeError) {
	var all []string
	for _, word := range f.names() {
		e, err := toolset.Parse(word)
		var unknown *toolset.UnknownError
		switch {
		case err == nil && !slices.Contains(all, e.String()):
			all = append(all, e.String())
		case errors.As(err, &unknown) && foreign:
			t.Unknown = append(t.Unknown, word)
		case err != nil:
			return nil, &TypeError{Line: f.line, Reason: fmt.Sprintf("%s: %v", key, err)}
		}
	}
	return all, nil
}

// names are the words of a list, or those of a text between commas.
func (f field) names() []string {
	words := f.list
	if f.text != "" {
		words = toolset.Split(strings.TrimSuffix(strings.TrimPrefix(f.text, "["), "]"))
	}
	var all []string
	for _, w := range words {
		if w = strings.Trim(strings.TrimSpace(w), `"'`); w != "" {
			all = append(all, w)
		}
	}
	return all
}
