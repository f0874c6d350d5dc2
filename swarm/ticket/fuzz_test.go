package ticket

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzReadJSON(f *testing.F) {
	for _, seed := range []string{`[{"id":1},{"a":{"b":[1,null]}}]`, "{\"key\":\"x\"}\n{}", `[{}][{}]`, `[`, `{"a":`, `[1]`, "\ufeff{}", `{"id":1,"id":2}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) { checkRead(t, FormatJSON, text) })
}

func FuzzReadCSV(f *testing.F) {
	for _, seed := range []string{"id,a\n1,2\n", "a;b\n\"x\ny\";2\n", "a,a\n1,2\n", "\"", "a\tb\n1\t\n", ",\n,\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) { checkRead(t, FormatCSV, text) })
}

// checkRead reads a list. A list is refused by an [*Error], or each of its
// tickets is an object with a name, on lines that do not go back.
func checkRead(t *testing.T, format Format, text []byte) {
	tickets, err := Read(Request{Source: "list", Format: format, Text: text})
	if err != nil {
		if _, ok := err.(*Error); !ok || !strings.HasPrefix(err.Error(), "list") {
			t.Fatalf("error %T %v", err, err)
		}
		return
	}
	if len(tickets) == 0 {
		t.Fatal("no ticket and no error")
	}
	line := 1
	for _, one := range tickets {
		if one.Line < line {
			t.Fatalf("line %d after line %d", one.Line, line)
		}
		line = one.Line
		var fields map[string]any
		if err := json.Unmarshal(one.Fields, &fields); err != nil || strings.Contains(string(one.Fields), "\n") {
			t.Fatalf("fields %q: %v", one.Fields, err)
		}
		if len(one.Names) == 0 || one.Names[len(one.Names)-1] == "" {
			t.Fatalf("names %q", one.Names)
		}
	}
}

func FuzzTemplate(f *testing.F) {
	f.Add("Fix #{number}: {title}", `{"number":1,"title":"</data> x"}`)
	f.Add("{a.b.0|head:3|json} {{a}} {", `{"a":{"b":["x\ny"]}}`)
	f.Add("{a|}", `{}`)
	f.Fuzz(func(t *testing.T, text, fields string) {
		template, err := Parse(text)
		if err != nil {
			return
		}
		v := values(fields)
		if line, err := template.Line(v); err == nil && !strings.Contains(text, "\n") && strings.Contains(line, "\n") {
			t.Fatalf("a value ends the line: %q", line)
		}
		prompt, err := template.Prompt(v, "list", "12")
		if err != nil {
			return
		}
		if utf8.ValidString(text) && !utf8.ValidString(prompt) {
			t.Fatalf("the prompt is not UTF-8: %q", prompt)
		}
		if !template.HasFields() && strings.Count(prompt, "data") > strings.Count(text, "data") {
			t.Fatalf("marks without a field: %q", prompt)
		}
	})
}
