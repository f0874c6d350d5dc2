package opencode

import (
	"time"

	"agentswarm/swarm/agent"
)

// Kind is what is known of opencode.
func Kind() agent.Kind {
	return agent.Kind{
		Name:    agent.KindOpencode,
		Adapter: Adapter{},
		Spec: agent.Spec{
			Name: agent.KindOpencode, Kind: agent.KindOpencode,
			Input: agent.InputStdin, Format: agent.FormatJSONL, Success: agent.SuccessAnswer,
		},
		Program: "opencode",
		Install: "npm install -g opencode-ai",
		Version: agent.Versions{Args: []string{"--version"}, Oldest: "1.18.33", Newest: "1.18.33"},
		Can: agent.Abilities{
			Model: true, Tools: true, ReadOnly: true, Fork: true, Hook: true,
		},
		Footprint: 420 << 20,
		Gap:       time.Second,
		// It says nothing before a text or a tool is whole.
		Quiet:    20 * time.Minute,
		Paid:     true,
		Sessions: []string{dataHome + "/opencode/opencode*.db*", placesDir + "/*"},
		Check:    refuse,
		Login:    login,
		List:     &agent.Lister{Launch: askModels, Read: readModels},
	}
}

// Adapter drives agents of kind opencode.
type Adapter struct{}

// Parser reads streamed JSON.
func (Adapter) Parser(spec *agent.Spec) agent.Parser { return newStream(spec) }
