package qwen

import (
	"time"

	"agentswarm/swarm/agent"
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
	}
}

// Adapter drives agents of kind qwen.
type Adapter struct{}

// Parser reads streamed JSON.
func (Adapter) Parser(spec *agent.Spec) agent.Parser { return newStream(spec) }
