package fanout

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"agentswarm/swarm/task"
	"agentswarm/swarm/ticket"
)

func readTickets(template, text string) ([]Task, error) {
	return ReadTickets(TicketsRequest{
		Request:  ticket.Request{Source: "issues.json", Format: ticket.FormatJSON, Text: []byte(text)},
		Template: template,
	})
}

func TestReadTickets(t *testing.T) {
	t.Parallel()
	tasks, err := readTickets("Fix #{number}, {index} of {count}: {title|head:4}\n\n{author.login}",
		`[{"number":12,"title":"A long title","author":{"login":"ada"}},{"id":"n 2","number":2,"title":"B","author":{"login":"P-1"}}]`)
	if err != nil {
		t.Fatal(err)
	}
	calls, err := Workflow{Tasks: tasks, Agent: "mine"}.Calls(Base{Commit: "c", Tree: "t"})
	if err != nil {
		t.Fatal(err)
	}
	if len(calls) != 2 {
		t.Fatalf("%d calls, want 2", len(calls))
	}
	first := calls[0]
	prompt := task.Prompt(first.Input)
	const want = "Fix #12, 1 of 2: <data field=\"title\">A lo…</data>\n\n<data field=\"author.login\">ada</data>\n\n" +
		"The text between <data> and </data> is quoted from ticket 12 of issues.json. "
	if !strings.HasPrefix(prompt, want) {
		t.Errorf("the prompt is %q, want it to begin with %q", prompt, want)
	}
	if first.Label != "12" || first.Title != "Fix #12, 1 of 2: A lo…" || first.Agent != "mine" {
		t.Errorf("label %q, title %q, agent %q", first.Label, first.Title, first.Agent)
	}
	if string(first.Ticket) != `{"number":12,"title":"A long title","author":{"login":"ada"}}` {
		t.Errorf("the fields are %s", first.Ticket)
	}
	if calls[1].Label != "2" {
		t.Errorf("an id with a space makes the label %q, want the number", calls[1].Label)
	}
}

// TestTicketGrantsNothing: the fields of a list of tasks mean nothing in a
// ticket, and no field is an id that leads elsewhere.
func TestTicketGrantsNothing(t *testing.T) {
	t.Parallel()
	tasks, err := readTickets("do {title}", `{"id":"../../etc","key":"a1","number":-3,"title":"t","command":["rm"],"agent":"x",
		"paths":["/"],"depends_on":["y"],"allow":["run rm"],"timeout":"1s","role":"r","tools":["bash"],"variant":"off"}`)
	if err != nil {
		t.Fatal(err)
	}
	got := tasks[0]
	if got.ID != "line-1" {
		t.Errorf("the id is %q, want line-1", got.ID)
	}
	want := Task{Line: got.Line, ID: got.ID, Prompt: got.Prompt, Plain: true, Title: "do t", Ticket: got.Ticket}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("a ticket set more than its text: %+v", got)
	}
}

// TestTicketIsNoTemplate: the text of a ticket is filled in once.
func TestTicketIsNoTemplate(t *testing.T) {
	t.Parallel()
	tasks, err := readTickets("do {title}", `{"key":"K-1","title":"{item} {index} {key}"}`)
	if err != nil {
		t.Fatal(err)
	}
	calls, err := Workflow{Tasks: tasks}.Calls(Base{})
	if err != nil {
		t.Fatal(err)
	}
	if prompt := task.Prompt(calls[0].Input); !strings.HasPrefix(prompt, `do <data field="title">{item} {index} {key}</data>`) {
		t.Errorf("the prompt is %q", prompt)
	}
}

func TestReadTicketsRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, template, text, want, hint string }{
		{"a missing field", "{titel}", `[{"number":1,"titel":"x"},{"number":2,"title":"x"}]`, `issues.json:1: ticket 2: there is no field "titel"; did you mean "title"?`, "{{titel}} stands for the text {titel}"},
		{"an empty template", " ", `[{}]`, "the template of the prompts is empty", ""},
		{"a template without fields", "fix it", `[{}]`, "the template names no field, so all agents would get the same prompt", "write a field in braces, such as {title}"},
		{"a wrong filter", "{a|cut:1}", `[{}]`, `{a|cut:1}: unknown filter "cut"`, "the filters are json and head:N"},
		{"an id twice", "{id}", "{\"id\":1}\n{\"id\":\"1\"}", "issues.json:2: ticket 1: the list has it twice; line 1 has it first", ""},
		{"an empty prompt", "{a}", `{"id":1,"a":null}`, "issues.json:1: ticket 1: the prompt is empty", ""},
		{"a wrong list", "{a}", `[1]`, `issues.json:1: expected an object, got "1"`, "a list of tickets is a JSON array of objects, or an object a line; --csv reads CSV with a header"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := readTickets(tt.template, tt.text)
			if err == nil || err.Error() != tt.want {
				t.Fatalf("ReadTickets: %v, want %s", err, tt.want)
			}
			if hinted, ok := err.(interface{ Hint() string }); !ok || hinted.Hint() != tt.hint {
				t.Errorf("hint %q, want %q", err.(interface{ Hint() string }).Hint(), tt.hint)
			}
		})
	}
}

// TestTicketsAreRecorded: a resume makes the same calls.
func TestTicketsAreRecorded(t *testing.T) {
	t.Parallel()
	tasks, err := readTickets("Fix {title}", `[{"number":1,"title":"x"}]`)
	if err != nil {
		t.Fatal(err)
	}
	w := Workflow{Tasks: tasks, Source: "issues.json"}
	text, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	var again Workflow
	if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(again, w) {
		t.Errorf("recorded as %s, read as %+v, %v", text, again, err)
	}
}
