// Package codex drives agents of OpenAI's Codex CLI.
//
// It owns the setup and start of such an agent, the messages to it, and the
// meaning of its own messages. It starts nothing, and reads files only through
// the [agent.Surroundings] of a login.
//
// The agent is started as "codex app-server": JSON-RPC, one message a line.
// "codex exec --json" reports too little: no usage before the end, no model, no
// turns of the model, no status of a refused request.
//
// Trials of 0.169.0 showed these facts, beyond its documentation:
//
//   - Usage comes after each answer of the model, as the total of the
//     conversation and as the last part. A fork counts its parent in the total.
//   - A new conversation that names its folder marks that as trusted in
//     config.toml, and then runs the repository's configured commands. A
//     conversation that does not name it takes the folder of the process. A
//     fork that does not name its folder works in that of its parent, so it
//     must: "." will do.
//   - turn/start while the model works adds to the current turn.
//   - Hooks that are not trusted are silently skipped. app-server lacks the
//     command line option that changes this; a conversation has the setting
//     bypass_hook_trust.
//   - A hook that fails in another way than with exit status 2 lets the tool
//     run.
//   - It ignores CODEX_API_KEY and OPENAI_API_KEY: keys are in auth.json, or in
//     the variable that a provider names. A ChatGPT login works without its
//     refresh token until its access token has expired.
//   - The built-in provider cannot be configured, and tries 30 times. A copy
//     with its name and its login can be configured, and acts the same.
//   - Commands run in login shells, whose profile replaces PATH, unless that is
//     forbidden.
//   - Its sandbox starts nothing where its state lies below TMPDIR.
//   - Its sandbox starts nothing for root inside a sandbox of namespaces: the
//     kernel lets root be mapped once only.
//   - A message during the model's answer can make it begin anew; the usage of
//     the first answer is not reported.
//   - The output of a command is reported up to 1 MiB, and escaped.
package codex

import (
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/toolset"
	"agentswarm/variants"
)

// Kind returns the description of these agents.
func Kind() agent.Kind {
	return agent.Kind{
		Name: agent.KindCodex, Adapter: Adapter{},
		Spec: agent.Spec{
			Name: agent.KindCodex, Kind: agent.KindCodex,
			Input: agent.InputJSONL, Format: agent.FormatJSONL, Success: agent.SuccessAnswer,
		},
		Program:   "codex",
		Install:   "npm install -g @openai/codex",
		Version:   agent.Versions{Args: []string{"--version"}, Oldest: "0.169.0", Newest: "0.169.0", Broken: "0.120"},
		Providers: []string{"openai"}, Bare: true,
		Variables: []string{"OPENAI_BASE_URL", "OPENAI_ORGANIZATION", "OPENAI_PROJECT", "CODEX_*"},
		Can: agent.Abilities{
			Model: true, Effort: true, Tools: true, ReadOnly: true, Schema: true,
			Fork: true, Steer: true, Hook: true, Sandbox: true,
		},
		Footprint: 32 << 20,
		Gap:       100 * time.Millisecond,
		// A connection that says nothing for five minutes is given up by the
		// agent itself, which says so.
		Quiet:    6 * time.Minute,
		Paid:     true,
		Sessions: []string{"sessions/*/*/*/rollout-*.jsonl"},
		Check:    check,
		// It does everything with its shell, which can be kept from writing.
		Lists:  toolset.Rules{More: []string{toolset.WebSearch}, Modes: true},
		Login:  login,
		Memory: memory,
		List:   &agent.Lister{Launch: askModels, Read: readModels},
		Family: variants.GPT,
	}
}

// Adapter drives agents of kind codex.
type Adapter struct{}

// Parser reads messages of codex app-server.
func (Adapter) Parser(*agent.Spec) agent.Parser { return newParser() }

// memory is read wherever it works; that of the repository is no configuration.
func memory(*agent.Request) agent.Memory { return agent.Memory{Reads: []string{agent.MemoryFile}} }
