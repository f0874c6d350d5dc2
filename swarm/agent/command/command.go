// Package command drives an agent that is any command, by the protocol of
// docs/agent-protocol.md.
//
// It owns the command line and the parsing of such an agent's output. It starts
// nothing.
package command

import (
	"encoding/json"
	"fmt"
	"strings"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/limit"
)

// Adapter drives agents of kind command.
type Adapter struct{}

// Kind returns the description of such agents: they have only the abilities of
// their protocol.
func Kind() agent.Kind {
	return agent.Kind{Name: agent.KindCommand, Adapter: Adapter{}, Spec: *agent.Inline(), Footprint: limit.CommandFootprint}
}

// Launch fills the prompt into the command, or hands it over on stdin.
func (Adapter) Launch(r agent.Request) (agent.Launch, error) {
	argv := r.Spec.Command
	if len(r.Command) > 0 {
		argv = r.Command
	}
	if len(argv) == 0 {
		return agent.Launch{}, fmt.Errorf("agent %s: its command is empty", r.Spec.Name)
	}
	switch r.Spec.Input {
	case agent.InputStdin:
		return agent.Launch{Argv: argv, Stdin: r.PromptFile}, nil
	case agent.InputArg:
		fill := strings.NewReplacer("{prompt}", r.Prompt, "{prompt_file}", r.PromptFile)
		filled := make([]string, len(argv))
		for i, word := range argv {
			filled[i] = fill.Replace(word)
		}
		return agent.Launch{Argv: filled}, nil
	case agent.InputNone:
		return agent.Launch{Argv: argv}, nil
	case agent.InputJSONL:
		feed, err := line(promptMessage{Type: "prompt", Text: r.Prompt, Schema: r.Schema})
		if err != nil {
			return agent.Launch{}, err
		}
		finish, err := line(finishMessage{Type: "finish", Reason: "result"})
		return agent.Launch{
			Argv: argv, Open: true, Feed: feed, Finish: finish, Reply: reply, Steer: steer,
			Again: func(text string) []byte {
				return mustLine(promptMessage{Type: "prompt", Text: text, Schema: r.Schema})
			},
		}, err
	default:
		return agent.Launch{}, fmt.Errorf("agent %s: unknown input %q", r.Spec.Name, r.Spec.Input)
	}
}

// Parser reads text or events, by the agent's format.
func (Adapter) Parser(spec *agent.Spec) agent.Parser {
	if spec.Format == agent.FormatJSONL {
		return &events{}
	}
	return &text{}
}

// promptMessage and finishMessage are messages to an open stdin.
type promptMessage struct {
	Type   string          `json:"type"`
	Text   string          `json:"text"`
	Schema json.RawMessage `json:"schema,omitempty"`
}

type finishMessage struct {
	Type   string `json:"type"`
	Reason string `json:"reason"`
}

type answerMessage struct {
	Type   string `json:"type"`
	ID     string `json:"id"`
	Allow  bool   `json:"allow"`
	Text   string `json:"text,omitempty"`
	Reason string `json:"reason"`
}

type steerMessage struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// reply answers an action the agent asked for.
func reply(r agent.Reply) []byte {
	return mustLine(answerMessage{
		Type: "answer", ID: r.Ask, Allow: r.Allow, Text: r.Text, Reason: r.Reason,
	})
}

// steer is a word to an agent at work.
func steer(text string) []byte { return mustLine(steerMessage{Type: "steer", Text: text}) }

func mustLine(message any) []byte {
	text, err := line(message)
	if err != nil {
		panic(fmt.Sprintf("command: a message of strings does not marshal: %v", err))
	}
	return text
}

func line(message any) ([]byte, error) {
	text, err := json.Marshal(message)
	return append(text, '\n'), err
}
