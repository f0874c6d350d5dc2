package kinds

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentswarm/risk"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/agenttest"
	"agentswarm/swarm/prompt"
	"agentswarm/swarm/task"
	"agentswarm/variants"
)

// openings are the opening texts of the prompts in the golden files: alone, and
// for the stages that std.stages really starts. The golden files show the exact
// text that is sent.
func openings(t *testing.T) map[string]openingCase {
	t.Helper()
	all := map[string]openingCase{"alone": {prompt: "make f.go say three"}}
	stages, err := agenttest.Stages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for label, s := range stages {
		c := openingCase{stage: s.Stage, prompt: s.Prompt}
		if s.Reads {
			c.spec = func(spec *agent.Spec) { spec.ReadOnly = All().ByName()[spec.Kind].Can.ReadOnly }
		}
		all[strings.ReplaceAll(label, " ", "_")] = c
	}
	if len(all) != 6 {
		t.Fatalf("there are %d openings", len(all))
	}
	return all
}

type openingCase struct {
	stage  *task.Stage
	spec   func(*agent.Spec)
	prompt string
}

// opened is the request for an agent of a kind.
func opened(t *testing.T, k agent.Kind, c openingCase, change func(*agent.Request, *prompt.Parts)) *agent.Request {
	t.Helper()
	brought, err := variants.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	spec := k.Spec
	spec.Model = "openrouter/anthropic/claude-opus"
	if c.spec != nil {
		c.spec(&spec)
	}
	r := &agent.Request{Spec: &spec, State: "/state", Dir: "/tree", Walled: true, Prompt: c.prompt}
	p := prompt.Parts{
		Core: prompt.Core(), Contract: (&risk.Authority{}).Contract(false), Stage: c.stage, Variants: brought,
		Memory: []prompt.File{{Name: "AGENTS.md", Text: "Use tabs."}},
	}
	if change != nil {
		change(r, &p)
	}
	k.Open(r, p)
	return r
}

// text returns the text sent to the agent. A built-in agent assembles it itself
// from its own core and tools, which its own golden files show.
func text(r *agent.Request) string {
	if r.Opening != nil {
		p := *r.Opening
		p.Core, p.Tools = "(its own core)", prompt.Tools{Names: []string{"(those it has)"}, All: true}
		p.Variants = variants.Treat(variants.Of(r.Spec.Model), p.Variants)
		return p.Text() + "\n"
	}
	return r.System
}

// beforeTask marks where the user's message begins in a golden file.
const beforeTask = "\n======== the user's message ========\n\n"

// TestOpening checks, byte for byte and per kind and stage, the text that is
// sent. A change of a stage's words shows in a golden file.
func TestOpening(t *testing.T) {
	t.Parallel()
	for _, k := range All() {
		for name, c := range openings(t) {
			r := opened(t, k, c, nil)
			if r.Prompt != c.prompt {
				t.Errorf("%s, %s: the task is %q", k.Name, name, r.Prompt)
			}
			system := text(r)
			got := system + beforeTask + r.Prompt + "\n"
			golden := filepath.Join("testdata", "prompt", k.Name+"_"+name+".golden")
			if *update {
				if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil || got != string(want) {
				t.Errorf("%s is told, as %s,\n%s\nwant\n%s\n%v", k.Name, name, got, want, err)
			}
			if strings.Contains(got, "/tree") || strings.Contains(got, "/state") {
				t.Errorf("%s, %s: a path is in %s", k.Name, name, got)
			}
			ordered(t, k.Name+", "+name, string(want), c.stage)
		}
	}
}

// ordered checks the order of a golden file's parts: each begins where the
// previous part ends, once, and the task is the user's.
func ordered(t *testing.T, what, golden string, stage *task.Stage) {
	t.Helper()
	marks := []string{"# What is data\n", "# AGENTS.md of this repository\n", "Judge each action in silence", "# Stages\n", "# Available tools\n", "# Your part: ", "# Take care\n", beforeTask}
	if stage == nil {
		marks = slices.DeleteFunc(marks, func(m string) bool { return m == "# Stages\n" || m == "# Your part: " })
	} else if !strings.Contains(golden, "# Your part: "+stage.Name+"\n\n"+stage.Words+"\n\n# Take care\n") {
		t.Errorf("%s: the words of the stage do not stand where they belong:\n%s", what, golden)
	}
	if at := strings.Index(golden, marks[0]); at < 1 {
		t.Errorf("%s: nobody is said to be anybody before the first part:\n%s", what, golden)
	}
	at := 0
	for _, mark := range marks {
		n := strings.Count(golden, mark)
		if mark == marks[1] && n == 0 {
			continue // a kind that reads it by itself
		}
		if i := strings.Index(golden, mark); n != 1 || i < at {
			t.Errorf("%s: %q is there %d times, first at %d, and what comes before it at %d", what, mark, n, i, at)
		} else {
			at = i
		}
	}
	system, asked, _ := strings.Cut(golden, beforeTask)
	if strings.Contains(system, "f.go") || strings.TrimSpace(asked) == "" {
		t.Errorf("%s: the task is not the user's alone:\n%s", what, golden)
	}
	if stage != nil && !strings.Contains(system, "("+"this is you)") {
		t.Errorf("%s: it is not told who of the stages it is", what)
	}
}

// TestVariantsLast checks that nothing but the end of a prompt changes with its
// variants, and nothing before the roster with the stage.
func TestVariantsLast(t *testing.T) {
	t.Parallel()
	for _, k := range All() {
		for name, c := range openings(t) {
			with := text(opened(t, k, c, nil))
			without := text(opened(t, k, c, func(_ *agent.Request, p *prompt.Parts) { p.Variants = nil }))
			other := text(opened(t, k, c, func(_ *agent.Request, p *prompt.Parts) {
				p.Variants = []variants.Variant{{Family: variants.Claude, Mode: "x", Text: "Other."}}
			}))
			begin := strings.TrimRight(without, "\n")
			if with == without || !strings.HasPrefix(with, begin) || !strings.HasPrefix(other, begin) || !strings.HasSuffix(other, "\n\nOther.\n") {
				t.Errorf("%s, %s: with variants it is told\n%s\nwithout\n%s\nwith others\n%s", k.Name, name, with, without, other)
			}
			alone, _, _ := strings.Cut(text(opened(t, k, openingCase{spec: c.spec}, nil)), "# Available tools")
			if !strings.HasPrefix(with, alone) {
				t.Errorf("%s, %s: before the roster it is told\n%s\nwant\n%s", k.Name, name, with, alone)
			}
			moved := text(opened(t, k, c, func(r *agent.Request, _ *prompt.Parts) { r.State, r.Dir, r.Session, r.Prompt = "/a", "/b", "c", "d" }))
			if moved != with {
				t.Errorf("%s, %s: elsewhere it is told\n%s\nwant\n%s", k.Name, name, moved, with)
			}
		}
	}
}

// TestMemory checks that nothing a kind reads by itself is said to it again,
// and that the rest is.
func TestMemory(t *testing.T) {
	t.Parallel()
	files := []prompt.File{{Name: "AGENTS.md", Text: "Agents."}, {Name: "CLAUDE.md", Text: "Claude."}, {Name: "GEMINI.md", Text: "Gemini."}, {Name: "QWEN.md", Text: "Qwen."}}
	for _, test := range []struct {
		kind   string
		walled bool
		want   string // the files that are said
	}{
		{agent.KindPi, true, ""},
		{agent.KindPi, false, ""},
		{agent.KindCodex, false, ""},
		{agent.KindOpencode, true, ""},
		{agent.KindClaude, true, "AGENTS.md CLAUDE.md"},
		{agent.KindClaude, false, "AGENTS.md CLAUDE.md"},
		{agent.KindGemini, true, "AGENTS.md GEMINI.md"},
		{agent.KindGemini, false, "AGENTS.md GEMINI.md"},
		{agent.KindQwen, true, "AGENTS.md QWEN.md"},
		{agent.KindQwen, false, "AGENTS.md QWEN.md"},
		{agent.KindCopilot, true, "AGENTS.md"},
		{agent.KindCopilot, false, "AGENTS.md"},
		{agent.KindBuiltin, true, "AGENTS.md"},
		{agent.KindBuiltin, false, "AGENTS.md"},
	} {
		k := All().ByName()[test.kind]
		r := opened(t, k, openingCase{}, func(r *agent.Request, p *prompt.Parts) {
			r.Walled, p.Memory = test.walled, nil
			for _, f := range files {
				for _, name := range k.MemoryNames(r) {
					if f.Name == name {
						p.Memory = append(p.Memory, f)
					}
				}
			}
		})
		var said []string
		for _, f := range files {
			if strings.Contains(text(r), "# "+f.Name+" of this repository\n\n"+f.Text) {
				said = append(said, f.Name)
			}
		}
		if got := strings.Join(said, " "); got != test.want {
			t.Errorf("%s, behind walls: %t, is told %q, want %q", test.kind, test.walled, got, test.want)
		}
	}
}

// TestFamily holds which variants apply where no model is named.
func TestFamily(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]variants.Family{
		agent.KindClaude: variants.Claude, agent.KindCodex: variants.GPT, agent.KindQwen: variants.Qwen,
		agent.KindGemini: "", agent.KindPi: "", agent.KindOpencode: "", agent.KindCopilot: "",
	} {
		all, err := variants.Embedded()
		if err != nil {
			t.Fatal(err)
		}
		k := All().ByName()[kind]
		r := opened(t, k, openingCase{}, func(r *agent.Request, _ *prompt.Parts) { r.Spec.Model = "" })
		other := opened(t, k, openingCase{}, func(r *agent.Request, _ *prompt.Parts) { r.Spec.Model = "deepseek/deepseek-r1" })
		for _, v := range all {
			if got := strings.Contains(r.System, v.Text); got != (v.Family == want) {
				t.Errorf("%s without a model is told %s: %t", kind, v.Key(), got)
			}
			if got := strings.Contains(other.System, v.Text); got != (v.Family == variants.DeepSeek) {
				t.Errorf("%s with a model of DeepSeek is told %s: %t", kind, v.Key(), got)
			}
		}
	}
}
