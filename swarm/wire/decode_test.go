package wire

import (
	"encoding/json"
	"testing"
)

// TestDecode checks that an odd member costs nothing but itself.
func TestDecode(t *testing.T) {
	t.Parallel()
	type line struct {
		Type   string `json:"type"`
		Input  int64  `json:"input"`
		Result string `json:"result"`
	}
	for _, test := range []struct {
		give string
		ok   bool
		want line
	}{
		{`{"type":"a","input":3,"result":"b"}`, true, line{"a", 3, "b"}},
		{`{"type":"a","input":1.5,"result":"b"}`, true, line{"a", 0, "b"}},
		{`{"type":"a","input":1e99,"result":"b"}`, true, line{"a", 0, "b"}},
		{`{"type":"a","input":{},"result":"b"}`, true, line{"a", 0, "b"}},
		{`{"type":5,"input":3,"result":"b"}`, true, line{"", 3, "b"}},
		{`[1]`, true, line{}},
		{`{"type":"a"`, false, line{}},
		{`{"type":"a","input":NaN}`, false, line{}},
		{``, false, line{}},
	} {
		var got line
		if ok := Decode([]byte(test.give), &got); ok != test.ok || got != test.want {
			t.Errorf("Decode(%s) = %t, %+v; want %t, %+v", test.give, ok, got, test.ok, test.want)
		}
	}
}

// TestFlag holds that only a plain no is a no.
func TestFlag(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]Flag{
		`{}`: false, `{"f":false}`: false, `{"f":null}`: false, `{"f": true }`: true, `{"f":"false"}`: true, `{"f":0}`: true, `{"f":{}}`: true,
	} {
		var got struct{ F Flag }
		if err := json.Unmarshal([]byte(give), &got); err != nil || got.F != want {
			t.Errorf("%s is %t, %v; want %t", give, got.F, err, want)
		}
	}
}

// TestCopy checks that a copy is valid text, and shares no memory.
func TestCopy(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{`{"a":1}`: `{"a":1}`, "\"a\xffb\"": "\"a\uFFFDb\"", "": ""} {
		if got := Copy(json.RawMessage(give)); string(got) != want {
			t.Errorf("Copy(%q) = %q, want %q", give, got, want)
		}
	}
	text := json.RawMessage(`{}`)
	if got := Copy(text); &got[0] == &text[0] {
		t.Error("Copy is the text itself")
	}
}
