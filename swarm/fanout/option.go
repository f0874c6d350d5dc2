package fanout

import (
	"encoding/json"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/task"
)

// optionFields are the fields for the options of a task's agent.
func optionFields() []string {
	return []string{"role", "model", "effort", "max_thinking_tokens", "tools", "read_only", "variant"}
}

// option reads a field of the agent's options, or returns its fault.
func (n *narrowing) option(f recordField) (reason string) {
	t := &n.task
	switch f.name {
	case "role":
		if t.Role, reason = text(f.value); reason == "" && !roles.IsName(t.Role) {
			return quoted(t.Role) + " is not the name of a role"
		}
	case "model":
		t.Model, reason = option(f.value)
	case "effort":
		t.Effort, reason = option(f.value)
	case "max_thinking_tokens":
		n, ok := whole(f.value)
		if t.MaxThinking = n; !ok || n < 1 {
			return "expected a whole number from 1, got " + describe(f.value)
		}
	case "tools":
		if t.Tools, reason = words(f.value, `tools, such as ["read", "grep"]`); reason != "" {
			return reason
		}
		if unknown := agent.UnknownTool(t.Tools); unknown != "" {
			return "there is no tool " + quoted(unknown) + didYouMean(unknown, agent.AllTools())
		}
	case "read_only":
		yes, ok := f.value.(bool)
		if t.ReadOnly = yes; !ok {
			return "expected true or false, got " + describe(f.value)
		}
	case "variant":
		if t.Variant, reason = text(f.value); reason == "" && t.Variant != task.VariantOff {
			return quoted(t.Variant) + " is not " + quoted(task.VariantOff) + ", which leaves them out"
		}
	}
	return reason
}

// whole is a whole number.
func whole(v any) (int64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := n.Int64()
	return i, err == nil
}

// option reads a word that an agent's program is given.
func option(v any) (string, string) {
	s, reason := text(v)
	if reason == "" && !agent.IsOption(s) {
		return "", quoted(s) + " is not a word without spaces that does not begin with -"
	}
	return s, reason
}

// optionBesideCommand refuses the first field that no command has.
func (n *narrowing) optionBesideCommand() *TaskError {
	for _, name := range optionFields() {
		if line, ok := n.places[name]; ok {
			return n.wrong(line, name, "does not go with a command; it is for a prompt")
		}
	}
	return nil
}
