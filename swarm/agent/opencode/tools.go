package opencode

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/toolset"
)

// lists returns the entries that opencode takes. It knows patterns of commands,
// and a common permission for edit and write.
func lists() toolset.Rules {
	return toolset.Rules{
		More:   []string{toolset.WebSearch, toolset.WebFetch, toolset.Skill, toolset.Task, toolset.TodoWrite},
		Parts:  []string{"bash"},
		Denies: true, Pair: true,
	}
}

// theirs are the permissions that a tool stands for.
func theirs(name string) []string {
	return map[string][]string{
		"read": {"read"}, "grep": {"grep"}, "find": {"glob"}, "ls": {"list", "glob"}, "edit": {"edit"}, "write": {"edit"}, "bash": {"bash"},
		toolset.WebSearch: {"websearch"}, toolset.WebFetch: {"webfetch"}, toolset.Skill: {"skill"}, toolset.Task: {"task"}, toolset.TodoWrite: {"todowrite"},
	}[name]
}

// permission returns the actions that need no approval. A tool that it denies
// is not offered to the model.
func permission(s *agent.Spec) map[string]any {
	// The first would wait for a person; with it a fork has other tools than its
	// parent, so that no cache of the provider knows its prompt.
	all := map[string]any{"*": "allow", "question": "deny", "plan_enter": "deny", "plan_exit": "deny"}
	some := s.Tools
	if len(some) == 0 && s.ReadOnly {
		some = agent.ReadOnlyTools()
	}
	parts := commands{otherwise: "allow"}
	if len(some) > 0 {
		all["*"] = "deny"
		// external_directory is no tool: it lets tools reach outside of the workspace.
		all["external_directory"] = "allow"
		set(all, &parts, some, "allow")
		if !slices.Contains(some, "bash") {
			parts.otherwise = "deny"
		}
	}
	set(all, &parts, s.Without, "deny")
	if len(parts.rules) > 0 {
		all["bash"] = parts
	}
	return all
}

// set gives entries of a list a verdict. Parts of the shell are collected.
func set(all map[string]any, parts *commands, list []string, verdict string) {
	for _, text := range list {
		e, err := toolset.Parse(text)
		if err != nil {
			continue // the engine refuses it before any agent starts
		}
		if e.Part != "" {
			parts.rules = append(parts.rules, [2]string{pattern(e.Part), verdict})
			continue
		}
		for _, name := range theirs(e.Name) {
			all[name] = verdict
		}
	}
}

// pattern is a part of the shell in the words of opencode, which knows no colon
// before the star.
func pattern(part string) string {
	if begin, ok := strings.CutSuffix(part, ":*"); ok {
		return begin + " *"
	}
	return part
}

// commands are the rules for commands of the shell. The last rule that matches
// decides, so they are kept in their order: first the allowed commands, then
// the denied.
type commands struct {
	otherwise string
	rules     [][2]string // pattern and verdict
}

// MarshalJSON writes an object in the order of the rules.
func (c commands) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, rule := range append([][2]string{{"*", c.otherwise}}, c.rules...) {
		b.WriteByte("{,"[min(i, 1)])
		for j, word := range rule {
			text, err := json.Marshal(word)
			if err != nil {
				return nil, err
			}
			b.Write(text)
			if j == 0 {
				b.WriteByte(':')
			}
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
