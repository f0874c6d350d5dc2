package kinds

import (
	"encoding/json"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/thought"
	"agentswarm/swarm/wire"
)

// TestReasoningIsDropped checks that a model's thoughts are in no event and in
// no kept output of its program. The kept output yields the same events. The
// thoughts come whole, in pieces, or in a line that is too long to read.
func TestReasoningIsDropped(t *testing.T) {
	t.Parallel()
	const secret, said = "hidden-thought-7", "said aloud"
	lines := map[string][]string{
		agent.KindClaude: {
			`{"type":"system","subtype":"init","session_id":"s","model":"m","claude_code_version":"2.1.328"}`,
			`{"type":"system","subtype":"thinking_tokens","tokens":7}`,
			`{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"SECRET"}}}`,
			`{"type":"stream_event","event":{"delta":{"thinking":"SECRET","type":"thinking_delta"},"index":0,"type":"content_block_delta"}}`,
			`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"SECRET"}}}`,
			`{"type":"assistant","session_id":"s","message":{"id":"m1","role":"assistant","model":"m","content":[{"type":"thinking","thinking":"SECRET","signature":"x"}],"usage":{"input_tokens":1,"output_tokens":1}}}`,
			`{"type":"assistant","session_id":"s","message":{"id":"m1","role":"assistant","model":"m","content":[{"type":"redacted_thinking","data":"SECRET"}],"usage":{"input_tokens":1,"output_tokens":1}}}`,
			`{"type":"assistant","session_id":"s","message":{"id":"m1","role":"assistant","model":"m","content":[{"type":"text","text":"SAID"}],"usage":{"input_tokens":1,"output_tokens":1}}}`,
		},
		agent.KindQwen: {
			`{"type":"system","subtype":"init","session_id":"s","model":"m"}`,
			`{"type":"stream_event","session_id":"s","event":{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"SECRET"}}}`,
			`{"type":"assistant","session_id":"s","message":{"id":"a","type":"message","role":"assistant","model":"m","content":[{"type":"thinking","thinking":"SECRET","signature":""}],"usage":{"input_tokens":0,"output_tokens":0}}}`,
			`{"type":"assistant","session_id":"s","message":{"id":"b","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"SAID"}],"usage":{"input_tokens":0,"output_tokens":0}}}`,
		},
		agent.KindCodex: {
			`{"id":1,"result":{"thread":{"id":"t"},"model":"m"}}`,
			`{"method":"item/started","params":{"item":{"type":"reasoning","id":"r","summary":["SECRET"],"content":[]},"threadId":"t","turnId":"u"}}`,
			`{"method":"item/reasoning/textDelta","params":{"threadId":"t","turnId":"u","itemId":"r","delta":"SECRET"}}`,
			`{"method":"item/reasoning/summaryTextDelta","params":{"threadId":"t","turnId":"u","itemId":"r","delta":"SECRET"}}`,
			`{"method":"item/completed","params":{"item":{"type":"reasoning","id":"r","summary":["SECRET"],"content":["SECRET"]},"threadId":"t","turnId":"u"}}`,
			`{"method":"item/completed","params":{"item":{"type":"agentMessage","id":"m","text":"SAID"},"threadId":"t","turnId":"u"}}`,
		},
		agent.KindOpencode: {
			`{"type":"step_start","sessionID":"s","part":{"type":"step-start"}}`,
			`{"type":"reasoning","sessionID":"s","part":{"type":"reasoning","text":"SECRET"}}`,
			`{"type":"text","sessionID":"s","part":{"type":"text","text":"SAID"}}`,
		},
		agent.KindCopilot: {
			`{"type":"session.tools_updated","data":{"model":"m"}}`,
			`{"type":"assistant.reasoning_delta","data":{"reasoningId":"r","deltaContent":"SECRET"}}`,
			`{"type":"assistant.reasoning","data":{"reasoningId":"r","content":"SECRET"}}`,
			`{"type":"assistant.message","data":{"messageId":"m","content":"SAID","toolRequests":[],"reasoningText":"SECRET"}}`,
			`{"type":"result","sessionId":"s","exitCode":0}`,
		},
		agent.KindGemini: {
			`{"type":"init","session_id":"s","model":"m"}`,
			`{"type":"thought","subject":"SECRET","description":"SECRET"}`,
			`{"type":"message","role":"assistant","thought":true,"content":"SECRET","delta":true}`,
			`{"type":"message","role":"assistant","content":"SAID","delta":true}`,
			`{"type":"result","status":"success","stats":{}}`,
		},
		agent.KindPi: {
			`{"type":"agent_start"}`,
			`{"type":"turn_start"}`,
			`{"type":"message_update","assistantMessageEvent":{"type":"thinking_delta","contentIndex":0,"delta":"SECRET"},"message":{"role":"assistant","content":[{"type":"thinking","thinking":"SECRET"}]}}`,
			`{"type":"message_end","message":{"role":"assistant","content":[{"type":"thinking","thinking":"SECRET"}],"stopReason":"stop","usage":{"input":1,"output":1}}}`,
			`{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"SAID"}],"stopReason":"stop","usage":{"input":1,"output":1}}}`,
		},
	}
	for _, kind := range All() {
		stream, ok := lines[kind.Name]
		if !ok {
			continue // a command's output is shown as it is; the built-in agent prints no thoughts
		}
		for name, thought := range map[string]string{
			"short": secret, "long": strings.Repeat(secret+" ", wire.MaxLine/len(secret)+1), "between marks": "",
		} {
			t.Run(kind.Name+" "+name, func(t *testing.T) {
				t.Parallel()
				aloud := said
				if thought == "" { // some servers leave it in the text
					aloud = `<think>\n` + secret + `\n</think>\n\n` + said
				}
				text := strings.NewReplacer("SECRET", thought, "SAID", aloud).Replace(strings.Join(stream, "\n") + "\n")
				shown := eventsOf(t, kind, text)
				if strings.Contains(shown, secret) {
					at := strings.Index(shown, secret)
					t.Errorf("events hold what was thought: …%s…", shown[max(0, at-200):min(len(shown), at+60)])
				}
				if !strings.Contains(shown, said) {
					t.Errorf("events do not hold what was said: %.500s", shown)
				}
				kept := withoutThoughts(t, text)
				if at := strings.Index(kept, secret); at >= 0 {
					t.Errorf("what is kept of its output holds what was thought: …%.260s", kept[max(0, at-200):])
				}
				if again := eventsOf(t, kind, kept); again != shown {
					t.Errorf("what is kept says %.500s\nthe output said %.500s", again, shown)
				}
				for end := 0; name != "long"; { // it is killed within a line
					next := strings.Index(text[end:], secret)
					if next < 0 {
						break
					}
					end += next + len(secret)
					if strings.Contains(eventsOf(t, kind, text[:end]), secret) {
						t.Errorf("cut off, events hold what was thought: …%s", text[max(0, end-200):end])
					}
				}
			})
		}
	}
	for name := range lines {
		if !json.Valid([]byte(strings.NewReplacer("SECRET", "", "SAID", "").Replace(lines[name][0]))) {
			t.Errorf("%s: no JSON", name)
		}
	}
}

// eventsOf returns the events of an agent's output, as JSON.
func eventsOf(t *testing.T, kind agent.Kind, text string) (shown string) {
	t.Helper()
	spec := kind.Spec
	p := kind.Adapter.Parser(&spec)
	for _, e := range append(p.Feed([]byte(text)), p.End()...) {
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		shown += string(line)
	}
	return shown
}

// withoutThoughts returns the kept part of an output.
func withoutThoughts(t *testing.T, text string) string {
	t.Helper()
	kept := []byte(text)
	err := thought.Spans(strings.NewReader(text), func(s thought.Span) error {
		copy(kept[s.From:s.To], strings.Repeat(" ", int(s.To-s.From)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(kept)
}
