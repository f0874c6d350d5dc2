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

// Brief spares what only a face shows: what tools are given and what comes of
// them, and the text of unknown messages.
func (p *parser) Brief() { p.brief = true }
