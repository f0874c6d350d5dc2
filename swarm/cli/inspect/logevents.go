package inspect

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// eventObject is swarm.event/1, described in docs/json.md.
type eventObject struct {
	Schema  string      `json:"schema"`
	Run     string      `json:"run"`
	Agent   task.ID     `json:"agent"`
	Attempt int         `json:"attempt"`
	Type    string      `json:"type"`
	Event   event.Event `json:"event"`
}

func (s *stream) events(l *logger, events []event.Event) error {
	for _, e := range events {
		repeats := s.said.repeats(e)
		if l.json {
			var line strings.Builder
			err := cmdline.PrintJSON(&line, eventObject{
				Schema: "swarm.event/1", Run: l.run.ID, Agent: s.id, Attempt: s.attempt,
				Type: event.Kind(e), Event: e,
			})
			if err == nil {
				err = l.emit(s, line.String())
			}
			if err != nil {
				return err
			}
			continue
		}
		if repeats {
			continue
		}
		for line := range bytes.Lines([]byte(eventText(e))) {
			if err := s.line(l, string(bytes.TrimRight(line, "\r\n"))); err != nil {
				return err
			}
		}
	}
	return nil
}

// eventText is an event for a person; empty where it says nothing.
func eventText(e event.Event) string {
	switch e := e.(type) {
	case *event.Session:
		return fmt.Sprintf("[session %s %s]", e.ID, e.Model)
	case *event.Text:
		return e.Text
	case *event.ToolStart:
		return fmt.Sprintf("[%s] %s", e.Name, e.Input)
	case *event.ToolEnd:
		if e.OK {
			return ""
		}
		return fmt.Sprintf("[failed] %s", e.Output)
	case *event.Asked:
		return fmt.Sprintf("[asks] %s", e.Action)
	case *event.Answered:
		return e.Text
	case *event.Sent:
		return "[sent] " + e.Text
	case *event.Erred:
		return fmt.Sprintf("[error] %s: %s", e.Kind, e.Message)
	case *event.Retry:
		return fmt.Sprintf("[tries again] %s: %s", e.Kind, e.Message)
	case *event.Raw:
		return string(e.Line)
	default:
		return ""
	}
}

// maxSaid bounds the texts that are kept for comparison with an answer, in
// bytes.
const maxSaid = 1 << 20

// printed is the text that an agent printed since its last tool, without blanks.
// Most agents print their answer as text and then once more as the answer.
type printed struct {
	last string          // the latest text
	all  strings.Builder // all texts since the last tool
}

// repeats notes an event, and reports whether it is an answer that was printed
// already.
func (s *printed) repeats(e event.Event) bool {
	switch e := e.(type) {
	case *event.Text:
		s.last = unspaced(e.Text)
		if s.all.Len()+len(s.last) <= maxSaid {
			s.all.WriteString(s.last)
		}
	case *event.ToolStart:
		s.last = ""
		s.all.Reset()
	case *event.Answered:
		answer := unspaced(e.Text)
		return answer != "" && (answer == s.last || answer == s.all.String())
	}
	return false
}

// unspaced is a text without its blanks.
func unspaced(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}

// next is the first message that was sent in the round and not printed yet; nil
// for none. Messages of earlier rounds come first.
func (s *stream) next() *event.Sent {
	for _, e := range s.sent[min(s.told, len(s.sent)):] {
		if e.Attempt != s.attempt {
			s.told++
			continue
		}
		if e.Round > s.round+1 {
			return nil
		}
		return e
	}
	return nil
}

// due prints the messages that were sent before the output that comes next, and
// returns how far that may be read before there is another: -1 for no bound.
func (s *stream) due(l *logger) (bound int64, err error) {
	for {
		e := s.next()
		if e == nil {
			return -1, nil
		}
		if e.Round == s.round+1 && e.Output > s.at {
			return e.Output, nil
		}
		if err := s.message(l, e); err != nil {
			return 0, err
		}
	}
}

// message prints a message that was sent to the agent. The agent's own output, which
// --raw prints, has none.
func (s *stream) message(l *logger, e *event.Sent) error {
	s.told++
	if l.raw {
		return nil
	}
	return s.events(l, []event.Event{e})
}

// messages prints those that are left.
func (s *stream) messages(l *logger) error {
	for _, e := range s.sent[min(s.told, len(s.sent)):] {
		if e.Attempt != s.attempt {
			s.told++
			continue
		}
		if err := s.message(l, e); err != nil {
			return err
		}
	}
	return nil
}
