package qwen

import (
	"slices"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/prompt"
	"agentswarm/swarm/wire"
	"agentswarm/variants"
)

// Kind is what is known of Qwen Code.
func Kind() agent.Kind {
	return agent.Kind{
		Name:    agent.KindQwen,
		Adapter: Adapter{},
		Spec: agent.Spec{
			Name: agent.KindQwen, Kind: agent.KindQwen,
			Input: agent.InputStdin, Format: agent.FormatJSONL, Success: agent.SuccessAnswer,
		},
		Program:   "qwen",
		Install:   "npm install -g @qwen-code/qwen-code",
		Version:   agent.Versions{Args: []string{"--version"}, Oldest: "0.24.4", Newest: "0.24.4"},
		Providers: []string{"qwen", "dashscope", "alibaba"}, Bare: true,
		Can: agent.Abilities{
			Model: true, Effort: true, Tools: true, ReadOnly: true, Schema: true, Fork: true, Hook: true, Sandbox: true,
		},
		Footprint: 189 << 20,
		Gap:       500 * time.Millisecond,
		// It says what its model has said only once that is whole, and nothing
		// while a command runs.
		Quiet:    15 * time.Minute,
		Paid:     true,
		Sessions: []string{"projects/*/chats/*.jsonl"},
		Check:    check,
		Login:    login,
		Memory:   memory,
		Tools:    offered,
		Family:   variants.Qwen,
	}
}

// Adapter drives agents of kind qwen.
type Adapter struct{}

// Parser reads streamed JSON.
func (Adapter) Parser(spec *agent.Spec) agent.Parser { return newStream(spec) }

// memory is read from the repository where that is trusted: behind walls. The
// user may have given its files other names.
func memory(r *agent.Request) agent.Memory {
	m := agent.Memory{Own: []string{memoryFile}}
	if r.Walled {
		m.Reads = []string{memoryFile, agent.MemoryFile}
		if i := slices.IndexFunc(r.Login.Files, func(f agent.File) bool { return f.Name == settingsFile }); i >= 0 {
			m.Reads = wire.ContextNames(r.Login.Files[i].Data, m.Reads...)
		}
	}
	return m
}

// offered are the tools that a list leaves, or the best known of many.
func offered(r *agent.Request) prompt.Tools {
	if some := tools(r.Spec); len(some) > 0 {
		return prompt.Tools{Names: some, All: true}
	}
	// It lists folders by its shell.
	return prompt.Tools{Names: tools(&agent.Spec{Tools: []string{"read", "grep", "find", "edit", "write", "bash"}})}
}
