package reviewer

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/swarm/task"
)

// TestVerdictOf checks that a reviewer's findings decide, and that an answer
// that cannot be read lets nothing pass.
func TestVerdictOf(t *testing.T) {
	t.Parallel()
	structured := func(text string) *task.Completed { return &task.Completed{Structured: json.RawMessage(text)} }
	for _, tt := range []struct {
		name     string
		give     *task.Completed
		pass     bool
		problems string
	}{
		{"nothing is wrong", structured(`{"pass":true,"problems":[]}`), true, ""},
		{"something is", structured(`{"pass":false,"problems":[{"path":"a.go","problem":"it leaks"}]}`), false, "a.go: it leaks"},
		{"it says both", structured(`{"pass":true,"problems":[{"problem":"it leaks"}]}`), false, "it leaks"},
		{"another form", structured(`["pass"]`), false, "the verdict of its reviewer cannot be read: read a verdict: "},
		{"none", &task.Completed{Answer: "It is fine."}, false, "the verdict of its reviewer cannot be read: read a verdict: "},
		{"one that is gone", &task.Completed{Whole: &task.Whole{File: filepath.Join(t.TempDir(), "answer.json")}}, false, "the verdict of its reviewer cannot be read: read an answer: "},
	} {
		got := verdictOf(tt.give)
		var problems []string
		for _, p := range got.Problems {
			problems = append(problems, p.String())
		}
		if text := strings.Join(problems, "; "); got.Pass != tt.pass || !strings.HasPrefix(text, tt.problems) || (text == "") != (tt.problems == "") {
			t.Errorf("%s: verdictOf = %t, %q, want %t, %q", tt.name, got.Pass, text, tt.pass, tt.problems)
		}
	}
}
