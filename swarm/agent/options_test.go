package agent

import (
	"reflect"
	"strings"
	"testing"

	"agentswarm/swarm/task"
)

func TestIsOption(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]bool{
		"sonnet": true, "openai/gpt-5:high": true, "a": true, "é": true, strings.Repeat("é", MaxOption): true,
		"": false, "-m": false, "a b": false, "a\tb": false, "a\n": false, "a\x00": false, "\x7f": false,
		strings.Repeat("x", MaxOption+1): false,
	} {
		if got := IsOption(give); got != want {
			t.Errorf("IsOption(%q) = %t, want %t", give, got, want)
		}
	}
}

func TestLay(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name              string
		give, under, want task.Options
	}{
		{"nothing", task.Options{}, task.Options{}, task.Options{}},
		{"a model", task.Options{Model: "a"}, task.Options{Model: "b", Effort: "c"}, task.Options{Model: "a", Effort: "c"}},
		{"read-only over tools", task.Options{ReadOnly: true}, task.Options{Tools: []string{"read", "bash"}}, task.Options{ReadOnly: true, Tools: []string{"read"}}},
		{"read-only over those that write", task.Options{ReadOnly: true}, task.Options{Tools: []string{"bash"}}, task.Options{ReadOnly: true, Tools: ReadOnlyTools()}},
		{"read-only over none", task.Options{ReadOnly: true}, task.Options{}, task.Options{ReadOnly: true}},
		{"tools over read-only", task.Options{Tools: []string{"bash"}}, task.Options{ReadOnly: true}, task.Options{ReadOnly: true, Tools: []string{"bash"}}},
	} {
		if got := Lay(tt.give, tt.under); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: Lay = %+v, want %+v", tt.name, got, tt.want)
		}
	}
	if got := UnknownTool([]string{"read", "Bash"}); got != "Bash" || UnknownTool(AllTools()) != "" {
		t.Errorf("UnknownTool = %q", got)
	}
}
