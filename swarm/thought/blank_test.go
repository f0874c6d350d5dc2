package thought

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// blanked is a text with blanks where its thoughts were.
func blanked(t *testing.T, text string) string {
	t.Helper()
	b := []byte(text)
	err := Spans(strings.NewReader(text), func(s Span) error {
		if s.From < 0 || s.To > int64(len(b)) || s.From >= s.To {
			t.Fatalf("%q: a span from %d to %d", text, s.From, s.To)
		}
		copy(b[s.From:s.To], bytes.Repeat([]byte{' '}, int(s.To-s.From)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSpans(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		`{"type":"text","text":"said"}`:                              `{"type":"text","text":"said"}`,
		`{"type":"thinking","thinking":"why"}`:                       `{"type":"thinking","thinking":"   "}`,
		`{"delta":{"thinking":"why","type":"thinking_delta"}}`:       `{"delta":{"thinking":"   ","type":"thinking_delta"}}`,
		`[{"type":"reasoning","id":"r","summary":["a","b"]},"said"]`: `[{"type":"reasoning","id":"r","summary":[" "," "]},"said"]`,
		`{"method":"item/reasoning/textDelta","params":{"d":"why"}}`: `{"method":"item/reasoning/textDelta","params":{"d":"   "}}`,
		`{"params":{"d":"why","itemId":"r"},"method":"reasoning"}`:   `{"params":{"d":"   ","itemId":"r"},"method":"reasoning"}`,
		`{"thought" : true,"content":"why"}`:                         `{"thought" : true,"content":"   "}`,
		`{"thought":false,"content":"said"}`:                         `{"thought":false,"content":"said"}`,
		`{"type":"tool","input":{"type":"thinking","text":"given"}}`: `{"type":"tool","input":{"type":"thinking","text":"given"}}`,
		`{"type":"tool","input":["<think>given</think>"]}`:           `{"type":"tool","input":["<think>given</think>"]}`,
		`{"text":"<think>why</think>said"}`:                          `{"text":"<think>   </think>said"}`,
		`{"text":"\n <think>\nwh\"y"}`:                               `{"text":"\n <think>       "}`,
		`{"text":"said <think>aloud</think>"}`:                       `{"text":"said <think>aloud</think>"}`,
		`{"<think>":"said"}`:                                         `{"<think>":"said"}`,
		// Answers by a schema, whatever they say.
		`{"type":"result","structured_output":{"type":"reasoning error","fix":"add"}}`: `{"type":"result","structured_output":{"type":"reasoning error","fix":"add"}}`,
		`{"structured_result":{"thought":true,"fix":"add","a":["<think>b"]}}`:          `{"structured_result":{"thought":true,"fix":"add","a":["<think>b"]}}`,
		`{"structured":"<think>b"}`: `{"structured":"<think>b"}`,
		`{"parameters":{"type":"thinking","thought":true,"text":"<think>given"}}`: `{"parameters":{"type":"thinking","thought":true,"text":"<think>given"}}`,
		`{"type":"thinking","structured":"why"}`:                                  `{"type":"thinking","structured":"   "}`,
		// With an end mark only, and several that follow each other.
		`{"text":"why\n and\n</think>\nsaid"}`:                  `{"text":"           </think>\nsaid"}`,
		`{"text":"\u003cthink\u003ewhy\u003c/think\u003esaid"}`: `{"text":"\u003cthink\u003e   \u003c/think\u003esaid"}`,
		`{"text":"<think>a</think>\n<think>b</think>said"}`:     `{"text":"<think> </think>\n<think> </think>said"}`,
		`{"text":"<reasoning>why</reasoning>said"}`:             `{"text":"<reasoning>why</reasoning>said"}`,
		// The output of a tool ends no thought, and neither do the words of
		// people.
		`{"output":"printed\n</think>\n"}`:                                    `{"output":"printed\n</think>\n"}`,
		`{"type":"tool_result","content":[{"text":"printed\n</think>"}]}`:     `{"type":"tool_result","content":[{"text":"printed\n</think>"}]}`,
		`{"content":[{"text":"printed\n</think>"}],"role":"toolResult"}`:      `{"content":[{"text":"printed\n</think>"}],"role":"toolResult"}`,
		`{"type":"message","role":"user","content":"asked\n</think>"}`:        `{"type":"message","role":"user","content":"asked\n</think>"}`,
		`{"type":"tool_result","content":[{"type":"thinking","text":"why"}]}`: `{"type":"tool_result","content":[{"type":"thinking","text":"   "}]}`,
		`{"type":"thinking","text":"why \"quoted\\"}` + "\n" + `["a"]`:        `{"type":"thinking","text":"              "}` + "\n" + `["a"]`,
		`{"type":"thinking","text":"cut of`:                                   `{"type":"thinking","text":"      `,
		`{"type":"thinking","text":"cut of` + "\n" + `{"a":"b"}`:              `{"type":"thinking","text":"      ` + "\n" + `{"a":"b"}`,
		"no JSON: \"type\": \"thinking\" }]\n":                                "no JSON: \"type\": \"thinking\" }]\n",
	} {
		if got := blanked(t, give); got != want {
			t.Errorf("of %s\nis left %s\nwant    %s", give, got, want)
		}
	}
	for give, want := range inPieces() {
		if got := blanked(t, give); got != want {
			t.Errorf("of %s\nis left %s\nwant    %s", give, got, want)
		}
	}
	deep := strings.Repeat("[", 600) + `{"type":"thinking","text":"left"}` + "\n" + `{"type":"thinking","text":"why"}`
	if got := blanked(t, deep); !strings.Contains(got, "left") || strings.Contains(got, "why") {
		t.Error("a line that nests too deep costs more than itself")
	}
}

// inPieces maps streams of pieces to their expected result.
func inPieces() map[string]string {
	all := map[string]string{}
	add := func(form string, give, want []string) {
		in, out := "", ""
		for i := range give {
			in += strings.Replace(form, "PIECE", give[i], 1) + "\n"
			out += strings.Replace(form, "PIECE", want[i], 1) + "\n"
		}
		all[in] = out
	}
	for _, form := range []string{
		`{"type":"message","role":"assistant","content":"PIECE","delta":true}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"PIECE"}}}`,
		`{"event":{"delta":{"text":"PIECE","type":"text_delta"},"type":"content_block_delta"},"parent_tool_use_id":null,"type":"stream_event"}`,
		`{"type":"message_update","assistantMessageEvent":{"delta":"PIECE","type":"text_delta"}}`,
		`{"params":{"delta":"PIECE","itemId":"i"},"method":"item/agentMessage/delta"}`,
	} {
		add(form, []string{"", " <th", "ink>wh", "y</th", "in", "</", "think>sa", "id"}, []string{"", " <th", "ink>  ", "     ", "  ", "</", "think>sa", "id"})
		add(form, []string{"Write ", "<think>why", "</think>said"}, []string{"Write ", "<think>why", "</think>said"})
		add(form, []string{"wh", "y\\n</thi", "nk>", "\\nsaid"}, []string{"  ", "   </thi", "nk>", "\\nsaid"})
		add(form, []string{"<th", "y\\n</think>", "\\nsaid"}, []string{"   ", "   </think>", "\\nsaid"})
		add(form, []string{"<think>why", "</th"}, []string{"<think>   ", "    "})
		add(form, []string{"<think>a</think>", "[THINK]b", "[/THINK]c"}, []string{"<think> </think>", "[THINK] ", "[/THINK]c"})
	}
	add(`{"type":"message_update","assistantMessageEvent":{"type":"toolcall_delta","delta":"PIECE"}}`, []string{"<think>given", "b"}, []string{"<think>given", "b"})
	add("PIECE", []string{ // two texts at the same time, and in turn
		`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"<think>why"}}}`,
		`{"type":"stream_event","event":{"type":"content_block_start"},"parent_tool_use_id":"t"}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"said"}},"parent_tool_use_id":"t"}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"why"}}}`,
		`{"type":"stream_event","event":{"type":"content_block_stop"}}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"said"}}}`,
	}, []string{
		`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"<think>   "}}}`,
		`{"type":"stream_event","event":{"type":"content_block_start"},"parent_tool_use_id":"t"}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"said"}},"parent_tool_use_id":"t"}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"   "}}}`,
		`{"type":"stream_event","event":{"type":"content_block_stop"}}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"said"}}}`,
	})
	add("PIECE", []string{ // other lines of gemini between the pieces
		`{"type":"message","role":"assistant","content":"<think>why"}`,
		`{"type":"message","role":"assistant","thought":true,"content":"</think>"}`,
		`{"type":"message","role":"assistant","content":"why"}`,
		`{"type":"tool_use","parameters":{"content":"<think>given"}}`,
		`{"type":"message","role":"assistant","content":"said"}`,
	}, []string{
		`{"type":"message","role":"assistant","content":"<think>   "}`,
		`{"type":"message","role":"assistant","thought":true,"content":"        "}`,
		`{"type":"message","role":"assistant","content":"   "}`,
		`{"type":"tool_use","parameters":{"content":"<think>given"}}`,
		`{"type":"message","role":"assistant","content":"said"}`,
	})
	return all
}

// FuzzCutOfBlanked holds that [Cut] leaves the same of a text, whole or in
// pieces, once its thoughts are blanked, and that nothing else is left of them.
func FuzzCutOfBlanked(f *testing.F) {
	f.Add("<think>a</think>\n [THINK]b\\\"[/THINK]\r\n\nsaid", uint8(3), true)
	f.Add("why\n```\n</think>\n```\n </think> \nsaid", uint8(2), false)
	f.Add("a\n~~~\n</think>\n~~~~\n</think>\nb", uint8(2), false)
	f.Add("a\n````\n```\n</think>\n````\n    </think>\n\t</think>", uint8(2), false)
	f.Add("a\n- <think>\n</think>\n1. ```\n  [/THINK]\n   ```\n[/THINK]\nb", uint8(0), true)
	f.Add("\n     </think>\nb\n</think>", uint8(0), true)
	f.Add("é<think>\n</th </think >\n</think>", uint8(1), true)
	f.Add("<think></</think>é", uint8(5), false)
	f.Add("a\n<think>b\n</think>\n[/THINK]\nc", uint8(0), true)
	f.Fuzz(func(t *testing.T, text string, size uint8, escape bool) {
		text = strings.ToValidUTF8(text, "")
		quoted := func(text string) string {
			var b strings.Builder
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(escape)
			if err := e.Encode(text); err != nil {
				t.Fatal(err)
			}
			return strings.TrimSuffix(b.String(), "\n")
		}
		stream := `{"type":"result","result":` + quoted(text) + "}\n"
		rest := []rune(text)
		for n := int(size) + 1; len(rest) > 0; rest = rest[min(n, len(rest)):] {
			stream += `{"type":"message","role":"assistant","content":` + quoted(string(rest[:min(n, len(rest))])) + "}\n"
		}
		whole, joined := "", ""
		for line := range strings.Lines(blanked(t, stream)) {
			var l struct{ Result, Content string }
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Fatalf("%q of %q: %v", line, stream, err)
			}
			whole, joined = whole+l.Result, joined+l.Content
		}
		want := Cut(text)
		for _, got := range []string{whole, joined} {
			if Cut(got) != want {
				t.Errorf("of %q is left %q, which says %q, want %q", text, got, Cut(got), want)
			}
			thought := strings.TrimSuffix(got, want)
			for _, m := range marks() {
				thought = strings.NewReplacer(m.begin, "", m.end, "").Replace(thought)
			}
			if strings.Trim(thought, blanks) != "" {
				t.Errorf("of %q is left %q", text, got)
			}
		}
	})
}

func FuzzSpans(f *testing.F) {
	f.Add([]byte(`{"type":"thinking","text":"\n<think>a</think>b"}`))
	f.Add([]byte("{\"type\":\"reasoning\",\"a\":[{\"b\":\"c\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got := blanked(t, string(text))
		if again := blanked(t, got); again != got {
			t.Errorf("of %q is left %q, and of that %q", text, got, again)
		}
		left := strings.Split(got, "\n")
		for i, was := range bytes.Split(text, []byte{'\n'}) {
			if json.Valid(was) && !json.Valid([]byte(left[i])) {
				t.Errorf("%q was JSON, and %q is none", was, left[i])
			}
		}
	})
}
