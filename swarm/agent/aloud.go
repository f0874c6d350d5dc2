package agent

import (
	"agentswarm/swarm/event"
	"agentswarm/swarm/thought"
)

// Aloud is an adapter whose agents' texts and answers are without what their
// model only thought, where its server left that in the text.
func Aloud(a Adapter) Adapter { return aloud{a} }

type aloud struct{ Adapter }

// Parser reads what the adapter's own parser does.
func (a aloud) Parser(spec *Spec) Parser { return &aloudParser{Parser: a.Adapter.Parser(spec)} }

type aloudParser struct{ Parser }

// Feed drops thoughts.
func (p *aloudParser) Feed(b []byte) []event.Event { return spoken(p.Parser.Feed(b)) }

// End drops thoughts.
func (p *aloudParser) End() []event.Event { return spoken(p.Parser.End()) }

// Release does what the parser does, if it can.
func (p *aloudParser) Release(most int) int {
	if parser, ok := p.Parser.(releaser); ok {
		return parser.Release(most)
	}
	return 0
}

// Brief does what the parser does, if it can.
func (p *aloudParser) Brief() {
	if parser, ok := p.Parser.(briefer); ok {
		parser.Brief()
	}
}

// spoken cuts thoughts. A text that was nothing else is dropped; an answer
// stays one.
func spoken(events []event.Event) []event.Event {
	var all []event.Event
	for _, e := range events {
		switch e := e.(type) {
		case *event.Text:
			was := e.Text
			if e.Text = thought.Cut(was); e.Text == "" && was != "" {
				continue
			}
		case *event.Answered:
			e.Text = thought.Cut(e.Text)
		}
		all = append(all, e)
	}
	return all
}
