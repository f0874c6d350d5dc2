package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/prompt"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/variants"
	"agentswarm/worktree"
)

// said are files of a repository.
type said map[string]string

func (s said) Memory(names ...string) (all []prompt.File, err error) {
	for _, name := range names {
		if name == s["broken"] {
			return nil, errors.New("it is broken")
		}
		if text, ok := s[name]; ok {
			all = append(all, prompt.File{Name: name, Text: text})
		}
	}
	return all, nil
}

// TestOpen checks the text before the agent's task for several calls.
func TestOpen(t *testing.T) {
	t.Parallel()
	kind := agent.Kind{Name: "mine", Family: variants.Qwen, Memory: func(*agent.Request) agent.Memory {
		return agent.Memory{Own: []string{"MINE.md"}, Reads: []string{"AGENTS.md"}}
	}}
	for _, test := range []struct {
		name      string
		change    func(*attempt)
		want, not []string
	}{
		{"plain", func(*attempt) {}, []string{"contract", "Mine.", "RUN IT", "offered"}, []string{"Agents.", "ACT", "# Stages"}},
		{"another model", func(t *attempt) { t.spec.Model = "openai/gpt-5" }, []string{"ACT"}, []string{"RUN IT"}},
		{"a model that nobody knows", func(t *attempt) { t.spec.Model = "mine" }, []string{"contract"}, []string{"ACT", "RUN IT"}},
		{"no variants", func(t *attempt) { t.call.Options.Variant = task.VariantOff }, []string{"contract"}, []string{"ACT", "RUN IT"}},
		{"a stage", func(t *attempt) { t.call.Stage = &task.Stage{Name: "b", Roster: []string{"a", "b"}, Words: "Look."} }, []string{"2. b (this is you)", "Look."}, nil},
		{"nobody knows of the repository", func(t *attempt) { t.engine.deps.Prompts = nil }, []string{"contract"}, []string{"Mine."}},
	} {
		a := &attempt{
			engine: &Engine{
				deps:   Deps{Prompts: said{"AGENTS.md": "Agents.", "MINE.md": "Mine."}},
				config: Config{Variants: []variants.Variant{{Family: variants.GPT, Text: "ACT"}, {Family: variants.Qwen, Text: "RUN IT"}}},
			},
			call: &task.Call{}, spec: &agent.Spec{}, words: "contract",
		}
		test.change(a)
		r := agent.Request{Spec: a.spec}
		if err := a.open(&r, &kind); err != nil {
			t.Fatal(err)
		}
		for _, word := range test.want {
			if strings.Count(r.System, word) < 1 {
				t.Errorf("%s: %q is not in %s", test.name, word, r.System)
			}
		}
		for _, word := range test.not {
			if strings.Contains(r.System, word) {
				t.Errorf("%s: %q is in %s", test.name, word, r.System)
			}
		}
		own := agent.Kind{Name: agent.KindBuiltin}
		b := agent.Request{Spec: a.spec}
		if err := a.open(&b, &own); err != nil || b.System != "" || b.Opening == nil || b.Opening.Stage != a.call.Stage {
			t.Errorf("%s: a built-in agent is told %q, %+v, %v", test.name, b.System, b.Opening, err)
		}
	}
	a := &attempt{engine: &Engine{deps: Deps{Prompts: said{"broken": "AGENTS.md"}}}, call: &task.Call{}, spec: &agent.Spec{}}
	if err := a.open(&agent.Request{Spec: a.spec}, &kind); err == nil || err.Error() != "open the prompt of the agent: it is broken" {
		t.Errorf("open = %v", err)
	}
}

// contracts is a judge that only says how it judges.
type contracts struct{ anyJudge }

// anyJudge embeds by a name that is none of its methods.
type anyJudge = Judge

func (contracts) Contract(*task.Call, worktree.Workspace) (string, error) { return "contract\n", nil }

// TestCommission checks that a command gets its stage in the contract file, and
// nothing if it has no stage.
func TestCommission(t *testing.T) {
	t.Parallel()
	for want, stage := range map[string]*task.Stage{
		"contract\n":                            nil,
		"contract\n\n# Your part: b\n\nLook.\n": {Name: "b", Words: "Look."},
	} {
		run, owner, err := (&store.State{Dir: filepath.Join(t.TempDir(), "state")}).Create(store.Identity{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = owner.Close() }()
		a := &attempt{
			engine: &Engine{deps: Deps{Judge: contracts{}, Run: run}}, call: &task.Call{Stage: stage},
			spec: &agent.Spec{Kind: agent.KindCommand}, space: &worktree.Workspace{}, dir: run.Dir,
		}
		if err := a.contract(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(a.dir + "/" + contractFile); err != nil || string(got) != want {
			t.Errorf("the file says %q, %v, want %q", got, err, want)
		}
	}
}
