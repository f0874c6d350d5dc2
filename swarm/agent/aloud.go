package agent

import (
	"agentswarm/swarm/event"
	"agentswarm/swarm/thought"
)

// Aloud returns an adapter that cuts the model's thoughts from texts and
// answers, where its server left them in the text.
func Aloud(a Adapter) Adapter { return aloud{a} }

type aloud struct{ Adapter }

// Parser wraps the adapter's own parser.
func (a aloud) Parser(spec *Spec) Parser { return &aloudParser{Parser: a.Adapter.Parser(spec)} }

type aloudParser struct{ Parser }

// Feed drops thoughts.
func (p *aloudParser) Feed(b []byte) []event.Event { return spoken(p.Parser.Feed(b)) }

// End drops thoughts.
func (p *aloudParser) End() []event.Event { return spoken(p.Parser.End()) }

// Release forwards to the parser, if it has the method.
func (p *aloudParser) Release(most int) int {
	if parser, ok := p.Parser.(releaser); ok {
		return parser.Release(most)
	}
	return 0
}

// Brief forwards to the parser, if it has the method.
func (p *aloudParser) Brief() {
	if parser, ok := p.Parser.(briefer); ok {
		parser.Brief()
	}
}

// spoken cuts thoughts. It drops a text that was only thoughts; an answer stays
// an answer.
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
