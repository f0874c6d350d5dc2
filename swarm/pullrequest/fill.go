package pullrequest

import (
	"slices"
	"strings"

	"agentswarm/swarm/landing"
	"agentswarm/swarm/store"
)

// Texts are titles and bodies as the user gave them. For an agent with a ticket
// they are templates; see [ticket.Template].
type Texts struct {
	Title string // empty: [Part.Title]
	Body  string // stands before [Part.Body]
}

// fill is the title and the body of a part. An error is a [*landing.TicketError].
func (t Texts) fill(p *Part, view *store.View, run string) (title, body string, err error) {
	title, body = p.Title(run), p.Body(run)
	var agents []*store.Agent
	for _, id := range p.Agents() {
		if a := view.Agent(id); a != nil {
			agents = append(agents, a)
		}
	}
	if t.Title != "" {
		titles, err := fillAll(t.Title, agents, landing.FillLine)
		if err != nil {
			return "", "", err
		}
		if len(titles) > 1 {
			return "", "", &landing.TicketError{
				Agent: agents[0].ID, Text: t.Title, Reason: "a field is of a single ticket, and the pull request has several",
				Tip: "add --each, or leave the fields out",
			}
		}
		title = titles[0]
	}
	if t.Body != "" {
		bodies, err := fillAll(t.Body, agents, landing.FillText)
		if err != nil {
			return "", "", err
		}
		body = strings.Join(bodies, "\n") + "\n\n" + body
	}
	return title, body, nil
}

// fillAll fills a text for each agent, and drops repetitions. Without an agent the
// text stays as it is.
func fillAll(text string, agents []*store.Agent, fill func(*store.Agent, string) (string, error)) ([]string, error) {
	var all []string
	for _, a := range agents {
		filled, err := fill(a, text)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(all, filled) {
			all = append(all, filled)
		}
	}
	if len(all) == 0 {
		return []string{text}, nil
	}
	return all, nil
}
