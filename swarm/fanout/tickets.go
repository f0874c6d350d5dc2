package fanout

import (
	"errors"
	"fmt"
	"strings"

	"agentswarm/swarm/task"
	"agentswarm/swarm/ticket"
)

// TicketsRequest is a list of tickets, and the template of their prompts.
type TicketsRequest struct {
	ticket.Request
	Template string // required
}

// ReadTickets makes a task of each ticket. Its prompt is the filled template; no
// field of a ticket is a field of its task, so that a ticket chooses no command,
// no agent and no path, and grants nothing. An error is a [*ticket.Error].
func ReadTickets(r TicketsRequest) ([]Task, error) {
	if strings.TrimSpace(r.Template) == "" {
		return nil, &ticket.Error{Reason: "the template of the prompts is empty"}
	}
	template, err := ticket.Parse(r.Template)
	if err != nil {
		return nil, err
	}
	if !template.HasFields() {
		return nil, &ticket.Error{
			Reason: "the template names no field, so all agents would get the same prompt",
			Tip:    "write a field in braces, such as {title}",
		}
	}
	title, err := ticket.Parse(task.FirstLine(r.Template))
	if err != nil {
		return nil, err
	}
	tickets, err := ticket.Read(r.Request)
	if err != nil {
		return nil, err
	}
	tasks := make([]Task, 0, len(tickets))
	first := make(map[string]int, len(tickets))
	for i, one := range tickets {
		id := ticketID(one)
		wrong := func(err error) error { return ticketError(r.Source, one.Line, id, err) }
		if before, twice := first[id]; twice {
			return nil, wrong(fmt.Errorf("the list has it twice; line %d has it first", before))
		}
		first[id] = one.Line
		values := ticket.NewValues(one.Fields, id, i+1, len(tickets))
		t := Task{Line: one.Line, ID: id, Plain: true, Ticket: one.Fields}
		if t.Prompt, err = template.Prompt(values, r.Source, id); err != nil {
			return nil, wrong(err)
		}
		if t.Title, err = title.Line(values); err != nil {
			return nil, wrong(err)
		}
		if strings.TrimSpace(t.Prompt) == "" {
			return nil, wrong(ErrEmpty)
		}
		t.Title = clippedTitle(t.Title)
		tasks = append(tasks, t)
	}
	return tasks, nil
}

// ticketID is the first name of a ticket that can be an id.
func ticketID(t ticket.Ticket) string {
	last := t.Names[len(t.Names)-1]
	for _, name := range t.Names {
		if checkID(name) == "" {
			return name
		}
	}
	return last
}

// ticketError names the place of a fault.
func ticketError(source string, line int, id string, err error) error {
	wrong := &ticket.Error{Source: source, Line: line, Item: id, Reason: err.Error()}
	if hint, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		wrong.Tip = hint.Hint()
	}
	return wrong
}

// maxTitle is the longest title in characters. Subjects of commits should be
// shorter than 72.
const maxTitle = 70

func clippedTitle(title string) string {
	if runes := []rune(title); len(runes) > maxTitle {
		return strings.TrimSpace(string(runes[:maxTitle-1])) + "…"
	}
	return title
}
