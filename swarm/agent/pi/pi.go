// Package pi drives agents of the CLI pi (the coding agent of earendil-works),
// in its RPC mode: commands go to its stdin and events come from its stdout,
// one JSON object a line. It owns the command line, the state of one agent and
// the parsing of its output. It starts, writes and looks up nothing.
//
// The adapter relies on these facts, tried with the versions that [Kind] names:
//
//   - RPC mode prints no session header: the first command asks for the state,
//     whose answer names the session, the model and its effort. A level that
//     the model lacks is silently lowered, so the parser compares it before the
//     prompt is sent.
//   - It ends when its stdin does, also in the middle of its work, and always
//     with exit status 0. The end of the work is agent_settled; agent_end comes
//     once for each attempt at the model, and repeats every message.
//   - A prompt that it cannot take (no login) is refused in the response to the
//     command, and nothing follows. So an error is its last message, and its
//     stdin is closed after an error.
//   - The usage of each message of the model is disjoint and adds up. The usage
//     of a fork's parent is not counted again.
//   - Its extensions hear of a provider's answers only where all is well. The
//     extension reads the requested wait from Node's own request events
//     (undici:request:headers), and heeds it before the next request.
//   - Without a login it starts all the same, with a model called unknown.
//   - A slash at the beginning of a prompt calls a command of that name.
//     Prompts must arrive verbatim, so a line end goes before it.
//   - The files in .pi of the workspace are not trusted: their settings can put
//     commands before each command of the shell, which no hook would see.
//     AGENTS.md and CLAUDE.md are read all the same. To trust more, add
//     --approve to the command.
//   - Extensions, packages and skills of the user and of a repository are left
//     out. Custom providers in models.json are not.
//   - Its locks are files beside its settings, so a hundred agents need only a
//     separate state folder each.
//   - grep and find need rg and fd, which it would download. The adapter
//     forbids that, and it uses those in PATH or in the user's own
//     installation.
package pi

import (
	"time"

	"agentswarm/swarm/agent"
	opening "agentswarm/swarm/prompt"
)

// Kind returns the description of pi.
func Kind() agent.Kind {
	return agent.Kind{
		Name:    agent.KindPi,
		Adapter: Adapter{},
		Spec: agent.Spec{
			Name: agent.KindPi, Kind: agent.KindPi,
			Input: agent.InputJSONL, Format: agent.FormatJSONL, Success: agent.SuccessAnswer,
		},
		Program: "pi",
		Install: "npm install -g @earendil-works/pi-coding-agent",
		Version: agent.Versions{Args: []string{"--version"}, Oldest: "0.87.1", Newest: "0.87.1", Broken: "0.74"},
		Can: agent.Abilities{
			Model: true, Effort: true, Tools: true, ReadOnly: true, Fork: true, Steer: true, Hook: true,
		},
		Footprint: 60 << 20,
		Gap:       50 * time.Millisecond,
		// It says each word of its model, but nothing while a command runs.
		Quiet:   10 * time.Minute,
		Paid:    true,
		Fetches: true,
		Reports: true,
		// Its providers differ in where they are and which account is meant.
		Variables: []string{
			"OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "OLLAMA_HOST", "PI_*", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION",
			"CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_GATEWAY_ID",
		},
		Sessions: []string{sessionDir + "/*.jsonl"},
		Check:    check,
		Login:    login,
		List:     &agent.Lister{Launch: askModels, Read: readModels},
		Own:      own,
		Memory:   memory,
		Tools:    offered,
	}
}

// Adapter drives agents of kind pi.
type Adapter struct{}

// Parser reads the events of RPC mode.
func (Adapter) Parser(spec *agent.Spec) agent.Parser { return newEvents(spec) }

// memory is read wherever it works.
func memory(*agent.Request) agent.Memory { return agent.Memory{Reads: []string{agent.MemoryFile}} }

// offered are the tools that a list leaves, or those that pi has by default.
func offered(r *agent.Request) opening.Tools {
	tools, err := allowed(r.Spec)
	switch {
	case err != nil:
		return opening.Tools{}
	case tools != nil:
		return opening.Tools{Names: tools, All: true}
	}
	return opening.Tools{Names: []string{"read", "bash", "edit", "write"}}
}
