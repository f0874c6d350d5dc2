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
		`{"type":"text","text":"said"}`:                                `{"type":"text","text":"said"}`,
		`{"type":"thinking","thinking":"why"}`:                         `{"type":"thinking","thinking":"   "}`,
		`{"delta":{"thinking":"why","type":"thinking_delta"}}`:         `{"delta":{"thinking":"   ","type":"thinking_delta"}}`,
		`[{"type":"reasoning","id":"r","summary":["a","b"]},"said"]`:   `[{"type":"reasoning","id":"r","summary":[" "," "]},"said"]`,
		`{"method":"item/reasoning/textDelta","params":{"d":"why"}}`:   `{"method":"item/reasoning/textDelta","params":{"d":"   "}}`,
		`{"params":{"d":"why","itemId":"r"},"method":"reasoning"}`:     `{"params":{"d":"   ","itemId":"r"},"method":"reasoning"}`,
		`{"thought" : true,"content":"why"}`:                           `{"thought" : true,"content":"   "}`,
		`{"thought":false,"content":"said"}`:                           `{"thought":false,"content":"said"}`,
		`{"type":"tool","input":{"type":"thinking","text":"given"}}`:   `{"type":"tool","input":{"type":"thinking","text":"given"}}`,
		`{"type":"tool","input":["<think>given</think>"]}`:             `{"type":"tool","input":["<think>given</think>"]}`,
		`{"text":"<think>why</think>said"}`:                            `{"text":"<think>   </think>said"}`,
		`{"text":"\n <think>\nwh\"y"}`:                                 `{"text":"\n <think>       "}`,
		`{"text":"said <think>aloud</think>"}`:                         `{"text":"said <think>aloud</think>"}`,
		`{"<think>":"said"}`:                                           `{"<think>":"said"}`,
		`{"type":"thinking","text":"why \"quoted\\"}` + "\n" + `["a"]`: `{"type":"thinking","text":"              "}` + "\n" + `["a"]`,
		`{"type":"thinking","text":"cut of`:                            `{"type":"thinking","text":"      `,
		`{"type":"thinking","text":"cut of` + "\n" + `{"a":"b"}`:       `{"type":"thinking","text":"      ` + "\n" + `{"a":"b"}`,
		"no JSON: \"type\": \"thinking\" }]\n":                         "no JSON: \"type\": \"thinking\" }]\n",
	} {
		if got := blanked(t, give); got != want {
			t.Errorf("of %s\nis left %s\nwant    %s", give, got, want)
		}
	}
	deep := strings.Repeat("[", 600) + `{"type":"thinking","text":"left"}` + "\n" + `{"type":"thinking","text":"why"}`
	if got := blanked(t, deep); !strings.Contains(got, "left") || strings.Contains(got, "why") {
		t.Error("a line that nests too deep costs more than itself")
	}
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
