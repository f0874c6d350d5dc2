package script

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestMetaIsRead(t *testing.T) {
	t.Parallel()
	const text = "export const meta = {\n" +
		"  'name': `bug-hunt_2.1`, description: 'finds\\nbugs', whenToUse: \"often\",\n" +
		"  phases: ['scan', {title: 'fix', detail: 'one by one', model: 'opus'}, {\"title\": `check`}],\n" +
		"  args: {type: 'object', $id: 'x', properties: {n: {minimum: -1, maximum: 2.5, default: 1e3}, s: {enum: ['a', null, true, false, []]}}, 7: 'seven'},\n" +
		"}\n"
	p, err := Load(Source{Name: "a.js", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(p.Meta)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"name":"bug-hunt_2.1","description":"finds\nbugs","whenToUse":"often",` +
		`"phases":[{"title":"scan"},{"title":"fix","detail":"one by one","model":"opus"},{"title":"check"}],` +
		`"args":{"type":"object","$id":"x","properties":{"n":{"minimum":-1,"maximum":2.5,"default":1000},` +
		`"s":{"enum":["a",null,true,false,[]]}},"7":"seven"}}`
	if string(got) != want {
		t.Errorf("the meta is\n%s\nwant\n%s", got, want)
	}
}

func TestABareScriptHasNoMeta(t *testing.T) {
	t.Parallel()
	for _, give := range []string{"", "return 1", "const meta = {name: 'a'}; return meta", "// export const meta = {}\nreturn 1"} {
		p, err := Load(Source{Name: "a.js", Text: give})
		if err != nil {
			t.Fatal(err)
		}
		if p.Meta != nil {
			t.Errorf("Load(%q) has the meta %+v, want none", give, p.Meta)
		}
	}
}

func TestMetaIsRefused(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, give, where, want string }{
		{"computed", "f()", "1:21", "read without running"},
		{"a name", "x", "1:21", "read without running"},
		{"a text", "'x'", "1:21", "an object literal"},
		{"frozen", "Object.freeze({name: 'a', description: 'd'})", "1:21", "an object literal"},
		{"spread", "{...a, name: 'a', description: 'd'}", "1:25", "no spread"},
		{"shorthand", "{name, description: 'd'}", "1:22", "shorthand"},
		{"method", "{name() {}, description: 'd'}", "1:22", "method"},
		{"getter", "{get name() { return 1 }, description: 'd'}", "1:26", "method"},
		{"computed key", "{['name']: 'a', description: 'd'}", "1:23", "computed key"},
		{"__proto__", "{__proto__: {}, name: 'a', description: 'd'}", "1:22", `"__proto__"`},
		{"constructor", "{name: 'a', description: 'd', args: {constructor: 1}}", "1:58", `"constructor"`},
		{"prototype", "{name: 'a', description: 'd', 'prototype': 1}", "1:51", `"prototype"`},
		{"twice", "{name: 'a', 'name': 'b', description: 'd'}", "1:33", `"name" twice`},
		{"twice inside", "{name: 'a', description: 'd', args: {a: 1, a: 2}}", "1:64", `"a" twice`},
		{"no name", "{description: 'd'}", "1:21", "meta.name is missing"},
		{"no description", "{name: 'a'}", "1:21", "meta.description is missing"},
		{"empty name", "{name: '', description: 'd'}", "1:28", `meta.name ""`},
		{"a slash", "{name: 'a/b', description: 'd'}", "1:28", `meta.name "a/b"`},
		{"a space", "{name: 'a b', description: 'd'}", "1:28", `meta.name "a b"`},
		{"hidden", "{name: '.a', description: 'd'}", "1:28", `meta.name ".a"`},
		{"like an option", "{name: '-a', description: 'd'}", "1:28", `meta.name "-a"`},
		{"a number", "{name: 1, description: 'd'}", "1:28", "meta.name is a string"},
		{"a template", "{name: `a${1}`, description: 'd'}", "1:28", "meta.name is a string"},
		{"a tag", "{name: String.raw`a`, description: 'd'}", "1:38", "meta.name is a string"},
		{"a sum", "{name: 'a' + 'b', description: 'd'}", "1:28", "meta.name is a string"},
		{"description", "{name: 'a', description: null}", "1:46", "meta.description is a string"},
		{"whenToUse", "{name: 'a', description: 'd', whenToUse: ['x']}", "1:62", "meta.whenToUse is a string"},
		{"a required key misspelled", "{nmae: 'a', description: 'd'}", "1:22", `no key "nmae": did you mean "name"?`},
		{"an unknown key that is not written out", "{name: 'a', description: 'd', other: f()}", "1:58", "written out"},
		{"phases", "{name: 'a', description: 'd', phases: 'x'}", "1:59", "a list"},
		{"a phase", "{name: 'a', description: 'd', phases: [1]}", "1:60", "{title, detail}"},
		{"a phase without a title", "{name: 'a', description: 'd', phases: [{detail: 'x'}]}", "1:60", "a phase.title is missing"},
		{"an empty phase", "{name: 'a', description: 'd', phases: [' ']}", "1:60", "is empty"},
		{"a required key of a phase misspelled", "{name: 'a', description: 'd', phases: [{titel: 'x'}]}", "1:61", `did you mean "title"?`},
		{"a hole", "{name: 'a', description: 'd', phases: ['a',,'b']}", "1:59", "hole"},
		{"args", "{name: 'a', description: 'd', args: true}", "1:57", "JSON Schema"},
		{"a hole in args", "{name: 'a', description: 'd', args: {a: [,]}}", "1:61", "hole"},
		{"spread in args", "{name: 'a', description: 'd', args: {a: [...b]}}", "1:65", "written out"},
		{"a call in args", "{name: 'a', description: 'd', args: {a: b()}}", "1:61", "written out"},
		{"undefined", "{name: 'a', description: 'd', args: {a: undefined}}", "1:61", "written out"},
		{"a regexp", "{name: 'a', description: 'd', args: {a: /x/}}", "1:61", "written out"},
		{"plus", "{name: 'a', description: 'd', args: {a: +1}}", "1:61", "written out"},
		{"a big number", "{name: 'a', description: 'd', args: {a: 1n}}", "1:61", "JSON cannot"},
		{"infinity", "{name: 'a', description: 'd', args: {a: 1e999}}", "1:61", "JSON cannot"},
		{"another const", "{name: 'a', description: 'd'}, b = 1", "1:52", "alone"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			give := "export const meta = " + tt.give
			e := refusal(t, give)
			if e.Code != CodeMeta || !strings.Contains(e.Message, tt.want) || e.Where != "a.js:"+tt.where {
				t.Errorf("Load(%q) = %s %s: %q, want %s a.js:%s: %q", give, e.Code, e.Where, e.Message, CodeMeta, tt.where, tt.want)
			}
			if e.Line != give {
				t.Errorf("Load(%q) shows %q", give, e.Line)
			}
		})
	}
}

// TestMetaWarns: keys that are not known are passed over with their places.
func TestMetaWarns(t *testing.T) {
	t.Parallel()
	for give, want := range map[string][]string{
		"{name: 'a', description: 'd'}":                                    nil,
		"{name: 'a', description: 'd', phasen: []}":                        {`a.js:1:51: meta has no key "phasen": did you mean "phases"?`},
		"{name: 'a', description: 'd', model: 'x', tags: []}":              {`a.js:1:51: meta has no key "model"`, `a.js:1:63: meta has no key "tags": did you mean "args"?`},
		"{name: 'a', description: 'd', phases: [{title: 'x', goal: 'y'}]}": {`a.js:1:73: a phase has no key "goal"`},
		"{name: 'a', nam: 'b', description: 'd'}":                          {`a.js:1:33: meta has no key "nam": did you mean "name"?`},
	} {
		p, err := Load(Source{Name: "a.js", Text: "export const meta = " + give})
		if err != nil {
			t.Errorf("Load of meta %s = %v, want no error", give, err)
			continue
		}
		if !slices.Equal(p.Warnings, want) {
			t.Errorf("Load of meta %s warns %q, want %q", give, p.Warnings, want)
		}
	}
}

// TestMetaOfClaude: meta of that form has no args, and its name is any text.
func TestMetaOfClaude(t *testing.T) {
	t.Parallel()
	p, err := Load(Source{Name: "a.js", Form: FormClaude, Text: "export const meta = {name: 'Review: all of it', description: 'd', args: [{name: 'path'}]}"})
	if err != nil {
		t.Fatal(err)
	}
	if p.Meta.Name != "Review: all of it" || p.Meta.Args != nil {
		t.Errorf("meta = %+v, want the name and no args", p.Meta)
	}
	if want := []string{`a.js:1:67: meta has no key "args"`}; !slices.Equal(p.Warnings, want) {
		t.Errorf("warnings = %q, want %q", p.Warnings, want)
	}
	if _, err := Load(Source{Name: "a.js", Form: FormClaude, Text: "export const meta = {name: ' ', description: 'd'}"}); err == nil {
		t.Error("Load of an empty name = nil, want an error")
	}
}

func TestMetaRunsNothing(t *testing.T) {
	t.Parallel()
	// An error that only running it would find.
	if _, err := Load(Source{Name: "a.js", Text: "export const meta = {name: 'a', description: 'd'}\nthrow null.x"}); err != nil {
		t.Errorf("Load = %v, want no error", err)
	}
}
