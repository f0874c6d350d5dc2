package pullrequest

import (
	"fmt"
	"slices"
	"strings"

	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/swarm/ticket"
)

// Texts are what the user said about titles and bodies. For an agent with a ticket
// they are templates; see [ticket.Template].
type Texts struct {
	Title string // empty: [Part.Title]
	Body  string // stands before [Part.Body]
}

// TextError is a text that cannot be filled for an agent.
type TextError struct {
	Agent  task.ID
	Text   string
	Reason string
	Tip    string
}

func (e *TextError) Error() string { return fmt.Sprintf("%q for %s: %s", e.Text, e.Agent, e.Reason) }

// Hint says how to mend it; it may be empty.
func (e *TextError) Hint() string { return e.Tip }

// fill is the title and the body of a part. An error is a [*TextError].
func (t Texts) fill(p *Part, view *store.View, run string) (title, body string, err error) {
	title, body = p.Title(run), p.Body(run)
	agents := agentsOf(p, view)
	if t.Title != "" {
		titles, err := t.each(t.Title, agents, (*ticket.Template).Line)
		if err != nil {
			return "", "", err
		}
		if len(titles) > 1 {
			return "", "", &TextError{
				Agent: agents[0].ID, Text: t.Title, Reason: "a field stands for one ticket, and the pull request has several",
				Tip: "add --each, or leave the fields out",
			}
		}
		title = strings.Join(titles, "")
	}
	if t.Body != "" {
		bodies, err := t.each(t.Body, agents, (*ticket.Template).Text)
		if err != nil {
			return "", "", err
		}
		body = strings.Join(bodies, "\n") + "\n\n" + body
	}
	return title, body, nil
}

// agentsOf are the agents of a part as the run recorded them.
func agentsOf(p *Part, view *store.View) []*store.Agent {
	var all []*store.Agent
	for _, id := range p.Agents() {
		if a := view.Agent(id); a != nil {
			all = append(all, a)
		}
	}
	return all
}

// each fills a text for each agent, and drops repetitions. A text without a ticket
// stays as it is.
func (t Texts) each(text string, agents []*store.Agent, how func(*ticket.Template, ticket.Values) (string, error)) ([]string, error) {
	var all []string
	for _, a := range agents {
		filled := text
		if len(a.Call.Ticket) > 0 {
			template, err := ticket.Parse(text)
			if err == nil {
				filled, err = how(template, ticket.NewValues(a.Call.Ticket, a.Call.Item, a.Call.Index, a.Call.Count))
			}
			if err != nil {
				return nil, textError(a.ID, text, err)
			}
		}
		if filled = strings.TrimSpace(filled); filled == "" {
			return nil, &TextError{Agent: a.ID, Text: text, Reason: "it would be empty"}
		}
		if !slices.Contains(all, filled) {
			all = append(all, filled)
		}
	}
	if len(agents) == 0 {
		all = []string{text}
	}
	return all, nil
}

func textError(id task.ID, text string, err error) error {
	out := &TextError{Agent: id, Text: text, Reason: err.Error()}
	if hinted, ok := err.(interface{ Hint() string }); ok {
		out.Tip = hinted.Hint()
	}
	return out
}
