package opencode

import (
	"slices"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/prompt"
)

// Kind returns the description of opencode.
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
		Quiet:   20 * time.Minute,
		Stall:   20 * time.Minute, // it tells of a tool once that has ended
		Paid:    true,
		Reports: true,
		Placed:  true,
		Variables: []string{
			"OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "OLLAMA_HOST", "OPENCODE_*", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION",
			"VERTEX_LOCATION", "AZURE_RESOURCE_NAME", "CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_GATEWAY_ID", "AWS_REGION", "AWS_PROFILE",
		},
		Sessions: []string{dataHome + "/opencode/opencode*.db*", placesDir + "/*"},
		Check:    refuse,
		Login:    login,
		List:     &agent.Lister{Launch: askModels, Read: readModels},
		Own:      own,
		Memory:   memory,
		Tools:    offered,
		Lists:    lists(),
	}
}

// Adapter drives agents of kind opencode.
type Adapter struct{}

// Parser reads streamed JSON.
func (Adapter) Parser(spec *agent.Spec) agent.Parser { return newStream(spec) }

// memory is read because our own configuration names it.
func memory(*agent.Request) agent.Memory { return agent.Memory{Reads: []string{agent.MemoryFile}} }

// offered are the tools that a list leaves, or the best known of many. Which of
// them write depends on the model.
func offered(r *agent.Request) prompt.Tools {
	some := r.Spec.Tools
	if len(some) == 0 && r.Spec.ReadOnly {
		some = agent.ReadOnlyTools()
	}
	if len(some) > 0 && agent.Reads(some) {
		var all []string
		for _, t := range some {
			names := theirs(t)
			if name := names[len(names)-1]; !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
		return prompt.Tools{Names: all, All: true}
	}
	return prompt.Tools{}
}
