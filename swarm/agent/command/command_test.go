package command

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
)

func TestLaunch(t *testing.T) {
	t.Parallel()
	spec := func(input agent.Input) *agent.Spec {
		return &agent.Spec{Name: "mine", Command: []string{"run", "{prompt}", "-f={prompt_file}"}, Input: input}
	}
	for _, test := range []struct {
		name  string
		give  agent.Request
		argv  string
		stdin string
		open  bool
		err   string
	}{
		{"stdin", agent.Request{Spec: spec(agent.InputStdin)}, "run|{prompt}|-f={prompt_file}", "/p", false, ""},
		{"arg", agent.Request{Spec: spec(agent.InputArg)}, "run|do {prompt_file} it|-f=/p", "", false, ""},
		{"none", agent.Request{Spec: spec(agent.InputNone)}, "run|{prompt}|-f={prompt_file}", "", false, ""},
		{"jsonl", agent.Request{Spec: spec(agent.InputJSONL)}, "run|{prompt}|-f={prompt_file}", "", true, ""},
		{"its own", agent.Request{Spec: spec(agent.InputNone), Command: []string{"other"}}, "other", "", false, ""},
		{"no input", agent.Request{Spec: spec("")}, "", "", false, `agent mine: unknown input ""`},
		{"no command", agent.Request{Spec: &agent.Spec{Name: "mine", Input: agent.InputNone}}, "", "", false, "agent mine: its command is empty"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := test.give
			r.Prompt, r.PromptFile = "do {prompt_file} it", "/p"
			before := slices.Clone(r.Spec.Command)
			got, err := Adapter{}.Launch(r)
			if test.err != "" {
				if err == nil || err.Error() != test.err {
					t.Errorf("Launch = %v, want %s", err, test.err)
				}
				return
			}
			if err != nil || strings.Join(got.Argv, "|") != test.argv || got.Stdin != test.stdin || got.Open != test.open {
				t.Errorf("Launch = %+v, %v", got, err)
			}
			if !slices.Equal(before, r.Spec.Command) {
				t.Errorf("the spec became %q", r.Spec.Command)
			}
		})
	}
}

// TestMessages checks the messages to an open stdin.
func TestMessages(t *testing.T) {
	t.Parallel()
	l, err := Adapter{}.Launch(agent.Request{
		Spec:   &agent.Spec{Command: []string{"x"}, Input: agent.InputJSONL},
		Prompt: "two\nlines",
	})
	if err != nil {
		t.Fatal(err)
	}
	asking, err := Adapter{}.Launch(agent.Request{
		Spec:   &agent.Spec{Command: []string{"x"}, Input: agent.InputJSONL},
		Prompt: "p", Schema: json.RawMessage(`{"type": "object"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, got, want string }{
		{"feed", string(l.Feed), `{"type":"prompt","text":"two\nlines"}` + "\n"},
		{"finish", string(l.Finish), `{"type":"finish","reason":"result"}` + "\n"},
		{"reply", string(l.Reply(agent.Reply{Ask: "q1", Reason: "no"})), `{"type":"answer","id":"q1","allow":false,"reason":"no"}` + "\n"},
		{"reply with text", string(l.Reply(agent.Reply{Ask: "q1", Allow: true, Text: "v2"})), `{"type":"answer","id":"q1","allow":true,"text":"v2","reason":""}` + "\n"},
		{"again", string(l.Again("no")), `{"type":"prompt","text":"no"}` + "\n"},
		{"feed with a schema", string(asking.Feed), `{"type":"prompt","text":"p","schema":{"type":"object"}}` + "\n"},
		{"again with a schema", string(asking.Again("no")), `{"type":"prompt","text":"no","schema":{"type":"object"}}` + "\n"},
		{"steer", string(l.Steer("left")), `{"type":"steer","text":"left"}` + "\n"},
	} {
		if test.got != test.want {
			t.Errorf("%s = %s, want %s", test.name, test.got, test.want)
		}
	}
}
