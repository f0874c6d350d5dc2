package gemini

import (
	"slices"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/prompt"
	"agentswarm/variants"
)

// Kind returns the description of Gemini CLI.
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
		Version:   agent.Versions{Args: []string{"--version"}, Oldest: "0.61.0", Newest: "0.61.0", Broken: "0.38"},
		Providers: []string{"google", "gemini"}, Bare: true,
		Variables: []string{
			"GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "GEMINI_*", "GOOGLE_CLOUD_*", "GOOGLE_GENAI_*", "CODE_ASSIST_ENDPOINT",
		},
		Can: agent.Abilities{
			Model: true, Tools: true, ReadOnly: true, Fork: true, Hook: true, Sandbox: true,
		},
		Footprint: 171 << 20,
		Gap:       250 * time.Millisecond,
		// It says nothing while its model thinks, and while a command runs.
		Quiet:    10 * time.Minute,
		Paid:     true,
		Fetches:  true,
		Sessions: sessions(),
		Unlisted: "gemini has no command that lists models; those of google are listed by its API, with a key",
		Login:    login,
		Memory:   memory,
		Tools:    offered,
		Lists:    lists(),
		Family:   variants.Gemini,
	}
}

// sessions are the files of conversations. Those of helpers that an agent starts by
// itself are in a folder of the conversation.
func sessions() []string {
	chats := home + "/tmp/" + project + "/" + chatsName
	return []string{chats + "/session-*.jsonl", chats + "/*/*.jsonl"}
}

// chatsName is the folder of conversations below that of a project.
const chatsName = "chats"

// Adapter drives agents of kind gemini.
type Adapter struct{}

// Parser reads streamed JSON.
func (Adapter) Parser(*agent.Spec) agent.Parser { return newStream() }

// memory of the repository is never read by itself: no workspace is trusted.
func memory(*agent.Request) agent.Memory { return agent.Memory{Own: []string{"GEMINI.md"}} }

// offered are the tools that a list leaves, or the best known of many.
func offered(r *agent.Request) prompt.Tools {
	some := tools(r.Spec)
	all := len(some) > 0
	if !all {
		some = tools(&agent.Spec{Tools: agent.AllTools()})
	}
	// It is an older version's.
	some = slices.DeleteFunc(some, func(name string) bool { return name == "read_many_files" })
	return prompt.Tools{Names: some, All: all}
}
