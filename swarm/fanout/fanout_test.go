package fanout

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"agentswarm/swarm/task"
)

func files() []string {
	return []string{
		".github/ci.yml", "README.md", "go.mod",
		"packages/a/a.go", "packages/a/deep/x.go", "packages/b/b.go",
		"packages/README.md", "odd name/{item}.txt", "services/web/.env",
	}
}

func TestItems(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, prefix string
		give         []string
		want         []string
	}{
		{"files and folders", "", []string{"packages/*"}, []string{"packages/README.md", "packages/a", "packages/b"}},
		{"folders only", "", []string{"packages/*/"}, []string{"packages/a", "packages/b"}},
		{"braces", "", []string{"packages/{b,a}"}, []string{"packages/a", "packages/b"}},
		{"two patterns keep their order, once each", "", []string{"packages/b", "packages/*/"}, []string{"packages/b", "packages/a"}},
		{"any depth", "", []string{"**/*.go"}, []string{"packages/a/a.go", "packages/a/deep/x.go", "packages/b/b.go"}},
		{"hidden names are not meant", "", []string{"*/"}, []string{"odd name", "packages", "services"}},
		{"unless they are", "", []string{".*/"}, []string{".github"}},
		{"from a folder below", "packages/", []string{"*/"}, []string{"packages/a", "packages/b"}},
		{"with ./ in front", "packages/", []string{"./a"}, []string{"packages/a"}},
		{"blanks and braces in names", "", []string{"odd name/*"}, []string{"odd name/{item}.txt"}},
	} {
		got, err := Items(files(), tc.prefix, tc.give)
		if err != nil || !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: Items(%q) = %q, %v, want %q", tc.name, tc.give, got, err, tc.want)
		}
	}
}

func TestItemsRefuses(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		"nothing/*":  "matches nothing",
		"":           "is empty",
		"/abs":       "is absolute",
		"../up":      "leaves the folder",
		"a/../b":     "leaves the folder",
		"[a":         "is not a pattern",
		".":          "names the folder",
		"README.md/": "matches nothing",
		".git/*":     "matches nothing",
	} {
		_, err := Items(files(), "", []string{"packages/*", give})
		var bad *PatternError
		if !errors.As(err, &bad) || bad.Pattern != give || !strings.Contains(err.Error(), want) {
			t.Errorf("Items(%q) = %v, want an error that says %q", give, err, want)
		}
	}
}

func base() Base { return Base{Commit: "c", Tree: "t", Files: files()} }

func TestCallsFillsPlaceholdersOnce(t *testing.T) {
	t.Parallel()
	w := Workflow{
		Prompt: "do {item} ({name}, {index}/{count}) not {other} {}",
		Each:   []string{"odd name/*", "packages/a"},
	}
	calls, err := w.Calls(base())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"do odd name/{item}.txt ({item}.txt, 1/2) not {other} {}",
		"do packages/a (a, 2/2) not {other} {}",
	}
	for i, c := range calls {
		if got := task.Prompt(c.Input); got != want[i] {
			t.Errorf("prompt %d = %q, want %q", i, got, want[i])
		}
	}
	if c := calls[1]; c.Item != "packages/a" || c.Name != "a" || c.Label != "packages/a" || c.Index != 2 || c.Count != 2 {
		t.Errorf("call = %+v", c)
	}
}

func TestCallsPassesEveryOtherByteOfACommand(t *testing.T) {
	t.Parallel()
	w := Workflow{
		Command: []string{"tool", "{item}", "{other}", "a\n\x80{x}", "--n={index}"},
		Each:    []string{"packages/a"},
	}
	calls, err := w.Calls(base())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"tool", "packages/a", "{other}", "a\n\x80{x}", "--n=1"}
	if got := calls[0].Command; !reflect.DeepEqual(got, want) {
		t.Errorf("command = %q, want %q", got, want)
	}
}

func TestCallsWithoutItemsFillsNothing(t *testing.T) {
	t.Parallel()
	w := Workflow{Prompt: "{item} {itm}", Command: nil}
	calls, err := w.Calls(base())
	if err != nil || len(calls) != 1 || task.Prompt(calls[0].Input) != "{item} {itm}" {
		t.Errorf("Calls = %v, %v, want one call with the prompt as it is", calls, err)
	}
}

func TestCallsCount(t *testing.T) {
	t.Parallel()
	calls, err := Workflow{Prompt: "p{index}of{count}", Count: 3}.Calls(base())
	if err != nil || len(calls) != 3 {
		t.Fatalf("Calls = %v, %v", calls, err)
	}
	if c := calls[2]; c.Group != "alternatives" || c.Label != "alt-3" || task.Prompt(c.Input) != "p3of3" {
		t.Errorf("third = %+v", c)
	}
	one, err := Workflow{Prompt: "p{index}", Count: 1}.Calls(base())
	if err != nil || len(one) != 1 || one[0].Group != "" || task.Prompt(one[0].Input) != "p1" {
		t.Fatalf("Calls = %+v, %v, want one call without a group", one, err)
	}
	both, err := Workflow{Prompt: "p", Count: 2, Each: []string{"packages/*/"}}.Calls(base())
	if err != nil || len(both) != 4 {
		t.Fatalf("Calls = %v, %v", both, err)
	}
	if c := both[3]; c.Group != "packages/b" || c.Label != "packages/b#2" || c.Item != "packages/b" {
		t.Errorf("fourth = %+v", c)
	}
}

// TestWorkflowIsRecordedWhole: a resume makes its calls from the record, so
// every byte has to come back.
func TestWorkflowIsRecordedWhole(t *testing.T) {
	t.Parallel()
	for _, give := range []Workflow{
		{},
		{Prompt: "do {item}", Agent: "mine", Each: []string{"a/*", "b"}, Prefix: "sub/", Count: 3},
		{Prompt: "p", Options: task.Options{Model: "m", Effort: "e", Tools: []string{"ls"}, ReadOnly: true}},
		{Command: []string{"sh", "\xff\xfe", "", "\ufffd"}, Each: []string{"\x80*"}, Prefix: "\xf0/"},
	} {
		text, err := json.Marshal(give)
		if err != nil {
			t.Fatal(err)
		}
		var got Workflow
		if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, give) {
			t.Errorf("%s came back as %+v, %v, want %+v", text, got, err, give)
		}
	}
	var w Workflow
	if err := json.Unmarshal([]byte(`{"command":[1]}`), &w); err == nil {
		t.Errorf("a number was taken for a word: %+v", w)
	}
}

func TestCallsRefuses(t *testing.T) {
	t.Parallel()
	each := []string{"packages/a"}
	for _, tc := range []struct {
		name string
		give Workflow
		want string
	}{
		{"nothing to do", Workflow{}, "prompt is empty"},
		{"a typing error", Workflow{Prompt: "see {itme}", Each: each}, "{itme} in the prompt is not a placeholder; did you mean {item}?"},
		{"another", Workflow{Prompt: "see {Names}", Count: 2}, "did you mean {name}?"},
		{"an item in a script", Workflow{Command: []string{"sh", "-c", "rm {item}"}, Each: each}, "$SWARM_ITEM"},
		{"clustered", Workflow{Command: []string{"/bin/bash", "-euc", "x {name}"}, Each: each}, "$SWARM_ITEM"},
		{"after a wrapper", Workflow{Command: []string{"env", "A=1", "timeout", "5", "zsh", "-l", "-o", "errexit", "-c", "x {item}"}, Each: each}, "$SWARM_ITEM"},
		{"busybox", Workflow{Command: []string{"busybox", "sh", "-c", "x {item}"}, Each: each}, "$SWARM_ITEM"},
		{"a negative count", Workflow{Prompt: "p", Count: -1}, "--count -1"},
	} {
		if _, err := tc.give.Calls(base()); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: Calls = %v, want %q", tc.name, err, tc.want)
		}
	}
	for _, fine := range [][]string{
		{"sh", "-c", `gofmt -w "$SWARM_ITEM"`, "{item}"},
		{"sh", "script.sh", "{item}"},
		{"gofmt", "-c", "{item}"},
	} {
		if _, err := (Workflow{Command: fine, Each: each}).Calls(base()); err != nil {
			t.Errorf("Calls(%q) = %v, want none", fine, err)
		}
	}
}

func FuzzCalls(f *testing.F) {
	f.Add("do {item}", "packages/*", "sh")
	f.Add("{nmae}", "**/[a", "{item}")
	f.Add("{", "{a,b}/", "")
	f.Fuzz(func(t *testing.T, prompt, each, word string) {
		calls, err := Workflow{Prompt: prompt, Each: []string{each}, Command: []string{word}}.Calls(base())
		if err != nil {
			return
		}
		for _, c := range calls {
			if c.Item == "" || strings.HasSuffix(c.Item, "/") || c.Index < 1 || c.Index > c.Count {
				t.Errorf("call %+v has an impossible place", c)
			}
		}
	})
}

// TestPlaceholdersOfCommands checks that a typing error of a placeholder is
// refused before it goes to every agent, and that other braces are passed on
// and named.
func TestPlaceholdersOfCommands(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		give    Workflow
		refused string
		unknown []string
	}{
		{"one letter is missing", Workflow{Command: []string{"echo", "{itm}"}, Each: []string{"packages/a"}}, "did you mean {item}?", nil},
		{"two letters are swapped", Workflow{Command: []string{"echo", "x{nmae}"}, Count: 2}, "did you mean {name}?", nil},
		{"far from all", Workflow{Command: []string{"echo", "{foo}", "{item}", "{foo}"}, Each: []string{"packages/a"}}, "", []string{"{foo}"}},
		{"in the script of a shell", Workflow{Command: []string{"sh", "-c", "jq {items}"}, Each: []string{"packages/a"}}, "", nil},
		{"in a prompt", Workflow{Prompt: "explain {state} of {item}", Each: []string{"packages/a"}}, "", []string{"{state}"}},
		{"an item without items", Workflow{Command: []string{"echo", "a{item}"}}, "there are no items", nil},
		{"that of a shell", Workflow{Command: []string{"sh", "-c", "echo {item}"}}, "", nil},
		{"a name without items", Workflow{Command: []string{"jq", "{name}"}}, "", []string{"{name}"}},
		{"a prompt without items", Workflow{Prompt: "rename {count} to {total}"}, "", []string{"{count}"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := tt.give.Calls(base())
			if tt.refused == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.refused) {
				t.Errorf("Calls = %v, want a refusal with %q", err, tt.refused)
			}
			if got := tt.give.Unknown(); err == nil && !reflect.DeepEqual(got, tt.unknown) {
				t.Errorf("Unknown = %q, want %q", got, tt.unknown)
			}
		})
	}
}
