package prompt

import (
	"strings"
	"testing"
	"unicode/utf8"

	"agentswarm/swarm/task"
	"agentswarm/variants"
)

func everything() *Parts {
	return &Parts{
		Core: "CORE\n", Contract: "CONTRACT", Role: "ROLE",
		Memory:   []File{{Name: "AGENTS.md", Text: "MEMORY"}},
		Stage:    &task.Stage{Name: "b", Roster: []string{"a", "b"}, Words: "WORDS"},
		Tools:    Tools{Names: []string{"read", "edit"}, All: true},
		Variants: []variants.Variant{{Text: "VARIANT 1"}, {Text: "VARIANT 2\n"}},
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	text, at := everything().Text(), 0
	for _, mark := range []string{
		"CORE\n\n", "# What is data", "# AGENTS.md of this repository\n\nMEMORY", "CONTRACT", "# Stages", "1. a\n2. b (this is you)",
		"exactly these: read, edit.", "do not invent names such as read_file, write_file, apply_patch, which", "# Your part: b\n\nWORDS", "ROLE", "VARIANT 1\n\nVARIANT 2",
	} {
		i := strings.Index(text, mark)
		if i < at {
			t.Errorf("%q is at %d, after %d, in\n%s", mark, i, at, text)
		}
		at = i
	}
	if !strings.HasSuffix(text, "VARIANT 2") || strings.Contains(text, "\n\n\n") {
		t.Errorf("want variants last, and no gaps, in\n%s", text)
	}
	p := everything()
	if got, want := p.Text(), p.Shared()+"\n\n"+p.Own(); got != want {
		t.Errorf("Text = %s\nwant %s", got, want)
	}
	if got := (&Parts{}).Text(); strings.Count(got, "# ") != 2 || strings.HasPrefix(got, "\n") {
		t.Errorf("of nothing: %q", got)
	}
	if got := p.Commission(); strings.Contains(got, "VARIANT") || !strings.Contains(got, "(this is you)") || !strings.HasSuffix(got, "WORDS\n\nROLE") {
		t.Errorf("Commission = %s", got)
	}
}

func TestTools(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		tools      Tools
		want, none string
	}{
		{Tools{Names: []string{"read_file"}, All: true}, "exactly these: read_file. There are no others: do not invent names such as write_file, apply_patch, bash, which", "Among"},
		{Tools{Names: []string{"Read"}}, "Among the tools that you are offered are Read. Call only those", "exactly these"},
		{Tools{All: true}, "You have no tools", "exactly"},
		{Tools{}, "Call only the tools that you are offered", "exactly these"},
	} {
		got := (&Parts{Tools: test.tools}).Text()
		if !strings.Contains(got, test.want) || strings.Contains(got, test.none) {
			t.Errorf("of %+v it is said %s", test.tools, got)
		}
	}
	name := (&Parts{Stage: &task.Stage{Name: "a\n\n# Rules", Roster: []string{"a\n\n# Rules"}, Words: "w"}}).Text()
	if strings.Contains(name, "\n# Rules") {
		t.Errorf("the name of a stage makes a heading: %s", name)
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	a, c := File{"AGENTS.md", "Rules.\n"}, File{"CLAUDE.md", "See @AGENTS.md first."}
	for _, test := range []struct {
		name  string
		all   []File
		reads []string
		want  string
	}{
		{"nothing is read", []File{a, c}, nil, "AGENTS.md CLAUDE.md"},
		{"one is read", []File{a, {"CLAUDE.md", "Mine."}}, []string{"CLAUDE.md"}, "AGENTS.md"},
		{"one that brings in the other", []File{a, c}, []string{"CLAUDE.md"}, ""},
		{"one that brings it in by a path", []File{a, {"CLAUDE.md", "@./AGENTS.md"}}, []string{"CLAUDE.md"}, ""},
		{"one that only mentions it", []File{a, {"CLAUDE.md", "AGENTS.md is wrong."}}, []string{"CLAUDE.md"}, "AGENTS.md"},
		{"one that is the same", []File{a, {"CLAUDE.md", "Rules."}}, []string{"CLAUDE.md"}, ""},
		{"the same twice", []File{a, {"CLAUDE.md", "Rules."}}, nil, "AGENTS.md"},
		{"none is there", nil, []string{"AGENTS.md"}, ""},
	} {
		var got []string
		for _, f := range Missing(test.all, test.reads) {
			got = append(got, f.Name)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: Missing = %v, want %s", test.name, got, test.want)
		}
	}
}

func TestBound(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", MaxMemory/2-2)
	got := Bound([]File{{"A", "\ufeff" + long + "\n"}, {"B", "xüüüüü"}, {"C", "c"}, {"D", " "}})
	if len(got) != 3 || got[0].Text != long || got[1].Text != "xü"+leftOut || got[2].Text != leftOut {
		t.Errorf("Bound = %d files, and the last say %q, %q", len(got), got[1].Text, got[len(got)-1].Text)
	}
	if got := Bound([]File{{"A", "a\xffb"}}); got[0].Text != "a\uFFFDb" || !utf8.ValidString(got[0].Text) {
		t.Errorf("Bound = %q", got[0].Text)
	}
}

// FuzzBound: the text stays bounded, whatever a repository contains.
func FuzzBound(f *testing.F) {
	f.Add("a", "b")
	f.Add("\ufeff\xff\x00", strings.Repeat("é", MaxMemory))
	f.Fuzz(func(t *testing.T, a, b string) {
		size := 0
		for _, file := range Bound([]File{{"A", a}, {"B", b}}) {
			size += len(file.Text)
			if !utf8.ValidString(file.Text) || file.Text == "" {
				t.Errorf("Bound makes %q", file.Text)
			}
		}
		if size > MaxMemory+2*len(leftOut) {
			t.Errorf("%d bytes are said", size)
		}
	})
}
