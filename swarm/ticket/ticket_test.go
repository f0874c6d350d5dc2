package ticket

import (
	"errors"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		format Format
		give   string
		want   string // id@line fields, a ticket a line
	}{
		{"an array", FormatJSON, `[{"number":12,"title":"a"},{"number":13,"title":"b"}]`, `12@1 {"number":12,"title":"a"}
13@1 {"number":13,"title":"b"}`},
		{"an array over lines", FormatJSON, "\ufeff[\n  {\"number\": 12},\n\n  {\n \"title\": \"x\"}\n]\n", `12@2 {"number":12}
item-2@4 {"title":"x"}`},
		{"JSONL", FormatJSON, "{\"key\":\"P-1\"}\n\n{\"title\":\"x\"}\r\n", `P-1@1 {"key":"P-1"}
line-3@3 {"title":"x"}`},
		{"pages of an API", FormatJSON, `[{"id":1}][{"id":2}] {"id":3}`, `1@1 {"id":1}
2@1 {"id":2}
3@1 {"id":3}`},
		{"an empty page", FormatJSON, `[][{"id":1}]`, `1@1 {"id":1}`},
		{"the order of ids", FormatJSON, `[{"number":3,"key":"K","id":"I"},{"number":3,"key":"K"},{"number":3,"id":" "},{"id":{"a":1},"number":4}]`, `I@1 {"number":3,"key":"K","id":"I"}
K@1 {"number":3,"key":"K"}
3@1 {"number":3,"id":" "}
4@1 {"id":{"a":1},"number":4}`},
		{"digits of a number stay", FormatJSON, `{"id":12345678901234567890}`, `12345678901234567890@1 {"id":12345678901234567890}`},
		{"CSV", FormatCSV, "ID,Title\n7,\"a, \"\"b\"\"\nc\"\n8,d\n", `7@2 {"ID":"7","Title":"a, \"b\"\nc"}
8@4 {"ID":"8","Title":"d"}`},
		{"CSV without an id", FormatCSV, "\ufefftitle\r\nx\r\n", `line-2@2 {"title":"x"}`},
		{"CSV with semicolons", FormatCSV, "\"a,b\";key\n1;2,5\n", `2,5@2 {"a,b":"1","key":"2,5"}`},
		{"CSV with tabs", FormatCSV, "key\ttitle\n1\t2\n", `1@2 {"key":"1","title":"2"}`},
		{"CSV with a name twice", FormatCSV, "key,Labels,Labels,\n1,a,,x\n2,,,\n", `1@2 {"Labels":["a"],"key":"1"}
2@3 {"Labels":[],"key":"2"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tickets, err := Read(Request{Source: "list", Format: tt.format, Text: []byte(tt.give)})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, one := range tickets {
				got = append(got, one.Names[0]+"@"+itoa(one.Line)+" "+string(one.Fields))
			}
			if text := strings.Join(got, "\n"); text != tt.want {
				t.Errorf("Read(%q) =\n%s\nwant\n%s", tt.give, text, tt.want)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		format Format
		give   string
		want   string
	}{
		{"no format", FormatUnset, `{}`, "list: is not a list of tickets"},
		{"nothing", FormatJSON, " \n", "list: has no ticket"},
		{"an empty array", FormatJSON, "[]", "list: has no ticket"},
		{"only a header", FormatCSV, "a,b\n", "list: has no ticket"},
		{"no header", FormatCSV, "", "list: has no header"},
		{"a header without names", FormatCSV, ",\n1,2\n", "list:1: the header has no name"},
		{"a text", FormatJSON, "fix it\n", "list:1: is not valid JSON"},
		{"a number", FormatJSON, "{}\n17\n", `list:2: expected an object, got "17"`},
		{"an array of texts", FormatJSON, "[\n\"a\"]", `list:2: expected an object, got "\"a\""`},
		{"an array in an array", FormatJSON, "[[{}]]", `list:1: expected an object, got "[{}]"`},
		{"an open array", FormatJSON, "[\n{\"a\":1},\n", "list:3: is not valid JSON: the text ends too early"},
		{"an open object", FormatJSON, "{\"a\":1}\n{\"a\":", "list:2: is not valid JSON: the text ends too early"},
		{"a wrong sign", FormatJSON, "{\"a\":1}\n{\"a\":?}", "list:2: is not valid JSON"},
		{"bytes that are not UTF-8", FormatJSON, "{}\n{\"a\":\"\xff\"}", "list:2: is not valid UTF-8"},
		{"a NUL byte", FormatCSV, "a\n\x00\n", "list:2: has a NUL byte"},
		{"a short row", FormatCSV, "a,b\n1,2\n3\n", "list:3: the row and the header differ in the number of their fields"},
		{"an open quote", FormatCSV, "a\n\"b\n", "list:2: is not valid CSV"},
		{"a long ticket", FormatJSON, `{"a":"` + strings.Repeat("x", MaxTicket) + `"}`, "list:1: the ticket is longer than 1 MiB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := Read(Request{Source: "list", Format: tt.format, Text: []byte(tt.give)})
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("Read: %v, want %s", err, tt.want)
			}
		})
	}
}

func itoa(n int) string { return NewValues(nil, "", n, 0).own["index"].(string) }

func values(fields string) Values { return NewValues([]byte(fields), "12", 3, 9) }

func TestFill(t *testing.T) {
	t.Parallel()
	const issue = `{
		"number": 12, "title": "Crash\r\non  tabs", "open": true, "milestone": null, "empty": "",
		"author": {"login": "ada", "name.full": "Ada L"},
		"labels": [{"name": "bug"}, {"name": "ui"}], "tags": ["a", "b"], "none": [], "odd": [1, {"x": 2}],
		"Issue key": "P-1", "a.b": "dotted", "count": "mine", "ümlaut": "u", "@id": "x", "Custom field (Story Points)": 5
	}`
	tests := []struct{ name, give, want string }{
		{"plain text", "no field", "no field"},
		{"a number", "#{number}", "#12"},
		{"white space is one space", "fix: {title}.", "fix: Crash on tabs."},
		{"a truth value", "{open}", "true"},
		{"null", "<{milestone}>", "<>"},
		{"a field of null", "<{milestone.title}>", "<>"},
		{"nested", "{author.login}", "ada"},
		{"nested with a dot in its name", "{author.name.full}", "Ada L"},
		{"a name with a dot", "{a.b}", "dotted"},
		{"a field of each", "{labels.name}", "bug, ui"},
		{"a place in a list", "{labels.1.name} {tags.0}", "ui a"},
		{"a list", "{tags}", "a, b"},
		{"an empty list", "<{none}{none.name}>", "<>"},
		{"a list with an object", "{odd}", `[1,{"x":2}]`},
		{"an object", "{author}", `{"login":"ada","name.full":"Ada L"}`},
		{"a name with a space", "{Issue key}", "P-1"},
		{"other letters", "{ümlaut} {@id} {Custom field (Story Points)}", "u x 5"},
		{"json", `{title|json} {tags|json} {milestone|json}`, `"Crash\r\non tabs" ["a","b"] null`},
		{"head", "{title|head:3}|{title|head:99}|{number|head:1}", "Cra…|Crash on tabs|1…"},
		{"head and json", "{title|head:5|json}", `"Crash…"`},
		{"added by swarm", "{item} {index}", "12 3"},
		{"a field wins", "{count}", "mine"},
		{"braces twice", "{{title}} {{title|json}}", "{title} {title|json}"},
		{"other braces", `{} { title } {"a": 1} {a;b} }} {{ {-x}`, `{} { title } {"a": 1} {a;b} }} {{ {-x}`},
		{"a value is no template", "{echo}{title}", "{title}Crash on tabs"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			template, err := Parse(tt.give)
			if err != nil {
				t.Fatal(err)
			}
			fields := strings.Replace(issue, `"empty": ""`, `"empty": "", "echo": "{title}"`, 1)
			if got, err := template.Line(values(fields)); got != tt.want || err != nil {
				t.Errorf("Line(%q) = %q, %v, want %q", tt.give, got, err, tt.want)
			}
		})
	}
}

func TestFillNamesTheMissingField(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ give, fields, field, want string }{
		{"{titel}", `{"title":"x"}`, "titel", `there is no field "titel"; did you mean "title"?`},
		{"{a.c}", `{"a":{"b":1}}`, "a.c", `there is no field "a.c"`},
		{"{a.b}", `{"a":"text"}`, "a.b", `there is no field "a.b"`},
		{"{l.2}", `{"l":[1]}`, "l.2", `there is no field "l.2"`},
		{"{l.-1}", `{"l":[1]}`, "l.-1", `there is no field "l.-1"`},
		{"{l.name}", `{"l":[{"name":1},{}]}`, "l.name", `there is no field "l.name"`},
		{"{anything}", ``, "anything", `there is no field "anything"`},
	} {
		template, err := Parse(tt.give)
		if err != nil {
			t.Fatal(err)
		}
		_, err = template.Prompt(values(tt.fields), "list", "12")
		missing, ok := errors.AsType[*MissingError](err)
		if !ok || missing.Field != tt.field || err.Error() != tt.want {
			t.Errorf("fill %s with %s: %v, want %s", tt.give, tt.fields, err, tt.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		"{a|jsn}":          `{a|jsn}: unknown filter "jsn"; did you mean "json"?`,
		"{a|}":             `{a|}: unknown filter ""`,
		"{a|sh:rm}":        `{a|sh:rm}: unknown filter "sh"`,
		"{a|json:1}":       "{a|json:1}: json takes no argument",
		"{a|head}":         "{a|head}: head wants a number of characters from 1 to 1048576, such as head:2000",
		"{a|head:0}":       "{a|head:0}: head wants a number of characters from 1 to 1048576, such as head:2000",
		"{a|head:9999999}": "{a|head:9999999}: head wants a number of characters from 1 to 1048576, such as head:2000",
	} {
		if _, err := Parse(give); err == nil || err.Error() != want {
			t.Errorf("Parse(%s): %v, want %s", give, err, want)
		}
	}
}

func TestFillIsBounded(t *testing.T) {
	t.Parallel()
	template, err := Parse(strings.Repeat("{body}", 3))
	if err != nil {
		t.Fatal(err)
	}
	_, err = template.Prompt(values(`{"body":"`+strings.Repeat("x", MaxTicket/2)+`"}`), "list", "12")
	if wrong, ok := errors.AsType[*Error](err); !ok || !strings.Contains(wrong.Hint(), "{body|head:2000}") {
		t.Errorf("a prompt of 1.5 MiB: %v", err)
	}
}

// TestHiddenCharacters: a model reads characters that a person does not see.
func TestHiddenCharacters(t *testing.T) {
	t.Parallel()
	template, err := Parse("{a} {a|json}")
	if err != nil {
		t.Fatal(err)
	}
	got, err := template.Text(values(`{"a":"x\u0000\u001b[31m\u200b\u200e\u061c\u2064\u00ad\u3164\u202e\udb40\udc41\u2028y\r\nz"}`))
	const want = "x[31m\ny\nz " + `"x\u0000\u001b[31m\u2028y\r\nz"`
	if err != nil || got != want {
		t.Errorf("Text = %q, %v, want %q", got, err, want)
	}
}
