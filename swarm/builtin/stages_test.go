package builtin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/risk"
	"agentswarm/swarm/agent/agenttest"
	"agentswarm/swarm/builtin/model"
	"agentswarm/swarm/prompt"
	"agentswarm/variants"
)

// TestStages checks, byte for byte, the texts that each stage of std.stages
// sends to a model: the system prompt in its order, and below it the user's
// message.
func TestStages(t *testing.T) {
	t.Parallel()
	stages, err := agenttest.Stages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	brought, err := variants.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for label, s := range stages {
		f := newFake(t, turn{text: "done"})
		o := options(t, f.endpoint(model.Chat))
		o.Endpoint.Spec.Model = "qwen3-coder"
		o.Contract, o.ReadOnly = (&risk.Authority{}).Contract(false), s.Reads
		o.Opening = &prompt.Parts{Stage: s.Stage, Variants: brought, Memory: []prompt.File{{Name: agentsName, Text: "Use tabs."}}}
		if err := os.WriteFile(filepath.Join(o.Root, "f.go"), []byte("one\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		k := start(t, t.Context(), o)
		k.prompt(s.Prompt)
		k.until("result")
		k.finish()
		var w struct {
			Messages []struct{ Role, Content string }
		}
		if err := json.Unmarshal([]byte(f.bodies()[0]), &w); err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, m := range w.Messages {
			b.WriteString("======== " + m.Role + " ========\n\n" + m.Content + "\n\n")
		}
		got := b.String()
		golden := filepath.Join("testdata", "stage_"+strings.ReplaceAll(label, " ", "_")+".golden")
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want := read(t, ".", golden); want != got {
			t.Errorf("%s is told\n%s\nwant\n%s", label, got, want)
		}
		at := 0
		for _, mark := range []string{
			"======== system", core[:40], "# What is data\n", "# AGENTS.md of this repository\n", "Judge each action in silence",
			"# Stages\n", "# Available tools\n\nYour tools are exactly these: ", "# Your part: " + s.Name + "\n\n" + s.Words + "\n\n# Take care\n",
			"======== user ========\n\n# The top of this repository\n", "make f.go say three",
		} {
			if strings.HasPrefix(label, "implementer ") && mark == "make f.go say three" {
				mark = "f.go: two is wrong"
			}
			i := strings.Index(got, mark)
			if i < at || strings.Count(got, mark) != 1 {
				t.Errorf("%s: %q is at %d, and what comes before it at %d of\n%s", label, mark, i, at, got)
			}
			at = max(i, at)
		}
	}
}
