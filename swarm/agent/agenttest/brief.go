// Package agenttest helps to test the adapters of agents: their launches, and the
// parsers of their output. No product code imports it.
package agenttest

import (
	"slices"
	"strings"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// Read has a parser read a stream in pieces of a size. It returns each event as
// a line, ids left out, and the sum of the usage.
func Read(p agent.Parser, stream []byte, size int) (said []string, used task.Usage) {
	var all []event.Event
	for piece := range slices.Chunk(stream, size) {
		all = append(all, p.Feed(piece)...)
	}
	for _, e := range append(all, p.End()...) {
		if spent, ok := e.(*event.Spent); ok {
			used.Add(spent.Usage)
			continue
		}
		said = append(said, line(e))
	}
	return said, used
}

// line is an event in a few words.
func line(e event.Event) string {
	switch e := e.(type) {
	case *event.Session:
		return "session " + strings.Repeat("?", min(1, len(e.ID))) + " " + e.Model
	case *event.Turn:
		return "turn"
	case *event.Text:
		return "text " + e.Text
	case *event.ToolStart:
		return "start " + e.Name + " " + string(e.Input)
	case *event.ToolEnd:
		return "end " + map[bool]string{true: "ok", false: "failed"}[e.OK] + " " + string(e.Output)
	case *event.Answered:
		return "answer " + e.Text + string(e.Structured)
	case *event.Erred:
		return "error " + string(e.Kind)
	case *event.Retry:
		return "retry " + string(e.Kind) + " " + e.Message
	default:
		return event.Kind(e)
	}
}
