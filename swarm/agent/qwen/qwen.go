package qwen

import (
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/prompt"
	"agentswarm/variants"
)

// Kind returns the description of Qwen Code.
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
		Version:   agent.Versions{Args: []string{"--version"}, Oldest: "0.24.4", Newest: "0.24.4", Broken: "0.15"},
		Providers: []string{"qwen", "dashscope", "alibaba"}, Bare: true,
		Variables: []string{
			"OPENAI_BASE_URL", "OPENAI_MODEL", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "GEMINI_MODEL", "DASHSCOPE_*", "QWEN_*",
			"GOOGLE_CLOUD_*",
		},
		Can: agent.Abilities{
			Model: true, Effort: true, Tools: true, ReadOnly: true, Schema: true, Fork: true, Hook: true, Sandbox: true,
		},
		Footprint: 189 << 20,
		Gap:       500 * time.Millisecond,
		// It prints its model's text only once that is whole, and nothing while
		// a command runs.
		Quiet:    15 * time.Minute,
		Paid:     true,
		Fetches:  true,
		Placed:   true,
		Sessions: []string{"projects/*/chats/*.jsonl"},
		Check:    check,
		Unlisted: "qwen has no command that lists models; those of its endpoint are listed where that is in [providers]",
		Login:    login,
		Memory:   memory,
		Tools:    offered,
		Lists:    lists(),
		Family:   variants.Qwen,
	}
}

// Adapter drives agents of kind qwen.
type Adapter struct{}

// Parser reads streamed JSON.
func (Adapter) Parser(spec *agent.Spec) agent.Parser { return newStream(spec) }

// memory lists the files that swarm passes on: the CLI reads them only in
// folders that are trusted.
func memory(*agent.Request) agent.Memory { return agent.Memory{Own: []string{memoryFile}} }

// offered are the tools that a list leaves, or the best known of many.
func offered(r *agent.Request) prompt.Tools {
	if some := tools(r.Spec); len(some) > 0 {
		return prompt.Tools{Names: some, All: true}
	}
	// It lists folders by its shell.
	return prompt.Tools{Names: tools(&agent.Spec{Tools: []string{"read", "grep", "find", "edit", "write", "bash"}})}
}
