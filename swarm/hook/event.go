package hook

import "slices"

// Event is an event in the life of a run or an agent that a hook may learn of.
// The zero value is an event without hooks here.
type Event string

// The events. The first four are those that [hooks] of the configuration has
// commands for.
const (
	Elsewhere  Event = ""
	RunStart   Event = "on_run_start"
	AgentStart Event = "on_agent_start"
	AgentEnd   Event = "on_agent_end"
	RunEnd     Event = "on_run_end"
	BeforeTool Event = "before_tool"
)

// Configured are the events that a configuration may have commands for.
func Configured() []Event { return []Event{RunStart, AgentStart, AgentEnd, RunEnd} }

// Vetoes reports whether a hook of the event may forbid it.
func (e Event) Vetoes() bool { return e == RunStart || e == AgentStart }

// Named is an event by the name that some dialects have for it.
type Named struct {
	Name     string
	Event    Event
	Dialects []Dialect
}

// Events returns the names that any dialect has for events, and our event for
// each. It is the only place that knows: a name that is missing is unknown
// everywhere.
//
// The plain dialect has our own names. A session of an agent's program begins
// and ends as an agent here does, and so does each agent that such a program
// starts by itself.
func Events() []Named {
	claude, gemini := []Dialect{Claude, Codex, Qwen}, []Dialect{Gemini}
	all := []Dialect{Claude, Codex, Gemini, Qwen}
	plain := []Dialect{Plain}
	return []Named{
		{string(RunStart), RunStart, plain},
		{string(AgentStart), AgentStart, plain},
		{string(AgentEnd), AgentEnd, plain},
		{string(RunEnd), RunEnd, plain},
		{string(BeforeTool), BeforeTool, plain},

		{"PreToolUse", BeforeTool, claude},
		{"BeforeTool", BeforeTool, gemini},

		{"SessionStart", AgentStart, all},
		{"AgentStart", AgentStart, all},
		{"SubagentStart", AgentStart, all},
		{"BeforeAgent", AgentStart, all},
		{"SessionEnd", AgentEnd, all},
		{"AgentEnd", AgentEnd, all},
		{"SubagentStop", AgentEnd, all},
		{"AfterAgent", AgentEnd, all},
		{"Stop", AgentEnd, all},

		{"PostToolUse", Elsewhere, all},
		{"PostToolUseFailure", Elsewhere, all},
		{"AfterTool", Elsewhere, all},
		{"Notification", Elsewhere, all},
		{"UserPromptSubmit", Elsewhere, all},
		{"PreCompact", Elsewhere, all},
		{"PostCompact", Elsewhere, all},
		{"BeforeModel", Elsewhere, all},
		{"AfterModel", Elsewhere, all},
		{"PreCompress", Elsewhere, all},
		{"BeforeToolSelection", Elsewhere, all},

		// For programs whose extensions ask, and not a hook.
		{"session_start", AgentStart, plain},
		{"agent_start", AgentStart, plain},
		{"agent_end", AgentEnd, plain},
		{"session_shutdown", AgentEnd, plain},
		{"tool_call", BeforeTool, plain},
		{"session.created", AgentStart, plain},
		{"session.idle", AgentEnd, plain},
		{"tool.execute.before", BeforeTool, plain},
	}
}

// Means returns our event for any dialect's name. It is false if no dialect has
// the name.
func Means(name string) (Event, bool) {
	all := Events()
	at := slices.IndexFunc(all, func(n Named) bool { return n.Name == name })
	if at < 0 {
		return Elsewhere, false
	}
	return all[at].Event, true
}

// event returns our event for a name of this dialect.
func (d Dialect) event(name string) (Event, bool) {
	all := Events()
	at := slices.IndexFunc(all, func(n Named) bool { return n.Name == name && slices.Contains(n.Dialects, d) })
	if at < 0 {
		return Elsewhere, false
	}
	return all[at].Event, true
}

// before is the name of the event that comes before a tool is used.
func (d Dialect) before() string {
	all := Events()
	at := slices.IndexFunc(all, func(n Named) bool { return n.Event == BeforeTool && slices.Contains(n.Dialects, d) })
	return all[at].Name
}
