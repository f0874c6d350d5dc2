package copilot

import (
	"time"

	"agentswarm/swarm/agent"
)

// Kind describes GitHub Copilot CLI.
func Kind() agent.Kind {
	return agent.Kind{
		Name:    agent.KindCopilot,
		Adapter: Adapter{},
		Spec: agent.Spec{
			Name: agent.KindCopilot, Kind: agent.KindCopilot,
			Input: agent.InputStdin, Format: agent.FormatJSONL, Success: agent.SuccessAnswer,
		},
		Program:   "copilot",
		Install:   "npm install -g @github/copilot",
		Version:   agent.Versions{Args: []string{"--version"}, Oldest: "1.0.102", Newest: "1.0.102"},
		Providers: []string{"github", "copilot"}, Bare: true,
		Variables: []string{
			"COPILOT_MODEL", "COPILOT_CACHE_HOME", "COPILOT_GH_HOST", "GH_HOST", "COPILOT_PROVIDER_BASE_URL", "COPILOT_PROVIDER_TYPE", "COPILOT_PROVIDER_WIRE_API",
			"COPILOT_PROVIDER_TRANSPORT", "COPILOT_PROVIDER_AZURE_API_VERSION", "COPILOT_PROVIDER_MODEL_ID", "COPILOT_PROVIDER_WIRE_MODEL",
			"COPILOT_PROVIDER_MAX_PROMPT_TOKENS", "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS",
		},
		Can: agent.Abilities{
			Model: true, Effort: true, Tools: true, ReadOnly: true, Fork: true, Hook: true,
		},
		Footprint: footprint,
		Gap:       500 * time.Millisecond,
		Quiet:     10 * time.Minute,
		Paid:      true,
		Sessions:  []string{"session-state/*/events.jsonl", "session-state/*/workspace.yaml"},
		Check:     check,
		Unlisted:  "copilot has no command that lists models; `copilot help config` names those of GitHub",
		Login:     login,
		Memory:    memory,
		Lists:     lists(),
		Unnamed:   unnamed,
	}
}

// footprint is the memory of an agent that waits for its model, in bytes, as
// measured: the private part of its two processes, the wrapper of npm among them.
const footprint = 160 << 20

// Adapter drives agents of kind copilot.
type Adapter struct{}

// Parser reads JSON lines.
func (Adapter) Parser(*agent.Spec) agent.Parser { return newStream() }

// memory of the repository is never read by the CLI: its instructions are off.
func memory(*agent.Request) agent.Memory {
	return agent.Memory{Own: []string{".github/copilot-instructions.md"}}
}

// unnamed says how a model can be named where a provider of the user's own has
// none yet. GitHub has a model of its own.
func unnamed(s agent.Surroundings) string {
	if s.Getenv(baseURL) == "" || s.Getenv("COPILOT_MODEL") != "" || s.Getenv("COPILOT_PROVIDER_MODEL_ID") != "" {
		return ""
	}
	return "set $COPILOT_MODEL"
}
