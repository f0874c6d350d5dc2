package codex

import (
	"agentswarm/swarm/event"
	"agentswarm/swarm/wire"
)

func newParser() *parser {
	p := &parser{}
	p.Lines = wire.Lines{Read: p.read, Cut: func(head, _ []byte) []event.Event { return p.cut(head) }}
	return p
}

// Brief drops the data that only a user interface shows: the input and output
// of tools, and the text of unknown messages.
func (p *parser) Brief() { p.brief = true }
