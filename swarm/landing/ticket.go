package landing

import (
	"fmt"
	"strings"

	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/swarm/ticket"
)

// TicketError is a message or a trailer that cannot be filled for an agent.
type TicketError struct {
	Agent  task.ID
	Label  string // of the agent; may be empty
	Text   string // the message or the trailer
	Reason string
	Tip    string
}

func (e *TicketError) Error() string {
	name := string(e.Agent)
	if e.Label != "" {
		name += " (" + e.Label + ")"
	}
	return fmt.Sprintf("%q for %s: %s", e.Text, name, e.Reason)
}

// Hint says how to mend it; it may be empty.
func (e *TicketError) Hint() string { return e.Tip }

// said is the text of the commit of an agent.
type said struct {
	subject, body string
	trailers      []string // a line for each of the style, in their order
}

// Check refuses a style that one of the agents cannot have, before a merge
// begins. It returns a [*TicketError], or a [*ManyError] if the style is a
// single message for several commits.
func (s Style) Check(agents []*store.Agent) error {
	for _, a := range agents {
		if _, err := s.fill(a); err != nil {
			return err
		}
	}
	fields := s.Message != "" && hasFields(s.Message)
	for _, a := range agents {
		own := fields && len(a.Call.Ticket) > 0
		switch {
		case s.Squash && own:
			return &TicketError{
				Agent: a.ID, Label: a.Call.Label, Text: s.Message,
				Reason: "a field is of a single ticket, and --squash makes a single commit of all patches",
				Tip:    "leave --squash out, or the fields; a trailer such as 'Fixes: #{number}' is added for each ticket",
			}
		case !s.Squash && !own && s.Message != "" && len(agents) > 1:
			return &ManyError{Count: len(agents)}
		}
	}
	return nil
}

// ManyError is a single message for several commits.
type ManyError struct{ Count int }

func (e *ManyError) Error() string {
	return fmt.Sprintf("the message names one commit, and %d patches would land", e.Count)
}

// hasFields reports whether a text is a template with fields.
func hasFields(text string) bool {
	template, err := ticket.Parse(text)
	return err != nil || template.HasFields()
}

// fill returns the texts of the style for the commit of an agent. Without a
// ticket the texts stay as they are.
func (s Style) fill(a *store.Agent) (said, error) {
	if len(a.Call.Ticket) == 0 {
		subject, body := SplitMessage(s.Message)
		return said{subject, body, s.Trailers}, nil
	}
	f := newFilling(a)
	var out said
	if s.Message != "" && !s.Squash {
		subject, body := SplitMessage(s.Message)
		out.subject, out.body = f.line(subject), f.text(body)
		if f.err == nil && out.subject == "" {
			f.wrong(subject, "the subject is empty", "")
		}
	}
	for _, text := range s.Trailers {
		filled := f.line(text)
		if err := CheckTrailer(filled); err != nil && f.err == nil {
			f.wrong(text, "it would be "+fmt.Sprintf("%q", filled)+": "+err.Error(), "")
		}
		out.trailers = append(out.trailers, filled)
	}
	return out, f.err
}

// FillLine fills a line with the fields of an agent's ticket; see [ticket.Template.Line].
// Without a ticket the line stays as it is. An error is a [*TicketError].
func FillLine(a *store.Agent, line string) (string, error) {
	return fillAlone(a, line, (*filling).line)
}

// FillText is FillLine for a text of several lines.
func FillText(a *store.Agent, text string) (string, error) {
	return fillAlone(a, text, (*filling).text)
}

func fillAlone(a *store.Agent, text string, fill func(*filling, string) string) (string, error) {
	if len(a.Call.Ticket) == 0 {
		return text, nil
	}
	f := newFilling(a)
	filled := fill(f, text)
	if f.err == nil && filled == "" {
		f.wrong(text, "it would be empty", "")
	}
	return filled, f.err
}

func newFilling(a *store.Agent) *filling {
	return &filling{agent: a, values: ticket.NewValues(a.Call.Ticket, a.Call.Item, a.Call.Index, a.Call.Count)}
}

// filling fills the texts of an agent and keeps the first error.
type filling struct {
	agent  *store.Agent
	values ticket.Values
	err    error
}

func (f *filling) wrong(text, reason, tip string) {
	f.err = &TicketError{Agent: f.agent.ID, Label: f.agent.Call.Label, Text: text, Reason: reason, Tip: tip}
}

// line fills a single line: a value cannot end it.
func (f *filling) line(text string) string {
	return strings.TrimSpace(f.fill(text, (*ticket.Template).Line))
}

// text fills the body of a message.
func (f *filling) text(text string) string {
	return strings.TrimSpace(f.fill(text, (*ticket.Template).Text))
}

func (f *filling) fill(text string, how func(*ticket.Template, ticket.Values) (string, error)) string {
	if f.err != nil {
		return ""
	}
	template, err := ticket.Parse(text)
	var filled string
	if err == nil {
		filled, err = how(template, f.values)
	}
	if err != nil {
		tip := ""
		if hinted, ok := err.(interface{ Hint() string }); ok {
			tip = hinted.Hint()
		}
		f.wrong(text, err.Error(), tip)
	}
	return filled
}
