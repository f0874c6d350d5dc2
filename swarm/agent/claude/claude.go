// Package claude drives agents of the CLI claude (Claude Code), headless, with
// its stdin open. It owns the command line, the state of one agent and the
// parsing of its output. It starts, writes and looks up nothing.
//
// The adapter relies on these facts, tried with the version that [Kind] names:
//
//   - With streamed input it takes further messages while it works. It reads
//     them between two requests to its model, and after an answer. It ends when
//     its stdin does.
//   - A result contains an answer or an error: for an error is_error is set,
//     whatever its subtype is. It waits for more messages after either.
//   - An assistant message reports its usage in part and more than once. The
//     message_delta of its stream reports the whole. A result counts from the
//     last result on in model_usage_since_last_result. That includes the usage
//     of its helpers, which their streams do not report. Its cost counts from
//     the beginning of the conversation, that of a fork's parent too, and is a
//     guess where its basis is unknown.
//   - Hooks of the user's settings run in every permission mode. Those of the
//     repository do, too, where the project's settings are read; without them
//     CLAUDE.md is not read either. So they are read in a sandbox only, where
//     the commands they start have no more rights than the agent.
//   - It refuses to skip its own questions as root, unless a variable says that
//     it is in a sandbox, which is true in swarm's sandbox.
//   - A refresh token works once. So no agent gets that: it gets the access
//     token alone, and ends when that ends.
package claude

import (
	"slices"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/prompt"
	"agentswarm/variants"
)

// Kind returns the description of Claude Code.
func Kind() agent.Kind {
	return agent.Kind{
		Name:    agent.KindClaude,
		Adapter: Adapter{},
		Spec: agent.Spec{
			Name: agent.KindClaude, Kind: agent.KindClaude,
			Input: agent.InputJSONL, Format: agent.FormatJSONL, Success: agent.SuccessAnswer,
		},
		Program:   "claude",
		Install:   "npm install -g @anthropic-ai/claude-code",
		Version:   agent.Versions{Args: []string{"--version"}, Oldest: "2.1.328", Newest: "2.1.328"},
		Providers: []string{"anthropic"}, Bare: true,
		Variables: []string{
			"ANTHROPIC_BASE_URL", "ANTHROPIC_BEDROCK_BASE_URL", "ANTHROPIC_VERTEX_BASE_URL", "ANTHROPIC_FOUNDRY_BASE_URL",
			"ANTHROPIC_CUSTOM_HEADERS", "ANTHROPIC_*", "CLAUDE_*", "DISABLE_*", "ENABLE_*", "MAX_THINKING_TOKENS", "MAX_MCP_OUTPUT_TOKENS",
			"MCP_TIMEOUT", "MCP_TOOL_TIMEOUT", "BASH_*_TIMEOUT_MS", "BASH_MAX_OUTPUT_LENGTH", "API_TIMEOUT_MS", "USE_BUILTIN_RIPGREP",
			"VERTEX_REGION_*", "CLOUD_ML_REGION",
		},
		Can: agent.Abilities{
			Model: true, Effort: true, Thinking: true, Tools: true, ReadOnly: true, Schema: true, Fork: true, Steer: true, Hook: true,
		},
		Footprint: 92 << 20,
		Gap:       100 * time.Millisecond,
		// It says each word of its model, but nothing while a command runs.
		Quiet: 10 * time.Minute,
		Stall: 5 * time.Minute, // it says each word of its model
		// Its background tasks go on, and bring another answer.
		Linger:   10 * time.Minute,
		Paid:     true,
		Reports:  true,
		Sessions: []string{"projects/*/*.jsonl"},
		Check:    check,
		Lists:    lists(),
		Login:    login,
		Unlisted: "claude has no command that lists models; those of anthropic are listed by its API, with a key",
		Memory:   memory,
		Tools:    offered,
		Family:   variants.Claude,
	}
}

// Adapter drives agents of kind claude.
type Adapter struct{}

// Parser reads streamed JSON.
func (Adapter) Parser(spec *agent.Spec) agent.Parser { return newStream(spec) }

// memory lists the files that swarm passes on: the CLI reads them with the
// settings of a repository, which it must not have.
func memory(*agent.Request) agent.Memory {
	return agent.Memory{Own: []string{memoryFile, ".claude/" + memoryFile}}
}

// offered are the tools that a list leaves, or the best known of many.
func offered(r *agent.Request) prompt.Tools {
	switch {
	case len(r.Spec.Tools) > 0:
		return prompt.Tools{Names: whole(r.Spec.Tools), All: true}
	case r.Spec.ReadOnly:
		return prompt.Tools{Names: whole(agent.ReadOnlyTools()), All: true}
	}
	few := slices.DeleteFunc([]string{"read", "edit", "write", "bash"}, func(t string) bool { return slices.Contains(r.Spec.Without, t) })
	return prompt.Tools{Names: whole(few)} // it searches by its shell
}
