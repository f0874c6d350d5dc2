package hook

import (
	"slices"
	"strings"
	"testing"
)

// TestEvents: every name of a dialect stands for one of our events. Every event
// of ours that a program can have has a name in each dialect.
func TestEvents(t *testing.T) {
	t.Parallel()
	ours := []Event{Elsewhere, RunStart, AgentStart, AgentEnd, RunEnd, BeforeTool}
	seen := map[string]bool{}
	for _, n := range Events() {
		if n.Name == "" || seen[n.Name] || len(n.Dialects) == 0 {
			t.Errorf("%+v: it has no name or no dialect, or appears twice", n)
		}
		seen[n.Name] = true
		if !slices.Contains(ours, n.Event) {
			t.Errorf("%s is %q, which is no event", n.Name, n.Event)
		}
		if e, ok := Means(n.Name); !ok || e != n.Event {
			t.Errorf("Means(%s) = %q, %t, want %q", n.Name, e, ok, n.Event)
		}
	}
	for _, d := range []Dialect{Plain, Claude, Codex, Gemini, Qwen} {
		for _, e := range ours[1:] {
			if d != Plain && (e == RunStart || e == RunEnd) {
				continue // a run is ours alone
			}
			if !slices.ContainsFunc(Events(), func(n Named) bool { return n.Event == e && slices.Contains(n.Dialects, d) }) {
				t.Errorf("dialect %q has no name for %s", d, e)
			}
		}
	}
	for name, want := range map[string]Event{
		"PreToolUse": BeforeTool, "BeforeTool": BeforeTool, "SubagentStart": AgentStart, "AgentStart": AgentStart,
		"SessionStart": AgentStart, "SubagentStop": AgentEnd, "agent_end": AgentEnd, "session.created": AgentStart,
		"PostToolUse": Elsewhere, "on_run_end": RunEnd,
	} {
		if e, ok := Means(name); !ok || e != want {
			t.Errorf("Means(%s) = %q, %t, want %q", name, e, ok, want)
		}
	}
	if _, ok := Means("PreToolUse2"); ok {
		t.Error("a name that nobody has means something")
	}
	for _, e := range Configured() {
		if got, _ := Plain.event(string(e)); got != e {
			t.Errorf("%s is not its own name", e)
		}
	}
}

// answers are outputs of hooks, and their readings.
func answers() map[string]string {
	return map[string]string{
		"":                                    "proceed",
		" \n":                                 "proceed",
		`{"decision":"proceed"}`:              "proceed",
		`{"decision":"veto","reason":"no"}`:   "veto no",
		`{"note":"look"}`:                     "note look",
		`{"decision":"veto"}`:                 "error its veto has no reason",
		`{"decision":"veto","reason":" "}`:    "error its veto has no reason",
		`{"decision":"Veto","reason":"x"}`:    `error its decision is "Veto"`,
		`{"decision":"deny","reason":"x"}`:    `error its decision is "deny"`,
		`{"decision":"proceed","reason":"x"}`: "error only a veto has a reason",
		`{"decision":"proceed","note":"x"}`:   "error its answer has a note and a decision",
		`{"note":""}`:                         "error its note is empty",
		`{}`:                                  "error its answer has neither",
		`{"decison":"veto","reason":"x"}`:     "error its answer is none",
		`{"decision":"veto","reason":"x"} {}`: "error",
		`{"decision":"veto","decision":"proceed","reason":"x"}`: "error its answer is not JSON",
		`[]`:   "error",
		`veto`: "error",
		`"ok"`: "error",
		`null`: "error",
	}
}

func told(a Answer, err error) string {
	switch a := a.(type) {
	case *Proceed:
		return "proceed"
	case *Veto:
		return "veto " + a.Reason
	case *Note:
		return "note " + a.Text
	default:
		return "error " + err.Error()
	}
}

func TestReadAnswer(t *testing.T) {
	t.Parallel()
	for give, want := range answers() {
		for _, e := range Configured() {
			want := want
			if !e.Vetoes() && (strings.HasPrefix(want, "veto") || strings.Contains(want, "its veto has no reason")) {
				want = "error " + string(e) + " comes too late for a veto"
			}
			got := told(ReadAnswer(e, []byte(give)))
			if want == "error" && strings.HasPrefix(got, "error ") {
				continue
			}
			if got != want && !(strings.HasPrefix(want, "error ") && strings.HasPrefix(got, want)) {
				t.Errorf("ReadAnswer(%s, %q) = %s, want %s", e, give, got, want)
			}
		}
	}
	const want = `; want nothing, {"decision": "proceed"}, {"decision": "veto", "reason": "…"} or {"note": "…"}`
	for give, what := range map[string]string{
		"no\x1b[2J\n": `its answer is not JSON: it printed "no\x1b[2J"`,
		`{"note":`:    `its answer is not JSON: it printed "{\"note\":"`,
		`[1]`:         `its answer is not JSON, it is not a JSON object: it printed "[1]"`,
		`{"note": 1}`: `its answer is none that there is: it printed "{\"note\": 1}"`,
		`{"decison": "` + strings.Repeat("x", 90): `its answer is not JSON: it printed "{\"decison\": \"` + strings.Repeat("x", 47) + `"…`,
	} {
		if got := told(ReadAnswer(AgentStart, []byte(give))); got != "error "+what+want {
			t.Errorf("ReadAnswer(%q) = %s, want error %s", give, got, what+want)
		}
	}
	if got := told(ReadAnswer(AgentStart, []byte(`{"note":"`+strings.Repeat("x", maxAnswer)+`"}`))); !strings.HasPrefix(got, "error") {
		t.Errorf("a long answer is %.40s", got)
	}
}

// FuzzReadAnswer: only a text that asks for it is a veto, and only an exact
// answer lets anything go on.
func FuzzReadAnswer(f *testing.F) {
	for give := range answers() {
		f.Add([]byte(give))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := ReadAnswer(AgentStart, text)
		if (a == nil) == (err == nil) {
			t.Fatalf("ReadAnswer(%q) = %v, %v", text, a, err)
		}
		if _, goes := a.(*Proceed); goes && strings.Contains(string(text), "veto") {
			t.Errorf("ReadAnswer(%q) proceeds", text)
		}
	})
}
