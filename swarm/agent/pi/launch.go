package pi

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
)

// Names in the state folder beside the files of the user.
const (
	sessionDir    = "sessions"
	systemFile    = "swarm-system.md"
	extensionFile = "swarm-extension.mjs"
)

// Launch starts RPC mode with a state of its own, and asks for the work on its
// stdin.
func (Adapter) Launch(r agent.Request) (agent.Launch, error) {
	argv := slices.Clone(r.Spec.Command)
	switch {
	case len(r.Command) > 0:
		return agent.Launch{}, fmt.Errorf("agent %s: command: an agent of kind pi brings its own", r.Spec.Name)
	case len(argv) == 0:
		return agent.Launch{}, fmt.Errorf("agent %s: its command is empty", r.Spec.Name)
	case r.State == "":
		return agent.Launch{}, fmt.Errorf("agent %s: pi needs a state folder", r.Spec.Name)
	}
	flags, tools, err := options(&r)
	if err != nil {
		return agent.Launch{}, fmt.Errorf("agent %s: %w", r.Spec.Name, err)
	}
	files, err := state(&r, tools)
	if err != nil {
		return agent.Launch{}, fmt.Errorf("agent %s: %w", r.Spec.Name, err)
	}
	return agent.Launch{
		Argv:    append(argv, flags...),
		Env:     environment(r.State),
		Unset:   inherited(),
		Files:   files,
		Open:    true,
		Feed:    line(command{ID: stateID, Type: "get_state"}),
		Respond: promptAt(r.Prompt),
		// The same command starts a turn where none runs any more.
		Steer: func(text string) []byte { return prompt(steerID, text) },
		Again: func(text string) []byte { return prompt(promptID, text) },
	}, nil
}

// promptAt sends the prompt once pi has reported its state. It closes stdin
// after an error: pi waits after an error as after an answer.
func promptAt(text string) func(event.Event) ([]byte, bool) {
	asked := false
	return func(e event.Event) ([]byte, bool) {
		switch e.(type) {
		case *event.Erred:
			return nil, true
		case *event.Session:
			if !asked {
				asked = true
				return prompt(promptID, text), false
			}
		}
		return nil, false
	}
}

// options are the flags, and the tools that are all there may be; nil for
// those it has anyway.
func options(r *agent.Request) (flags, tools []string, err error) {
	s := r.Spec
	flags = []string{
		"--mode", "rpc",
		"--no-extensions", "--extension", filepath.Join(r.State, extensionFile),
	}
	if r.System != "" {
		flags = append(flags, "--append-system-prompt", filepath.Join(r.State, systemFile))
	}
	if s.Model != "" {
		if strings.HasPrefix(s.Model, "-") {
			return nil, nil, fmt.Errorf("model: %q is not the name of a model", s.Model)
		}
		flags = append(flags, "--model", s.Model)
	}
	if s.Effort != "" {
		if !slices.Contains(efforts(), s.Effort) {
			return nil, nil, fmt.Errorf("effort: pi does not know %q; want one of %s",
				s.Effort, strings.Join(efforts(), ", "))
		}
		flags = append(flags, "--thinking", s.Effort)
	}
	if tools, err = allowed(s); err != nil {
		return nil, nil, err
	}
	if tools != nil {
		flags = append(flags, "--tools", strings.Join(tools, ","))
	}
	if r.Parent != "" {
		flags = append(flags, "--fork", r.Parent)
	}
	if r.Session != "" {
		flags = append(flags, "--session-id", r.Session)
	}
	return flags, tools, nil
}

// check returns an error that names an option which no agent of the kind
// supports.
func check(s *agent.Spec) error {
	_, _, err := options(&agent.Request{Spec: s})
	return err
}

// efforts are how hard pi can make a model think.
func efforts() []string { return []string{"off", "minimal", "low", "medium", "high", "xhigh", "max"} }

// allowed are the tools of an agent, whose names are those of pi; nil for those
// it has anyway.
func allowed(s *agent.Spec) ([]string, error) {
	for _, tool := range s.Tools {
		if !slices.Contains(agent.AllTools(), tool) {
			return nil, fmt.Errorf("tools: %q is not a tool; want some of %s", tool, strings.Join(agent.AllTools(), ", "))
		}
	}
	if err := s.CheckReads(); err != nil {
		return nil, err
	}
	if s.ReadOnly && len(s.Tools) == 0 {
		return agent.ReadOnlyTools(), nil
	}
	return s.Tools, nil
}

// environment returns the variables that set pi's state folders, and that
// switch off its updates and telemetry.
func environment(state string) []string {
	return []string{
		"PI_CODING_AGENT_DIR=" + state,
		"PI_CODING_AGENT_SESSION_DIR=" + filepath.Join(state, sessionDir),
		"PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1", "PI_TELEMETRY=0",
	}
}

// inherited are the variables of an outer pi's own session, and those that
// would end pi before it begins.
func inherited() []string {
	return []string{
		"PI_SESSION_ID", "PI_SESSION_FILE", "PI_PROVIDER", "PI_MODEL", "PI_REASONING_LEVEL",
		"PI_STARTUP_BENCHMARK",
	}
}

// The ids of our commands, by which the parser matches responses.
const (
	stateID  = "swarm-state"
	promptID = "swarm-prompt"
	steerID  = "swarm-steer"
)

// command is a command to stdin.
type command struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Message string `json:"message,omitempty"`
	While   string `json:"streamingBehavior,omitempty"`
}

// prompt encodes a message. A leading slash in it is no command of ours.
func prompt(id, text string) []byte {
	if strings.HasPrefix(text, "/") {
		text = "\n" + text
	}
	c := command{ID: id, Type: "prompt", Message: text}
	if id == steerID {
		c.While = "steer"
	}
	return line(c)
}

func line(c command) []byte {
	text, err := json.Marshal(c)
	if err != nil {
		panic(fmt.Sprintf("pi: a command of strings does not marshal: %v", err))
	}
	return append(text, '\n')
}
