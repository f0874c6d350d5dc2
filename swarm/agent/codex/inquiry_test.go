package codex

import (
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
)

// TestInquiry checks that a question of the agent comes with its whole text and
// all options, and that the answer goes to the question it was given to.
func TestInquiry(t *testing.T) {
	t.Parallel()
	const one = `{"id":"q1","header":"Base","question":"Which database?","options":[{"label":"test","description":"Empty."},{"label":"prod","description":"Full."}]}`
	const two = `{"id":"q2","header":"","question":"How many?","options":null}`
	for _, test := range []struct {
		name, questions, action string
		reply                   agent.Reply
		want                    string
	}{
		{
			"one", one, `{"choices":["test","prod"],"question":"Base: Which database?\n- test: Empty.\n- prod: Full."}`,
			agent.Reply{Allow: true, Text: "prod"}, `{"id":7,"result":{"answers":{"q1":{"answers":["prod"]}}}}` + "\n",
		},
		{
			"two", one + "," + two,
			`{"choices":[],"question":"1. Base: Which database?\n- test: Empty.\n- prod: Full.\n2. How many?\nAnswer each on a line of its own."}`,
			agent.Reply{Allow: true, Text: "test\n3"}, `{"id":7,"result":{"answers":{"q1":{"answers":["test"]},"q2":{"answers":["3"]}}}}` + "\n",
		},
		{
			"nobody", two, `{"choices":[],"question":"How many?"}`, agent.Reply{Reason: "no person can be asked here"},
			`{"id":7,"result":{"answers":{"q2":{"answers":["No answer came: decide by yourself. no person can be asked here"]}}}}` + "\n",
		},
	} {
		p := Adapter{}.Parser(&agent.Spec{})
		all := p.Feed([]byte(`{"id":7,"method":"item/tool/requestUserInput","params":{"isBlocking":true,"itemId":"i","threadId":"t","turnId":"u","questions":[` +
			test.questions + "]}}\n"))
		if len(all) != 1 {
			t.Fatalf("%s: %d events, want one", test.name, len(all))
		}
		asked, ok := all[0].(*event.Asked)
		if !ok || string(asked.Action) != test.action {
			t.Fatalf("%s: %+v, want %s", test.name, all[0], test.action)
		}
		test.reply.Ask = asked.ID
		if got := (&talk{}).reply(test.reply); string(got) != test.want {
			t.Errorf("%s: reply = %s, want %s", test.name, got, test.want)
		}
	}
}

// TestReplyWithText checks that a text beside a yes is sent as a message.
func TestReplyWithText(t *testing.T) {
	t.Parallel()
	got := string((&talk{thread: "t", request: agent.Request{Spec: &agent.Spec{}}}).reply(agent.Reply{Ask: "item/commandExecution/requestApproval 7", Allow: true, Text: "once"}))
	want := `{"id":7,"result":{"decision":"accept"}}` + "\n" +
		`{"id":3,"method":"turn/start","params":{"input":[{"text":"once","type":"text"}],"threadId":"t"}}` + "\n"
	if got != want {
		t.Errorf("reply = %s, want %s", got, want)
	}
}
