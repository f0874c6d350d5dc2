package claude

import (
	"slices"
	"strings"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/toolset"
)

// lists states which entries Claude Code takes: it knows patterns, and can take
// single tools away. It starts no MCP servers here.
func lists() toolset.Rules {
	return toolset.Rules{
		More:   []string{toolset.WebSearch, toolset.WebFetch, toolset.Skill, toolset.Task, toolset.TodoWrite},
		Parts:  []string{"read", "edit", "write", "bash", toolset.WebFetch, toolset.Skill, toolset.Task},
		Denies: true,
	}
}

// permissions are the flags that say which tools are used without a question.
// bypassPermissions allows every call, so a list with a part of a tool needs
// another mode: dontAsk refuses each call that no entry allows.
func permissions(r agent.Request) []string {
	s := r.Spec
	switch {
	case slices.ContainsFunc(s.Tools, parted):
		return []string{"--permission-mode", "dontAsk", "--allowed-tools=" + strings.Join(entries(s.Tools), ",")}
	case r.Walled:
		return []string{"--permission-mode", "bypassPermissions"}
	default:
		all := append(entries(agent.AllTools()), "NotebookEdit", toolset.WebFetch, toolset.WebSearch, toolset.Task, toolset.Skill)
		return []string{"--permission-mode", "acceptEdits", "--allowed-tools=" + strings.Join(all, ",")}
	}
}

// parted reports whether an entry is a part of a tool.
func parted(text string) bool { return strings.HasSuffix(text, ")") }

// entries are entries of a list in the words of Claude Code, each once.
func entries(list []string) []string {
	names := map[string]string{
		"read": "Read", "grep": "Grep", "find": "Glob", "ls": "Glob", "edit": "Edit", "write": "Write", "bash": "Bash",
	}
	var all []string
	for _, text := range list {
		e, err := toolset.Parse(text)
		if err != nil {
			continue // the engine refuses it before any agent starts
		}
		if name := names[e.Name]; name != "" {
			e.Name = name
		}
		if !slices.Contains(all, e.String()) {
			all = append(all, e.String())
		}
	}
	return all
}

// whole are the tools that entries are about.
func whole(list []string) []string {
	var all []string
	for _, text := range entries(list) {
		if name, _, _ := strings.Cut(text, "("); !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}
