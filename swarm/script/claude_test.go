package script

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// header finds a line of the leading comment of a corpus script: the value it
// must return, its args or budget, and parts of lines that it logs.
var header = regexp.MustCompile(`(?m)^// (returns|args|budget|logs): (.*)$`)

// corpusCase is a script of testdata/claude.
type corpusCase struct {
	start Start
	want  string
	logs  []string // parts of lines, in order
}

func readCorpus(t *testing.T, path string) corpusCase {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := corpusCase{start: Start{Source: Source{Name: "plan.js", Form: FormClaude, Text: string(text)}}}
	for _, m := range header.FindAllStringSubmatch(string(text), -1) {
		switch value := m[2]; m[1] {
		case "returns":
			c.want = value
		case "args":
			c.start.Args = json.RawMessage(value)
		case "budget":
			if err := json.Unmarshal([]byte(value), &c.start.BudgetTokens); err != nil {
				t.Fatal(err)
			}
		case "logs":
			c.logs = append(c.logs, value)
		}
	}
	return c
}

// childWorkflow is called by scripts of the corpus.
const childWorkflow = `export const meta = { name: 'child', description: 'd' }
const r = await agent('child of ' + (args?.path ?? 'nothing'))
return { r, given: args ?? null }`

// TestClaudeCorpus runs scripts in the idioms of .claude/workflows. None is
// refused, and each returns the value that Claude Code returns for the same
// answers of its agents.
func TestClaudeCorpus(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/claude/*.js")
	if err != nil || len(files) < 30 {
		t.Fatalf("the corpus has %d scripts (%v), want 30", len(files), err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			c := readCorpus(t, path)
			if c.want == "" {
				t.Fatal("it does not say what it returns")
			}
			d := &desk{texts: map[string]string{"child": childWorkflow}}
			out := Run(t.Context(), c.start, d)
			if out.Error != nil {
				t.Fatalf("Run ended with %v, want %s", out.Error, c.want)
			}
			got := string(out.Value)
			if got == "" {
				got = "undefined"
			}
			if got != c.want {
				t.Errorf("Run gave\n%s, want\n%s", got, c.want)
			}
			logs := logLines(t, d)
			for _, part := range c.logs {
				at := slices.IndexFunc(logs, func(l string) bool { return strings.Contains(l, part) })
				if at < 0 {
					t.Fatalf("logged %q, want a line with %q", logLines(t, d), part)
				}
				logs = logs[at+1:]
			}
		})
	}
}

// logLines are the lines that a script wrote for people.
func logLines(t *testing.T, d *desk) []string {
	t.Helper()
	var all []string
	for _, line := range d.lines("log") {
		var l Log
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		all = append(all, l.Text)
	}
	return all
}

func TestFormOf(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]Form{
		"/repo/.claude/workflows/a.js":     FormClaude,
		".claude/workflows/a.js":           FormClaude,
		"/home/u/.claude/workflows/x/a.js": FormClaude,
		"/repo/.swarm/workflows/a.js":      FormOwn,
		"/repo/.claude/workflows":          FormOwn,
		"/repo/x.claude/workflows/a.js":    FormOwn,
		"/repo/.claude/workflows2/a.js":    FormOwn,
		"/repo/.claude/a.js":               FormOwn,
		"a.js":                             FormOwn,
		"":                                 FormOwn,
	} {
		if got := FormOf(path); got != want {
			t.Errorf("FormOf(%q) = %q, want %q", path, got, want)
		}
	}
}

// TestMistakesByForm: a mistake in a thunk or a stage ends a script of our own
// form. In the form of Claude Code it makes a single null. Both leave a line.
func TestMistakesByForm(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, give  string
		error, line string // in our own form
		want        string // in that of Claude Code, with failures().length
	}{
		{"a TypeError of a thunk", `const r = await parallel([async () => null.x, () => agent('b')])`,
			"TypeError", "parallel: item 0 %s: TypeError: ", `[[null,"did b"],1]`},
		{"a ReferenceError of a thunk", `const r = await parallel({a: () => agnet('a'), b: () => 1})`,
			"ReferenceError", "parallel: item a %s: ReferenceError: agnet is not defined (plan.js:1:", `[{"a":null,"b":1},1]`},
		{"a TypeError of a stage", `const r = await pipeline([1, 2], n => n === 1 ? n.x.y : n, n => n * 10)`,
			"TypeError", "pipeline: item 0 %s: TypeError: ", `[[null,20],1]`},
		{"an option", `const r = await parallel([() => agent(7)])`,
			"option", "parallel: item 0 %s: TypeError: agent: the prompt must be a string", `[[null],1]`},
		{"the clock", `const r = await parallel([() => Date.now()])`,
			"policy", "parallel: item 0 %s: the clock is closed", `[[null],1]`},
		{"an absent name", `const r = await parallel([() => fetch('x')])`,
			"policy", "parallel: item 0 %s: ReferenceError: fetch is not defined: a script has no network", `[[null],1]`},
		{"an error", `const r = await parallel([() => { throw new Error('no') }, async () => { throw 'text' }])`,
			"", "parallel: item 0 %s: no (plan.js:1:", `[[null,null],2]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, form := range []Form{FormOwn, FormClaude} {
				d := &desk{}
				out := Run(t.Context(), Start{Source: Source{Name: "plan.js", Form: form, Text: tt.give + "; return [r, failures().length]"}}, d)
				became := "is null"
				switch {
				case form == FormOwn && tt.error != "":
					became = "threw"
					if out.Error == nil || out.Error.Name != tt.error && string(out.Error.Code) != tt.error {
						t.Errorf("our own form ended with %+v, want %s", out.Error, tt.error)
					}
				case out.Error != nil || string(out.Value) != tt.want:
					t.Errorf("form %q gave %s and %v, want %s", form, out.Value, out.Error, tt.want)
				}
				if line := strings.Replace(tt.line, "%s", became, 1); !strings.Contains(strings.Join(d.lines("log"), "\n"), line) {
					t.Errorf("form %q logged %q, want %q", form, d.lines("log"), line)
				}
			}
		})
	}
}

// TestRefusalsInBothForms: a refusal of the run is thrown on in each form.
func TestRefusalsInBothForms(t *testing.T) {
	t.Parallel()
	host := func(code Code) func(Request) error {
		return func(r Request) error {
			if c, ok := r.(*Call); ok && c.Prompt == "refused" {
				return &Error{Name: "TypeError", Code: code, Message: "the host says no"}
			}
			return nil
		}
	}
	for _, form := range []Form{FormOwn, FormClaude} {
		for _, code := range []Code{CodeOption, CodePolicy, CodeLimit, CodeBudget} {
			for _, give := range []string{`parallel([() => agent('refused')])`, `pipeline([1], () => agent('refused'))`} {
				out := Run(t.Context(), Start{Source: Source{Name: "plan.js", Form: form, Text: "return " + give}}, &desk{refuse: host(code)})
				if out.Error == nil || out.Error.Code != code {
					t.Errorf("form %q: %s ended with %v, want %s", form, give, out.Error, code)
				}
			}
		}
		out := Run(t.Context(), Start{BudgetTokens: 5, Source: Source{Name: "plan.js", Form: form,
			Text: `await agent('spend:9'); return parallel([() => agent('a')])`}}, &desk{})
		if out.Error == nil || out.Error.Code != CodeBudget {
			t.Errorf("form %q: a spent budget ended with %v", form, out.Error)
		}
		for code, want := range map[Code]string{CodeUnknown: `[null]`} {
			out := Run(t.Context(), Start{Source: Source{Name: "plan.js", Form: form, Text: `return parallel([() => agent('refused')])`}}, &desk{refuse: host(code)})
			if form == FormClaude && string(out.Value) != want {
				t.Errorf("form %q: %s gave %s and %v, want %s", form, code, out.Value, out.Error, want)
			}
		}
	}
}

// TestNestedForm: a workflow keeps its form, whatever the form of its caller.
func TestNestedForm(t *testing.T) {
	t.Parallel()
	const mistaken = `const r = await parallel([() => agent('a'), () => nowhere()]); return r`
	for _, tt := range []struct {
		caller, called Form
		want, error    string
	}{
		{FormOwn, FormClaude, `["did a",null]`, ""},
		{FormClaude, FormOwn, "", "nowhere is not defined"},
	} {
		d := &desk{}
		d.answer = func(r Request) *Delivery {
			if _, ok := r.(*Nested); !ok {
				return nil
			}
			text, err := json.Marshal(Source{Name: "child.js", Text: mistaken, Form: tt.called})
			if err != nil {
				t.Error(err)
			}
			return &Delivery{Value: text}
		}
		out := Run(t.Context(), Start{Source: Source{Name: "plan.js", Form: tt.caller, Text: `return workflow('child')`}}, d)
		if tt.error != "" && (out.Error == nil || out.Error.Message != tt.error) || tt.error == "" && string(out.Value) != tt.want {
			t.Errorf("%q calls %q: gave %s and %v, want %s%s", tt.caller, tt.called, out.Value, out.Error, tt.want, tt.error)
		}
		shared := tt.called == FormClaude
		if len(d.calls) != 1 || (d.calls[0].Isolation == "shared") != shared {
			t.Errorf("%q calls %q: the calls are %+v, want one that shares: %t", tt.caller, tt.called, d.calls, shared)
		}
	}
}

// TestReturnOfNoNumber holds the form in which NaN, Infinity, null and undefined
// leave a script: the form of JSON, in both forms of scripts and without a warning.
func TestReturnOfNoNumber(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		`return NaN`:                            "null",
		`return -Infinity`:                      "null",
		`return {a: NaN, b: [Infinity, -0, 1]}`: `{"a":null,"b":[null,0,1]}`,
		`return null`:                           "null",
		`return undefined`:                      "",
		`return`:                                "",
		`return {a: undefined, b: null}`:        `{"b":null}`,
		`1`:                                     "",
	} {
		for _, form := range []Form{FormOwn, FormClaude} {
			d := &desk{}
			out := Run(t.Context(), Start{Source: Source{Name: "plan.js", Form: form, Text: give}}, d)
			if out.Error != nil || string(out.Value) != want || len(d.lines("log")) > 0 {
				t.Errorf("%s, form %q: gave %s and %v, want %s; it logged %q", give, form, out.Value, out.Error, want, d.lines("log"))
			}
		}
	}
}

// TestReturnByForm: a value that JSON drops is an error in our own form, and a
// warning in that of Claude Code.
func TestReturnByForm(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ give, want, says string }{
		{`return {a: agent('x'), b: 1}`, `{"a":{},"b":1}`, "the return value.a is a promise: an await is missing"},
		{`return [agent('x'), agent('y')]`, `[{},{}]`, "the return value[0] is a promise"},
		{`return {f: () => 1, n: [() => 1]}`, `{"n":[null]}`, "the return value.f is a function"},
		{`return () => 1`, ``, "the return value is a function"},
		{`return new Map([[1, 2]])`, `{}`, "the return value is a Map"},
		{`return {s: new Set([1])}`, `{"s":{}}`, "the return value.s is a Set"},
		{`return {e: new Error('x')}`, `{"e":{}}`, "the return value.e is an error"},
		{`return {s: Symbol('x'), t: 1}`, `{"t":1}`, "the return value.s is a symbol"},
	} {
		out := perform(t, &desk{}, tt.give)
		if out.Error == nil || !strings.HasPrefix(out.Error.Message, tt.says) {
			t.Errorf("%s in our own form ended with %v, want %q", tt.give, out.Error, tt.says)
		}
		d := &desk{}
		out = Run(t.Context(), Start{Source: Source{Name: "plan.js", Form: FormClaude, Text: tt.give}}, d)
		if out.Error != nil || string(out.Value) != tt.want {
			t.Errorf("%s gave %s and %v, want %s", tt.give, out.Value, out.Error, tt.want)
		}
		if logs := strings.Join(d.lines("log"), "\n"); !strings.Contains(logs, "warning: "+tt.says) {
			t.Errorf("%s logged %q, want a warning %q", tt.give, logs, tt.says)
		}
	}
	d := &desk{}
	Run(t.Context(), Start{Source: Source{Name: "plan.js", Form: FormClaude, Text: `return Array.from({length: 300}, () => agent('x'))`}}, d)
	if lines := logLines(t, d); len(lines) != mostDropped+1 || lines[mostDropped] != "warning: the return value holds 297 more values that JSON drops" {
		t.Errorf("300 promises logged %d lines, the last %q", len(lines), lines[len(lines)-1])
	}
	for _, give := range []string{`const o = {}; o.o = o; return o`, `return 1n`} {
		out := Run(t.Context(), Start{Source: Source{Name: "plan.js", Form: FormClaude, Text: give}}, &desk{})
		if out.Error == nil {
			t.Errorf("%s gave %s, want an error", give, out.Value)
		}
	}
}
