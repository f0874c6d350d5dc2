package engine

import (
	"fmt"
	"slices"
	"strconv"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/task"
	"agentswarm/swarm/toolset"
)

// checkChoices refuses options of a call that the kind of its agent does not
// have, by their names.
func checkChoices(spec *agent.Spec, kinds map[string]agent.Kind, call *task.Call) error {
	if err := checkWords(call.Options); err != nil {
		return err
	}
	_, fork := call.Input.(*task.ForkAgentInput)
	kind, readOnly, thinking := kinds[spec.Kind], "read_only", "max_thinking_tokens"
	if call.Script {
		readOnly, thinking = "readOnly", "maxThinkingTokens"
	}
	for _, option := range []struct {
		name, noun string
		set, can   bool
	}{
		{"model", "model", call.Model != "", kind.Can.Model},
		{"effort", "effort", call.Effort != "", kind.Can.Effort},
		{thinking, "limit of thinking tokens", call.MaxThinking != 0, kind.Can.Thinking},
		{"tools", "list of tools", len(call.Tools) > 0, kind.Can.Tools},
		{"disallowedTools", "list of forbidden tools", len(call.Without) > 0, kind.Can.Tools},
		{readOnly, "read-only mode", call.ReadOnly, kind.Can.ReadOnly},
		{"fork", "conversation to continue", fork, kind.Can.Fork},
	} {
		switch {
		case !option.set:
		case spec.Kind == agent.KindCommand && call.Agent == "":
			return fmt.Errorf("%s: a command that comes with the call has no option for it; put the %s into the command", option.name, option.noun)
		case spec.Kind == agent.KindCommand:
			return fmt.Errorf("%s: agent %s is a command; put the %s into its command", option.name, spec.Name, option.noun)
		case kind.Name == "":
			return fmt.Errorf("%s: agent %s is of the kind %s, which this version does not drive", option.name, spec.Name, spec.Kind)
		case !option.can:
			return fmt.Errorf("%s: agent %s is of the kind %s, which has no option for the %s", option.name, spec.Name, spec.Kind, option.noun)
		}
	}
	if missing := kind.Lists.Missing(toolset.Lists{Tools: call.Tools, Without: call.Without}); missing != "" && (len(call.Tools) > 0 || len(call.Without) > 0) {
		return fmt.Errorf("tools: agents of the kind %s have no option for %s", spec.Kind, missing)
	}
	if named := call.Tools; spec.ReadOnly && !agent.Reads(named) {
		return fmt.Errorf("tools: agent %s is read-only, and %s is not among %q",
			spec.Name, firstWriter(named), agent.ReadOnlyTools())
	}
	return nil
}

// firstWriter is the first of the tools that changes something.
func firstWriter(tools []string) string {
	at := slices.IndexFunc(tools, func(t string) bool { return !agent.Reads([]string{t}) })
	return strconv.Quote(tools[at])
}

// checkWords refuses words that mean nothing to any kind.
func checkWords(o task.Options) error {
	for _, word := range []struct{ name, value string }{{"model", o.Model}, {"effort", o.Effort}} {
		if word.value != "" && !agent.IsOption(word.value) {
			return fmt.Errorf("%s: %s is not a word without spaces that does not begin with -",
				word.name, brief(strconv.Quote(word.value)))
		}
	}
	if o.MaxThinking < 0 {
		return fmt.Errorf("max_thinking_tokens: %d is below 0", o.MaxThinking)
	}
	for _, list := range []struct {
		name    string
		entries []string
	}{{"tools", o.Tools}, {"disallowedTools", o.Without}} {
		for _, text := range list.entries {
			e, err := toolset.Parse(text)
			if err != nil {
				return fmt.Errorf("%s: %w", list.name, err)
			}
			if e.String() != text {
				return fmt.Errorf("%s: %s is written %s here", list.name, brief(strconv.Quote(text)), brief(strconv.Quote(e.String())))
			}
		}
	}
	return nil
}

// checkFork refuses a call that continues a conversation that is not there.
func (e *Engine) checkFork(calls []*task.Call) error {
	for _, call := range calls {
		fork, ok := call.Input.(*task.ForkAgentInput)
		if !ok {
			continue
		}
		parent := e.agents[fork.Parent]
		if parent == nil {
			return fmt.Errorf("fork: there is no agent %s", fork.Parent)
		}
		if _, completed := parent.result.(*task.Completed); !completed {
			return fmt.Errorf("fork: %s has not completed; only a completed conversation can be continued", fork.Parent)
		}
		if parent.result.Done().Session == "" {
			return fmt.Errorf("fork: %s: %w", fork.Parent, ErrNoParent)
		}
		if parent.call.Agent != call.Agent {
			return fmt.Errorf("fork: %s is an agent %s, and its conversation is not that of an agent %s", fork.Parent, parent.call.Agent, call.Agent)
		}
	}
	return nil
}

// layChoices lays the options of a call over its agent.
func layChoices(spec *agent.Spec, call *task.Call) {
	o := agent.Lay(call.Options, task.Options{
		Model: spec.Model, Effort: spec.Effort, Tools: spec.Tools, Without: spec.Without, ReadOnly: spec.ReadOnly,
		MaxThinking: spec.MaxThinking,
	})
	spec.Model, spec.Effort, spec.ReadOnly = o.Model, o.Effort, o.ReadOnly
	spec.Tools, spec.Without = o.Tools, o.Without
	spec.MaxThinking = o.MaxThinking
	if call.Limits.Turns > 0 {
		spec.Turns = call.Limits.Turns
	}
}
