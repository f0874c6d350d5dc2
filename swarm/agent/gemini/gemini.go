package gemini

import (
	"time"

	"agentswarm/swarm/agent"
)

// Kind is what is known of Gemini CLI.
func Kind() agent.Kind {
	return agent.Kind{
		Name:    agent.KindGemini,
		Adapter: Adapter{},
		Spec: agent.Spec{
			Name: agent.KindGemini, Kind: agent.KindGemini,
			Input: agent.InputStdin, Format: agent.FormatJSONL, Success: agent.SuccessAnswer,
		},
		Program:   "gemini",
		Install:   "npm install -g @google/gemini-cli",
		Version:   agent.Versions{Args: []string{"--version"}, Oldest: "0.61.0", Newest: "0.61.0"},
		Providers: []string{"google", "gemini"}, Bare: true,
		Can: agent.Abilities{
			Model: true, Tools: true, ReadOnly: true, Fork: true, Hook: true, Sandbox: true,
		},
		Footprint: 171 << 20,
		Gap:       250 * time.Millisecond,
		// It says nothing while its model thinks, and while a command runs.
		Quiet:    10 * time.Minute,
		Paid:     true,
		Sessions: []string{home + "/tmp/" + project + "/chats/session-*.jsonl"},
		Login:    login,
	}
}

// Adapter drives agents of kind gemini.
type Adapter struct{}

// Parser reads streamed JSON.
func (Adapter) Parser(*agent.Spec) agent.Parser { return newStream() }
