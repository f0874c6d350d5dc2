package builtin

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/swarm/builtin/model"
)

// TestUncounted holds that a conversation is compacted also where its server
// counts nothing.
func TestUncounted(t *testing.T) {
	t.Parallel()
	say := func(text string) turn {
		return turn{raw: []string{fmt.Sprintf(`{"choices":[{"delta":{"content":%q}}]}`, text)}}
	}
	look := turn{raw: []string{`{"choices":[{"delta":{"tool_calls":[{"function":{"name":"read","arguments":{"path":"big"}}}]}}]}`}}
	f := newFake(t, look, look, say("the summary"), say("done"))
	o := options(t, f.endpoint(model.Chat))
	o.Window = 20_000
	put(t, o.Root, "big", strings.Repeat("0123456789\n", 2500))
	k := start(t, t.Context(), o)
	k.prompt("go")
	if r := k.until("result"); r.Text != "done" {
		t.Errorf("result = %+v", r)
	}
	k.finish()
	if n := len(k.of("usage")); n != 0 {
		t.Errorf("%d usages of a server that counts nothing", n)
	}
	has(t, "the request after it", f.bodies()[3], "the summary")
}

// TestFull holds that room for a reply is left in the window.
func TestFull(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ window, output, want int64 }{{100, 0, 80}, {100, 10, 80}, {100, 40, 60}, {100, 90, 50}} {
		e := &model.Endpoint{Facts: model.Facts{MaxOutput: test.output}}
		if got := (&agent{window: test.window, o: Options{Endpoint: e}}).full(); got != test.want {
			t.Errorf("full of %d with %d = %d, want %d", test.window, test.output, got, test.want)
		}
	}
}

// TestCompactedAgain holds that the task outlives any number of summaries, and
// that the latest of those stands for the ones before.
func TestCompactedAgain(t *testing.T) {
	t.Parallel()
	var turns []turn
	for i := range 3 {
		turns = append(turns,
			turn{text: fmt.Sprintf("step %d", i), calls: []fakeCall{{"ls", "{}"}}, input: 10},
			turn{text: "more", calls: []fakeCall{{"ls", "{}"}}, input: 90_000},
			turn{text: fmt.Sprintf("summary %d", i), input: 90_000})
	}
	f := newFake(t, append(turns, turn{text: "done", input: 10})...)
	k := start(t, t.Context(), options(t, f.endpoint(model.Anthropic)))
	k.prompt("the task, as it is")
	if r := k.until("result"); r.Text != "done" {
		t.Errorf("result = %+v", r)
	}
	k.finish()
	sent := f.bodies()
	last := sent[len(sent)-1]
	has(t, "the last request", last, "the task, as it is", "summary 2", "more")
	if strings.Contains(last, "summary 1") || strings.Contains(last, "step 2") {
		t.Errorf("what was left out is sent: %s", last)
	}
	has(t, "the request for the last summary", sent[len(sent)-2], "summary 1", "step 2")
}

// TestSecret checks that a model's thoughts are sent back to it, and are
// neither shown nor written, by each API.
func TestSecret(t *testing.T) {
	t.Parallel()
	block := func(n int, start string, deltas ...string) []string {
		all := []string{fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, n, start)}
		for _, d := range deltas {
			all = append(all, fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, n, d))
		}
		return append(all, fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, n))
	}
	thinks := append([]string{`{"type":"message_start","message":{"model":"m","content":[],"usage":{}}}`},
		block(0, `{"type":"thinking","thinking":"","signature":""}`, `{"type":"thinking_delta","thinking":"my secret"}`, `{"type":"signature_delta","signature":"s"}`)...)
	thinks = append(thinks, block(1, `{"type":"tool_use","id":"a","name":"ls","input":{}}`)...)
	for api, raw := range map[model.API][]string{
		model.Chat: {
			`{"choices":[{"delta":{"reasoning_content":"my secret","content":"<think>my secret</think>"}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"id":"a","index":0,"function":{"name":"ls","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`,
		},
		model.Responses: {
			`{"type":"response.reasoning_summary_text.delta","delta":"my secret"}`,
			`{"type":"response.output_item.done","item":{"type":"reasoning","id":"r","summary":[],"content":[{"type":"reasoning_text","text":"my secret"}]}}`,
			`{"type":"response.output_item.done","item":{"type":"function_call","call_id":"a","name":"ls","arguments":"{}"}}`,
			`{"type":"response.completed","response":{"model":"m"}}`,
		},
		model.Anthropic: append(thinks, `{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}`, `{"type":"message_stop"}`),
	} {
		f := newFake(t, turn{raw: raw}, turn{text: "done"})
		o := options(t, f.endpoint(api))
		o.Endpoint.Thinking = 2000
		k := start(t, t.Context(), o)
		k.prompt("go")
		k.until("result")
		k.finish()
		if n := strings.Count(f.bodies()[1], "my secret"); n != 1 {
			t.Errorf("%s: it is sent back %d times: %s", api, n, f.bodies()[1])
		}
		kept := read(t, o.Session, "session.jsonl")
		line, err := json.Marshal(k.heard)
		if err != nil || strings.Contains(string(line)+kept, "secret") {
			t.Errorf("%s: heard %s, wrote %s", api, line, kept)
		}
		// A fork in the middle of a turn goes on without: a model that thinks
		// could not.
		child := newFake(t, turn{text: "done"})
		p := options(t, child.endpoint(api))
		p.Endpoint.Thinking, p.Fork = 2000, o.Session
		k = start(t, t.Context(), p)
		k.prompt("go on")
		k.until("result")
		k.finish()
		if sent := child.bodies()[0]; strings.Contains(sent, "secret") || strings.Contains(sent, `"thinking":{`) {
			t.Errorf("%s: the fork sends %s", api, sent)
		}
	}
}

// TestColdDrops checks that another model does not get the parts that a model
// had to have back.
func TestColdDrops(t *testing.T) {
	t.Parallel()
	f := newFake(t, turn{text: "answer"})
	o := options(t, f.endpoint(model.Responses))
	k := start(t, t.Context(), o)
	k.prompt("go")
	k.until("result")
	k.finish()
	has(t, "the session", read(t, o.Session, "session.jsonl"), "encrypted_content")
	child := newFake(t, turn{text: "done"})
	p := options(t, child.endpoint(model.Responses))
	p.Fork, p.Cold, p.Endpoint.Spec.Model = o.Session, true, "other"
	k = start(t, t.Context(), p)
	k.prompt("go on")
	k.until("result")
	k.finish()
	if sent := child.bodies()[0]; strings.Contains(sent, `"encrypted_content":`) || !strings.Contains(sent, "answer") {
		t.Errorf("sent %s", sent)
	}
}

// TestSameFile checks that edits of the same file in a single reply are made in
// order, each on the result of the edit before.
func TestSameFile(t *testing.T) {
	t.Parallel()
	var calls []fakeCall
	text, want := "", ""
	for i := range 20 {
		calls = append(calls, fakeCall{"edit", fmt.Sprintf(`{"path":"a","old_text":"line %d;","new_text":"new %d;"}`, i, i)})
		text += fmt.Sprintf("line %d;\r\n", i)
		want += fmt.Sprintf("new %d;\r\n", i)
	}
	f := newFake(t, turn{calls: calls}, turn{text: "done"})
	o := options(t, f.endpoint(model.Anthropic))
	put(t, o.Root, "a", text)
	k := start(t, t.Context(), o)
	k.prompt("go")
	k.until("result")
	k.finish()
	if got := read(t, o.Root, "a"); got != want {
		t.Errorf("a = %q", got)
	}
}

// TestSteerDuringTool checks that a message that comes during a command follows
// the command's result.
func TestSteerDuringTool(t *testing.T) {
	t.Parallel()
	f := newFake(t, turn{calls: []fakeCall{{"bash", `{"command":"mkfifo p; echo x > begun; read x < p; echo ran"}`}}}, turn{text: "done"})
	o := options(t, f.endpoint(model.Chat))
	k := start(t, t.Context(), o)
	k.prompt("go")
	k.until("tool_start")
	awaitFile(t, filepath.Join(o.Root, "begun"))
	k.say(obj{"type": "steer", "text": "turn left"})
	k.say(obj{"type": "other"})
	put(t, o.Root, "p", "go\n")
	k.until("result")
	k.finish()
	has(t, "the second request", f.bodies()[1], `ran","tool_call_id":"id0","role":"tool"},{"content":"turn left","role":"user"}`)
}
