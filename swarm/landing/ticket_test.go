package landing

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

func ticketAgent(id task.ID, fields string) *store.Agent {
	call := &task.Call{Label: "12", Title: "Fix #12: Crash", Item: "12", Index: 1, Count: 2, Input: &task.TypedAgentInput{Prompt: "p"}}
	if fields != "" {
		call.Ticket = json.RawMessage(fields)
	}
	return &store.Agent{ID: id, Call: call, Status: &task.Completed{}}
}

func TestTicketMessage(t *testing.T) {
	t.Parallel()
	const fields = `{"number":12,"title":"Crash\non tabs","body":"First.\r\n\r\nSigned-off-by: Eve <e@v.e>","n":null}`
	tests := []struct {
		name          string
		style         Style
		fields        string
		subject, body string
		trailers      []string // beside those of swarm
	}{
		{"no message", Style{}, fields, "Fix #12: Crash", "", nil},
		{"a message", Style{Message: "fix: {title} (#{number})\n\n{body}"}, fields, "fix: Crash on tabs (#12)", "First.\n\nSigned-off-by: Eve <e@v.e>", nil},
		{"braces twice", Style{Message: "{{title}}"}, fields, "{title}", "", nil},
		{"a trailer", Style{Trailers: []string{"Fixes: #{number}", "Refs: x"}}, fields, "Fix #12: Crash", "", []string{"Fixes: #12", "Refs: x"}},
		{"a trailer is one line", Style{Trailers: []string{"About: {title}"}}, fields, "Fix #12: Crash", "", []string{"About: Crash on tabs"}},
		{"no ticket", Style{Message: "{title}", Trailers: []string{"Fixes: #{number}"}}, "", "{title}", "", []string{"Fixes: #{number}"}},
		{"a squash", Style{Squash: true, Message: "all", Trailers: []string{"Fixes: #{number}", "Refs: x"}}, fields, "Fix #12: Crash", "", []string{"Fixes: #12"}},
		{"a squash without tickets", Style{Squash: true, Trailers: []string{"Fixes: #{number}"}}, "", "12", "", []string{"Fixes: #{number}"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := ticketAgent("a1", tt.fields)
			if err := tt.style.Check([]*store.Agent{a}); err != nil {
				t.Fatal(err)
			}
			p, err := tt.style.Commit(Work{Run: "k3x9q2", Agent: a, Patch: &task.Patch{Base: "b", Commit: "c"}, Kind: "claude", Title: "12"})
			if err != nil {
				t.Fatal(err)
			}
			if p.Subject != tt.subject || p.Body != tt.body {
				t.Errorf("the message is %q, %q, want %q, %q", p.Subject, p.Body, tt.subject, tt.body)
			}
			if got := p.Trailers[3:]; !slices.Equal(got, tt.trailers) {
				t.Errorf("the trailers are %q, want %q", got, tt.trailers)
			}
		})
	}
	q := Style{Squash: true, Trailers: []string{"Fixes: #{number}", "Refs: x"}}.Squashed("k3x9q2", 2)
	if !slices.Equal(q.Trailers, []string{"Refs: x"}) {
		t.Errorf("the trailers of a squash are %q", q.Trailers)
	}
}

func TestCheckOfTickets(t *testing.T) {
	t.Parallel()
	const one, two = `{"number":1,"title":"x","n":""}`, `{"number":2}`
	tests := []struct {
		name   string
		style  Style
		agents []*store.Agent
		want   string
	}{
		{"a message for each", Style{Message: "fix #{number}"}, []*store.Agent{ticketAgent("a1", one), ticketAgent("a2", two)}, ""},
		{"a field that one lacks", Style{Message: "fix {title}"}, []*store.Agent{ticketAgent("a1", one), ticketAgent("a2", two)}, `"fix {title}" for a2 (12): there is no field "title"`},
		{"in the body", Style{Message: "fix\n\n{titel}"}, []*store.Agent{ticketAgent("a1", one)}, `"{titel}" for a1 (12): there is no field "titel"; did you mean "title"?`},
		{"in a trailer", Style{Trailers: []string{"Fixes: {x}"}}, []*store.Agent{ticketAgent("a1", one)}, `"Fixes: {x}" for a1 (12): there is no field "x"`},
		{"an empty trailer", Style{Trailers: []string{"Fixes: {n}"}}, []*store.Agent{ticketAgent("a1", one)}, `"Fixes: {n}" for a1 (12): it would be "Fixes:"`},
		{"an empty subject", Style{Message: "{n}\n\nmore"}, []*store.Agent{ticketAgent("a1", one)}, `"{n}" for a1 (12): the subject is empty`},
		{"a wrong filter", Style{Message: "{title|x}"}, []*store.Agent{ticketAgent("a1", one)}, `"{title|x}" for a1 (12): {title|x}: unknown filter "x"`},
		{"one message for two", Style{Message: "fix"}, []*store.Agent{ticketAgent("a1", one), ticketAgent("a2", two)}, "the message names one commit, and 2 patches would land"},
		{"fields and no tickets", Style{Message: "fix {title}"}, []*store.Agent{ticketAgent("a1", ""), ticketAgent("a2", "")}, "the message names one commit, and 2 patches would land"},
		{"fields for a single commit", Style{Message: "fix {title}", Squash: true}, []*store.Agent{ticketAgent("a1", one)}, `"fix {title}" for a1 (12): a field is of a single ticket`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := tt.style.Check(tt.agents)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want)) {
				t.Errorf("Check: %v, want %q", err, tt.want)
			}
		})
	}
	err := Style{Message: "{titel}"}.Check([]*store.Agent{ticketAgent("a1", one)})
	if wrong, ok := errors.AsType[*TicketError](err); !ok || wrong.Hint() != "{{titel}} stands for the text {titel}" {
		t.Errorf("Check: %v", err)
	}
}
