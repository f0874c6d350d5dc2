package modeltest

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func at(t *testing.T) *url.URL {
	t.Helper()
	return &url.URL{Path: "/v1beta/models/m:generateContent"}
}

func read(t *testing.T, d dialect, body string) *conversation {
	t.Helper()
	c, err := d.read(at(t), []byte(body))
	if err != nil {
		t.Fatalf("%T.read(%s): %v", d, body, err)
	}
	return c
}

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		give string
		want string // of the error
	}{
		{"nothing", ``, "EOF"},
		{"another key", `{"rules":[{"txt":"a"}]}`, "unknown field"},
		{"more", `{} {}`, "something follows"},
		{"a pattern", `{"rules":[{"when":{"user":"("}}]}`, "rule 0: error parsing regexp"},
		{"a stop", `{"rules":[{},{"stop":"bored"}]}`, `rule 1: no such stop: "bored"`},
		{"a drop", `{"rules":[{"drop":"late"}]}`, `no such drop: "late"`},
		{"a status", `{"rules":[{"error":{"status":200}}]}`, "200 is no status of an error"},
		{"no status", `{"rules":[{"error":{}}]}`, "0 is no status of an error"},
		{"both", `{"rules":[{"drop":"start","error":{"status":500}}]}`, "either an error or a drop"},
		{"an answer and text", `{"rules":[{"answer":1,"text":"a"}]}`, "either an answer or text"},
		{"a role", `{"rules":[{"calls":[{"name":"{fly}"}]}]}`, `no such tool: "{fly}"`},
		{"no name", `{"rules":[{"calls":[{}]}]}`, `no such tool: ""`},
		{"a duration", `{"rules":[{"delay":"-1s"}]}`, "negative"},
		{"a limit", `{"limit":-1}`, "negative"},
	}
	for _, tt := range tests {
		if _, err := Parse([]byte(tt.give)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: Parse = %v, want %q", tt.name, err, tt.want)
		}
	}
}

// TestParseFirst holds which of two mistakes is told: the first, each time.
func TestParseFirst(t *testing.T) {
	t.Parallel()
	for range 50 {
		if _, err := Parse([]byte(`{"rules":[{"when":{"user":"(a","system":"(b","result":"(c"}}]}`)); err == nil || !strings.Contains(err.Error(), "(a") {
			t.Fatalf("Parse = %v, want what is wrong with the first", err)
		}
	}
}

// TestExamples are the scripts that are handed out.
func TestExamples(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 3 {
		t.Fatalf("examples = %v, %v, want three and more", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(text); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// FuzzParse: a script that is read can be written and read again, and answers a
// request or refuses it.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(turns))
	f.Add([]byte(`{"rules":[{"when":{"user":"(.)(.*)"},"text":["{2}"],"calls":[{"name":"{edit}","args":{"path":{"{1}":"{2}"}}}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		script, err := Parse(text)
		if err != nil {
			return
		}
		written, err := json.Marshal(script)
		if err != nil {
			t.Fatalf("write %+v: %v", script, err)
		}
		again, err := Parse(written)
		if err != nil {
			t.Fatalf("read %s again: %v", written, err)
		}
		if rewritten, err := json.Marshal(again); err != nil || !reflect.DeepEqual(rewritten, written) {
			t.Fatalf("written again: %s, %v, want %s", rewritten, err, written)
		}
		rules, err := narrow(script)
		if err != nil {
			t.Fatal(err)
		}
		c := read(t, chat{}, `{"messages":[{"role":"user","content":"say \"it\" \\ now"}],"tools":[{"function":{"name":"bash"}}]}`)
		_, turn, err := choose(rules, c, earlier{})
		if err != nil {
			return
		}
		for _, made := range newAnswer(c, turn, 1).calls {
			if !json.Valid([]byte(made.args)) {
				t.Fatalf("arguments of %s = %s, want JSON", made.name, made.args)
			}
		}
	})
}
