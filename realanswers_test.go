package main

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/modeltest"
)

// TestRealAnswers holds that a text beside the answer to a question of permission
// reaches the model, and that the answer is carried out.
func TestRealAnswers(t *testing.T) {
	t.Parallel()
	onKinds(t, func(t *testing.T, k realKind) {
		t.Run("no", func(t *testing.T) {
			r := newReal(t, k, calling(0, "{shell}", map[string]any{"command": "rm -rf pkg"}), saying("I left it."))
			got := r.answered("no, keep the marmalade")
			if got.Patch != nil {
				t.Errorf("it was denied, and its patch is %+v", got.Patch)
			}
			if told := r.results(1)[0]; !strings.Contains(told, "keep the marmalade") {
				t.Errorf("the model was told %q", told)
			}
		})
		t.Run("yes", func(t *testing.T) {
			done := modeltest.Turn{Text: modeltest.Pieces{"It is gone."}}
			r := newReal(t, k,
				modeltest.Rule{When: modeltest.When{Results: at(0)}, Turn: modeltest.Turn{
					Calls: []modeltest.Call{{Name: "{shell}", Args: map[string]any{"command": "rm -rf pkg"}}},
				}},
				modeltest.Rule{When: modeltest.When{User: "mind the marmalade"}, Turn: done},
				modeltest.Rule{When: modeltest.When{System: "mind the marmalade"}, Turn: done}, // as claude tells it
				// The text may come after the end of the command.
				modeltest.Rule{Turn: modeltest.Turn{
					Calls: []modeltest.Call{{Name: "{shell}", Args: map[string]any{"command": "true"}}},
				}},
			)
			got := r.answered("yes, mind the marmalade")
			if got.Patch == nil || got.Patch.Deleted != yardItems {
				t.Errorf("it was allowed, and its patch is %+v", got.Patch)
			}
		})
	}, agent.KindPi, agent.KindCodex, agent.KindClaude, agent.KindBuiltin)
}

// answered runs an agent whose first question a person answers, and returns how
// it ended. It does not complete unless its model says so.
func (r *real) answered(answer string) result {
	r.t.Helper()
	r.asks("Remove pkg", "--max-turns", "60")
	r.ends(0, "answer", "1", answer)
	r.ends(0, "wait")
	var run struct{ Agents []result }
	r.must(json.Unmarshal([]byte(r.ends(0, "status", "--json").stdout), &run))
	return run.Agents[0]
}

// asks runs an agent up to its first question.
func (r *real) asks(prompt string, more ...string) {
	r.t.Helper()
	args := []string{"run", "--detach", "--questions", "wait", "--agent", r.kind.name, "--model", r.kind.model}
	r.ends(0, append(append(args, more...), prompt)...)
	r.until("no question comes", func() bool { return strings.Contains(r.ends(0, "inbox", "--json").stdout, `"id"`) })
}

// TestRealInquiry holds that a question of an agent shows its whole text and its
// options, without a question of permission before it, and that the model gets the
// answer.
func TestRealInquiry(t *testing.T) {
	t.Parallel()
	onKinds(t, func(t *testing.T, k realKind) {
		k.home = maps.Clone(k.home)
		k.home[".codex/config.toml"] += "[features]\ndefault_mode_request_user_input = true\n"
		options := []map[string]any{{"label": "Plum", "description": "It is ripe."}, {"label": "Quince", "description": "It keeps."}}
		r := newReal(t, k, calling(0, "request_user_input", map[string]any{"questions": []map[string]any{
			{"id": "fruit", "header": "Fruit", "question": "Which fruit is the jam of?", "options": options},
		}}), saying("Jam it is."))
		r.asks("Make jam")
		var asked struct {
			Questions []struct{ Action struct{ Question string } }
		}
		r.must(json.Unmarshal([]byte(r.ends(0, "inbox", "--json").stdout), &asked))
		const want = "Fruit: Which fruit is the jam of?\n- Plum: It is ripe.\n- Quince: It keeps."
		if len(asked.Questions) != 1 || asked.Questions[0].Action.Question != want {
			t.Fatalf("a person is asked %+v", asked.Questions)
		}
		r.ends(0, "answer", "1", "Quince")
		r.ends(0, "wait")
		if told := r.results(1)[0]; told != `{"answers":{"fruit":{"answers":["Quince"]}}}` {
			t.Errorf("the model was told %q", told)
		}
	}, agent.KindCodex)
}
