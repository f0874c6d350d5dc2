package workflow

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/toolset"
)

func TestParseType(t *testing.T) {
	t.Parallel()
	const ours, theirs = ".swarm/agents/", ".claude/agents/"
	tests := []struct {
		name, file, give string
		want             Type
	}{
		{
			"whole", ours + "reviewer.md", "---\nname: judge\ndescription: \"Says: no\"\n---\n\nRead it.\n\n---\nTwice.\n",
			Type{Name: "judge", Description: "Says: no", Prompt: "Read it.\n\n---\nTwice."},
		},
		{"name of the file", ours + "reviewer.md", "---\ndescription: d\n---\nRead it.", Type{Name: "reviewer", Description: "d", Prompt: "Read it."}},
		{"no front matter", ours + "plain.md", "Read it.\n---\n", Type{Name: "plain", Prompt: "Read it.\n---"}},
		{"empty front matter", ours + "plain.md", "---\n---\nRead it.", Type{Name: "plain", Prompt: "Read it."}},
		{"line ends and a mark", ours + "a.md", "\ufeff--- \r\nname: b\r\n---\r\nOne\r\ntwo\r\n", Type{Name: "b", Prompt: "One\ntwo"}},
		{"keys without a value", ours + "a.md", "---\nname:\ntools:\nmodel: ~\n---\np", Type{Name: "a", Prompt: "p"}},
		{"a model that is the run's", ours + "a.md", "---\nmodel: inherit\n---\np", Type{Name: "a", Prompt: "p"}},
		{"tools", ours + "a.md", "---\nname: a\ntools: Read, Grep\n---\np", Type{Name: "a", Prompt: "p", Tools: []string{"read", "grep"}}},
		{"a list of tools", ours + "a.md", "---\ntools: [read, bash, read]\n---\np", Type{Name: "a", Prompt: "p", Tools: []string{"read", "bash"}}},
		{"our model", ours + "a.md", "---\nmodel: openai/gpt-5:high\n---\np", Type{Name: "a", Prompt: "p", Model: "openai/gpt-5:high"}},
		{"model", theirs + "a.md", "---\nmodel: opus\n---\np", Type{Name: "a", Prompt: "p", Model: "opus"}},
		{
			"their tools", theirs + "a.md", "---\ntools: Glob, LS, Read, NotebookEdit, Edit, Bash(git *), WebFetch, mcp__x__y\n---\np",
			Type{Name: "a", Prompt: "p", Tools: []string{"find", "ls", "read", "edit", "bash(git *)", "WebFetch", "mcp__x__y"}},
		},
		{
			"all tools but some", theirs + "a.md", "---\ndisallowedTools: [Write, Edit, WebFetch]\n---\np",
			Type{Name: "a", Prompt: "p", Without: []string{"write", "edit", "WebFetch"}},
		},
		{
			"some tools but one", theirs + "a.md", "---\ntools: [Read, Write]\ndisallowedTools: Write\n---\np",
			Type{Name: "a", Prompt: "p", Tools: []string{"read", "write"}, Without: []string{"write"}},
		},
		{
			"ours has the same words", ours + "a.md", "---\ntools: [\"*\"]\ndisallowedTools: Bash(rm *, -r), Skill\neffort: high\n---\np",
			Type{Name: "a", Prompt: "p", Tools: []string{"*"}, Without: []string{"bash(rm *, -r)", "Skill"}, Effort: "high"},
		},
		{
			"tools that only another tool has", theirs + "a.md", "---\ntools: Read, Colour\ndisallowedTools: Paint\n---\np",
			Type{Name: "a", Prompt: "p", Tools: []string{"read"}, Unknown: []string{"Colour", "Paint"}},
		},
		{"their keys", theirs + "a.md", "---\nname: x\ncolor: red\nhooks: {a: [1]}\n---\np", Type{Name: "x", Prompt: "p"}},
		{
			"their YAML", theirs + "a.md", "---\nname: 'x'\ndescription: Use it: now. Example: <a: b>\ncolor: red\n---\np",
			Type{Name: "x", Description: "Use it: now. Example: <a: b>", Prompt: "p"},
		},
		{
			"their YAML with tools", theirs + "a.md", "---\ndescription: Use it: now\ntools:\n  - Read\n---\np",
			Type{Name: "a", Description: "Use it: now", Prompt: "p", Tools: []string{"read"}},
		},
	}
	for _, tt := range tests {
		got, err := ParseType(tt.file, tt.give)
		tt.want.File = tt.file
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: ParseType = %+v, %v, want %+v", tt.name, got, err, tt.want)
		}
	}
}

func TestParseTypeRefuses(t *testing.T) {
	t.Parallel()
	const ours = ".swarm/agents/a.md"
	for _, tt := range []struct{ file, give, want string }{
		{ours, "---\ntool: Read\n---\np", `.swarm/agents/a.md:2: unknown key "tool"; did you mean "tools"?`},
		{ours, "---\nname: a\ncolor: red\n---\np", `.swarm/agents/a.md:3: unknown key "color"; the keys are name, description, tools, disallowedTools, model, effort, role`},
		{ours, "---\nname: a\nallow: [push to main]\n---\np", ".swarm/agents/a.md:3: allow is not for a type, which grants nothing; give it to the call that needs it"},
		{ours, "---\neffort: -x\n---\np", `.swarm/agents/a.md:2: effort: "-x" is not a word without spaces that does not begin with -`},
		{ours, "---\neffort: [low]\n---\np", `.swarm/agents/a.md:2: effort must be a text`},
		{ours, "---\ntools: Bash(git\n---\np", `.swarm/agents/a.md:2: tools: "Bash(git" has no ) at its end`},
		{ours, "---\ndisallowedTools: Wriet\n---\np", `.swarm/agents/a.md:2: disallowedTools: there is no tool "Wriet"; did you mean "write"?`},
		{ours, "---\ndisallowedTools: [\"*\"]\n---\np", `.swarm/agents/a.md:2: disallowedTools leaves it no tool`},
		{ours, "---\nname: a\nname: b\n---\np", `.swarm/agents/a.md:3: name is given twice`},
		{ours, "---\nname: [a]\n---\np", `.swarm/agents/a.md:2: name must be a text`},
		{ours, "---\ntools: []\n---\np", `.swarm/agents/a.md:2: tools: none of them is one of read, grep, find, ls, edit, write, bash`},
		{ours, "---\ntools: read, fnd\n---\np", `.swarm/agents/a.md:2: tools: there is no tool "fnd"; did you mean "find"?`},
		{ours, "---\ntools: Colour\n---\np", `.swarm/agents/a.md:2: tools: there is no tool "Colour"; the tools are read, grep, find, ls, edit, write, bash, WebSearch, WebFetch, Skill, Task, TodoWrite, mcp__SERVER__TOOL, *`},
		{ours, "---\ntools: {a: b}\n---\np", `.swarm/agents/a.md:2: tools must be a list of words`},
		{ours, "---\ntools: [[a]]\n---\np", `.swarm/agents/a.md:2: tools must be a list of words`},
		{ours, "---\nmodel: --x\n---\np", `.swarm/agents/a.md:2: model: "--x" is not a word without spaces that does not begin with -`},
		{ours, "---\nmodel: [x]\n---\np", `.swarm/agents/a.md:2: model must be a text`},
		{".claude/agents/a.md", "---\ntools: Colour\n---\np", `.claude/agents/a.md:2: tools: none of them is one of read, grep, find, ls, edit, write, bash`},
		{".claude/agents/a.md", "---\ntools: Read\ndisallowedTools: Read\n---\np", `.claude/agents/a.md:3: disallowedTools leaves it no tool`},
		{ours, "---\n- a\n---\np", `.swarm/agents/a.md:2: the front matter is no list of keys and values`},
		{ours, "---\nname: a\ndescription: b: c\n---\np", `.swarm/agents/a.md:3: the front matter is not YAML: mapping values are not allowed in this context`},
		{ours, "---\nname: a\n", `.swarm/agents/a.md:1: the front matter that begins here has no end: a line of --- is missing`},
		{ours, "---", `.swarm/agents/a.md:1: the front matter that begins here has no end: a line of --- is missing`},
		{ours, "---\nname: a\n---\n \n", `.swarm/agents/a.md: has no prompt: nothing stands below the front matter`},
		{ours, "", `.swarm/agents/a.md: has no prompt: nothing stands below the front matter`},
		{ours, "---\nname: -x\n---\np", `.swarm/agents/a.md:2: "-x" is not the name of a type: want letters, digits, and . _ : - between them, at most 64`},
		{".swarm/agents/a b.md", "p", `.swarm/agents/a b.md: "a b" is not the name of a type: want letters, digits, and . _ : - between them, at most 64`},
		{ours, "p\xff", `.swarm/agents/a.md: is not UTF-8`},
		{ours, strings.Repeat("p", MaxTypeText+1), `.swarm/agents/a.md: is longer than 256 KiB`},
		{".claude/agents/a.md", "---\nname: a b\n---\np", `.claude/agents/a.md:2: "a b" is not the name of a type: want letters, digits, and . _ : - between them, at most 64`},
	} {
		got, err := ParseType(tt.file, tt.give)
		var bad *TypeError
		if !errors.As(err, &bad) || err.Error() != tt.want {
			t.Errorf("ParseType(%q) = %+v, %v, want %s", tt.give[:min(40, len(tt.give))], got, err, tt.want)
		}
	}
}

func TestTypes(t *testing.T) {
	t.Parallel()
	builtin, err := Types(nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(builtin)); !slices.Equal(got, []string{"Explore", "Plan", "general-purpose"}) {
		t.Errorf("built in are %v", got)
	}
	for name, b := range builtin {
		looks := name == "Explore" || name == "Plan"
		if b.File != "" || b.Refused != "" || b.Description == "" || strings.Contains(b.Prompt, "Nothing is to") != looks {
			t.Errorf("built in: %+v", b)
		}
	}
	all, err := Types([]event.ScriptFile{
		{Name: ".swarm/agents/Plan.md", Text: "ours"},
		{Name: ".swarm/agents/b.md", Text: "---\ntools: Read\n---\nb"},
		{Name: ".claude/agents/x.md", Text: "---\nname: Plan\n---\ntheirs"},
		{Name: ".claude/agents/broken.md", Text: "---\n"},
		{Name: ".claude/agents/c.md", Text: "c"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"Plan": "ours", "b": "b", "c": "c", "broken": ""} {
		if all[name].Prompt != want || (all[name].Refused != "") != (name == "broken") {
			t.Errorf("type %s is %+v", name, all[name])
		}
	}
	for _, tt := range []struct {
		want  string
		files []event.ScriptFile
	}{
		{".swarm/agents/c.md: type \"b\" is in .swarm/agents/b.md already", []event.ScriptFile{
			{Name: ".swarm/agents/b.md", Text: "b"}, {Name: ".swarm/agents/c.md", Text: "---\nname: b\n---\nc"},
		}},
		{".swarm/agents/b.md: has no prompt: nothing stands below the front matter", []event.ScriptFile{{Name: ".swarm/agents/b.md"}}},
	} {
		if _, err := Types(tt.files); err == nil || err.Error() != tt.want {
			t.Errorf("Types: %v, want %s", err, tt.want)
		}
	}
}

// canonical reports whether entries are written as lists of tools keep them.
func canonical(list []string) bool {
	return !slices.ContainsFunc(list, func(text string) bool {
		e, err := toolset.Parse(text)
		return err != nil || e.String() != text
	})
}

// FuzzParseType: a type that is read can be used, and an error names the place.
func FuzzParseType(f *testing.F) {
	for _, seed := range []string{
		"p", "---\nname: a\ntools: [Read]\nmodel: x\n---\np", "---\na: &a [*a]\n---\np", "---\n? {a: b}\n: c\n---\np",
		"---\ndescription: a: b\n---\np", "---\n%YAML 9\n---\np", "---\n'\n---\np", "---\nname: !!binary x\n---\np",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, file := range []string{".swarm/agents/a.md", ".claude/agents/a.md"} {
			got, err := ParseType(file, text)
			var bad *TypeError
			switch {
			case errors.As(err, &bad):
				if bad.File != file || bad.Line < 0 || bad.Line > strings.Count(text, "\n")+2 {
					t.Errorf("ParseType(%q): %v at line %d", text, err, bad.Line)
				}
			case err != nil:
				t.Errorf("ParseType(%q): %T", text, err)
			case !isTypeName(got.Name), got.Prompt == "", !utf8.ValidString(got.Prompt),
				got.Model != "" && !agent.IsOption(got.Model), got.Effort != "" && !agent.IsOption(got.Effort),
				!canonical(got.Tools), !canonical(got.Without):
				t.Errorf("ParseType(%q) = %+v", text, got)
			}
		}
	})
}
