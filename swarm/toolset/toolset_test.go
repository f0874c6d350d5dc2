package toolset

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		give string
		want Entry
		err  string
	}{
		{give: "read", want: Entry{Name: "read"}},
		{give: " Read ", want: Entry{Name: "read"}},
		{give: "LS", want: Entry{Name: "ls"}},
		{give: "MultiEdit", want: Entry{Name: "edit"}},
		{give: "KillShell", want: Entry{Name: "bash"}},
		{give: "Bash(git log *)", want: Entry{"bash", "git log *"}},
		{give: "bash(echo $(date))", want: Entry{"bash", "echo $(date)"}},
		{give: "Bash(*)", want: Entry{Name: "bash"}},
		{give: "Bash()", want: Entry{Name: "bash"}},
		{give: "WebFetch(domain:go.dev)", want: Entry{WebFetch, "domain:go.dev"}},
		{give: "Agent(worker, researcher)", want: Entry{Task, "worker, researcher"}},
		{give: "*", want: Entry{Name: All}},
		{give: "mcp__git.hub__get-issue", want: Entry{Name: "mcp__git.hub__get-issue"}},
		{give: "mcp__server__*", want: Entry{Name: "mcp__server__*"}},
		{give: "mcp__", err: `there is no tool "mcp__"`},
		{give: "mcp__a b", err: `there is no tool "mcp__a b"`},
		{give: "*(x)", err: `there is no tool "*"`},
		{give: "", err: "an entry is empty"},
		{give: "Bash(git", err: `"Bash(git" has no ) at its end`},
		{give: "Bsah", err: `there is no tool "Bsah"; did you mean "bash"?`},
		{give: "Bash(a\nb)", err: `"Bash(a\nb)" holds a control character`},
		{give: strings.Repeat("x", maxEntry+1), err: "is longer than 1000 bytes"},
	} {
		got, err := Parse(tt.give)
		if tt.err == "" && (err != nil || got != tt.want) || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("Parse(%q) = %+v, %v, want %+v, %q", tt.give, got, err, tt.want, tt.err)
		}
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for give, want := range map[string][]string{
		"":                              nil,
		" , ":                           nil,
		"Read":                          {"Read"},
		"Read, Bash(a, b), Agent(c,d),": {"Read", "Bash(a, b)", "Agent(c,d)"},
		"a) , b":                        {"a)", "b"},
	} {
		if got := Split(give); !slices.Equal(got, want) {
			t.Errorf("Split(%q) = %q, want %q", give, got, want)
		}
	}
}

func TestCanonical(t *testing.T) {
	t.Parallel()
	got, err := Canonical([]string{"Read, NotebookRead", "Bash(git log *)", "read"})
	if want := []string{"read", "bash(git log *)"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("Canonical = %q, %v, want %q", got, err, want)
	}
	for _, bad := range []string{"", ",", "Read, Fly"} {
		if got, err := Canonical([]string{bad}); err == nil {
			t.Errorf("Canonical(%q) = %q", bad, got)
		}
	}
}

func TestReads(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]bool{
		"": true, "read, grep, find, ls": true, "read, WebSearch, WebFetch": true, "read, bash(git log *)": false, "edit": false,
		"Skill": false, "mcp__a__b": false, "*": false, "Fly": false,
	} {
		if got := Reads(Split(list)); got != want {
			t.Errorf("Reads(%q) = %t, want %t", list, got, want)
		}
	}
}

// FuzzParse holds that the canonical form of an entry is read as the same entry,
// and is safe as a word of a command line.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"Read", "Bash(git log *)", "mcp__a__b", "*", "Bash(", "((", "Bash(*)", "Bash( ( )"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text)
		var unknown *UnknownError
		if err != nil {
			if errors.As(err, &unknown) && unknown.Entry == "" {
				t.Errorf("Parse(%q): an error without its entry", text)
			}
			return
		}
		if again, err := Parse(e.String()); err != nil || again != e {
			t.Errorf("Parse(%q) = %+v, and Parse(%q) = %+v, %v", text, e, e.String(), again, err)
		}
		if strings.HasPrefix(e.String(), "-") || strings.ContainsAny(e.String(), "\n\x00") {
			t.Errorf("Parse(%q) = %q", text, e)
		}
	})
}

func TestMissing(t *testing.T) {
	t.Parallel()
	r := Rules{More: []string{WebSearch}, Parts: []string{"bash"}}
	for _, tt := range []struct {
		lists Lists
		want  string
	}{
		{Lists{Tools: []string{"read", "WebSearch", "bash(x)"}}, ""},
		{Lists{Tools: []string{"read", "Skill"}}, "Skill"},
		{Lists{Tools: []string{"read(x)"}}, "read(x)"},
		{Lists{Tools: []string{"mcp__a"}}, "mcp__a"},
		{Lists{Without: []string{"bash(x)"}}, ""},
		{Lists{Without: []string{"bash"}}, "bash"},
		{Lists{Tools: []string{"*"}}, "*"},
	} {
		if got := r.Missing(tt.lists); got != tt.want {
			t.Errorf("Missing(%+v) = %q, want %q", tt.lists, got, tt.want)
		}
	}
}

// TestFit holds that an entry is mapped, or named in the warning.
func TestFit(t *testing.T) {
	t.Parallel()
	r := Rules{More: []string{WebSearch}, Parts: []string{"bash"}, Denies: true}
	for _, tt := range []struct {
		tools, without string
		want           Lists
		warning        string
	}{
		{"*", "", Lists{}, ""},
		{"Read, *", "", Lists{}, ""},
		{"*", "Bash(rm *), Skill", Lists{Without: []string{"bash(rm *)"}}, ""},
		{"Read, Bash(git log *), WebSearch", "", Lists{Tools: []string{"read", "bash(git log *)", "WebSearch"}}, ""},
		{"Read, WebFetch, Skill, mcp__a__b", "", Lists{Tools: []string{"read"}}, "it has no WebFetch, Skill, mcp__a__b"},
		{"Read, Edit(src/*)", "", Lists{Tools: []string{"read"}}, "it cannot allow a part of a tool, so it gets no edit(src/*)"},
		{"Bash, Edit", "Edit(src/*)", Lists{Tools: []string{"bash"}}, "it cannot take away a part of a tool, so it loses the whole tool of edit(src/*)"},
	} {
		got, warning, err := Fit(Request{Kind: "k", Rules: r, Lists: Lists{Split(tt.tools), Split(tt.without)}})
		if err != nil || warning != tt.warning || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("Fit(%q without %q) = %+v, %q, %v, want %+v, %q", tt.tools, tt.without, got, warning, err, tt.want, tt.warning)
		}
	}
}

// TestFitTwice: lists that fit stay as they are.
func TestFitTwice(t *testing.T) {
	t.Parallel()
	for _, r := range []Rules{
		{}, {Denies: true}, {Modes: true, More: []string{WebSearch}}, {Pair: true, Denies: true, Parts: []string{"bash"}},
	} {
		for _, tools := range []string{"", "*", "Read", "Read, Bash", "Read, Bash(git *), WebSearch", "Read, Edit, Write", "Bash, Edit, mcp__a__b"} {
			for _, without := range []string{"", "Edit", "Bash(rm *)", "Edit, Write, Bash", "WebSearch"} {
				once, _, err := Fit(Request{Kind: "k", Rules: r, Lists: Lists{Split(tools), Split(without)}})
				if err != nil {
					continue
				}
				twice, warning, err := Fit(Request{Kind: "k", Rules: r, Lists: once})
				if err != nil || warning != "" || !reflect.DeepEqual(once, twice) {
					t.Errorf("%+v, tools %q without %q: %+v, then %+v, %q, %v", r, tools, without, once, twice, warning, err)
				}
			}
		}
	}
}
