package roles

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"
)

func spec(t *testing.T, text string) (s Spec) {
	t.Helper()
	if err := s.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return s
}

// orders are those of a run in which everything is said.
func orders(t *testing.T) *Orders {
	t.Helper()
	return &Orders{
		Table: Table{
			Default: {Spec: spec(t, "p/default"), Fallbacks: []Spec{spec(t, "p/next")}},
			Smol:    {Spec: spec(t, "p/smol:low"), Limits: Limits{Turns: 3}},
			Slow:    {Spec: spec(t, "p/slow")},
			Plan:    {Spec: spec(t, "p/plan")},
			"judge": {Spec: spec(t, "p/judge"), Kind: "codex"},
			"cheap": {Limits: Limits{USD: 1}},
		},
		Role: "judge", Model: spec(t, "p/flag"), Route: true, Phases: []string{"Explore", "Build", "1. find: it"},
		Models: map[string]Spec{"planner": spec(t, "p/stage"), "scout": spec(t, "p/type"), "judge": spec(t, "p/role")},
	}
}

// TestPrecedence removes the sources of a model in turn: call, type, flags from
// the narrowest on, role, the agent's own, default.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	o := orders(t)
	asked := Asked{Model: spec(t, "p/call"), Type: "scout", TypeModel: spec(t, "p/inner"), Stage: "planner", Own: spec(t, "p/own")}
	for _, step := range []struct {
		want, from string
		remove     func()
	}{
		{"p/call", "call", func() { asked.Model = Spec{} }},
		{"p/inner", "type scout", func() { asked.TypeModel = Spec{} }},
		{"p/stage", "--agent-model of the stage planner", func() { asked.Stage = "" }},
		{"p/type", "--agent-model of the type scout", func() { asked.Type = "" }},
		{"p/role", "--agent-model of the role judge", func() { delete(o.Models, "judge") }},
		{"p/flag", "--model", func() { o.Model = Spec{} }},
		{"p/judge", "role judge", func() { o.Role = "" }},
		{"p/own", "the agent's own", func() { asked.Own = Spec{} }},
		{"p/default", "role default", func() { o.Table = nil }},
		{"", "", func() {}},
	} {
		r, err := o.Resolve(asked)
		if err != nil {
			t.Fatal(err)
		}
		from := ""
		for _, s := range r.Steps {
			if s.Holds {
				from = s.From
			}
		}
		if r.Model.String() != step.want || from != step.from {
			t.Errorf("Resolve = %s by %q, want %s by %q", r.Model, from, step.want, step.from)
		}
		step.remove()
	}
}

// TestRoleNames: the role of the call, then of its type, then of the flag.
func TestRoleNames(t *testing.T) {
	t.Parallel()
	o := orders(t)
	o.Model, o.Models = Spec{}, nil
	for _, tt := range []struct {
		asked      Asked
		role, want string
	}{
		{Asked{Role: Smol, TypeRole: Slow}, Smol, "p/smol:low"},
		{Asked{TypeRole: Slow}, Slow, "p/slow"},
		{Asked{}, "judge", "p/judge"},
		{Asked{Role: Default}, "", "p/default"},
		{Asked{Role: Commit}, Commit, "p/default"},
		{Asked{Role: "cheap"}, "cheap", "p/default"}, // it bounds only
		{Asked{Role: Commit, Own: spec(t, "own")}, Commit, "p/default"},
	} {
		r, err := o.Resolve(tt.asked)
		if err != nil || r.Role != tt.role || r.Model.String() != tt.want || r.Routed != "" {
			t.Errorf("Resolve(%+v) = %+v, %v, want %s for %q", tt.asked, r, err, tt.want, tt.role)
		}
	}
	_, err := o.Resolve(Asked{Role: "jugde"})
	if unknown, ok := errors.AsType[*UnknownError](err); !ok || unknown.Name != "jugde" || len(unknown.Known) != 7 {
		t.Errorf("Resolve of a role that there is none of: %v", err)
	}
}

// TestRoute: the declared kind of a call decides, and a model that somebody
// chose does not change.
func TestRoute(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*Orders)
		asked  Asked
		want   string
	}{
		{"it reads only", nil, Asked{Reads: true}, Smol},
		{"a phase that was announced", nil, Asked{Phase: "Explore"}, Smol},
		{"its first word", nil, Asked{Phase: "1. find: it"}, Smol},
		{"another phase", nil, Asked{Phase: "Build"}, ""},
		{"a phase that nobody announced", nil, Asked{Phase: "Search"}, ""},
		{"a type that plans", nil, Asked{Type: "Plan", Reads: true}, Plan},
		{"a stage that plans", nil, Asked{Stage: "planner", Reads: true}, Plan},
		{"a stage that reads", nil, Asked{Stage: "reviewer", Reads: true}, ""},
		{"nothing", nil, Asked{}, ""},
		{"a model of its own", nil, Asked{Reads: true, Model: spec(t, "m")}, ""},
		{"a model of its type", nil, Asked{Reads: true, TypeModel: spec(t, "m")}, ""},
		{"a flag", func(o *Orders) { o.Model = spec(t, "m") }, Asked{Reads: true}, ""},
		{"off", func(o *Orders) { o.Route = false }, Asked{Reads: true}, ""},
		{"nowhere to go", func(o *Orders) { delete(o.Table, Smol) }, Asked{Reads: true}, ""},
		{"for another agent", func(o *Orders) { o.Table[Smol] = Role{Spec: spec(t, "p/s"), Kind: "pi"} }, Asked{Reads: true, Agent: "codex"}, ""},
		{"for its agent", func(o *Orders) { o.Table[Smol] = Role{Spec: spec(t, "p/s"), Kind: "pi"} }, Asked{Reads: true, Agent: "pi"}, Smol},
	} {
		o := orders(t)
		o.Role, o.Model, o.Models = "", Spec{}, nil
		if tt.change != nil {
			tt.change(o)
		}
		r, err := o.Resolve(tt.asked)
		if err != nil || r.Role != tt.want || (r.Routed != "") != (tt.want != "") {
			t.Errorf("%s: Resolve = %+v, %v, want the role %q", tt.name, r, err, tt.want)
		}
	}
}

// TestRules: calls are routed as the start of a run announces.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*Orders)
		want   []string
	}{
		{"all that is configured", func(*Orders) {}, []string{Plan, Smol}},
		{"less", func(o *Orders) { delete(o.Table, Plan) }, []string{Smol}},
		{"off", func(o *Orders) { o.Route = false }, nil},
		{"one model for all", func(o *Orders) { o.Model = spec(t, "m") }, nil},
		{"one role for all", func(o *Orders) { o.Role = "judge" }, nil},
		{"the default role for all", func(o *Orders) { o.Role = Default }, nil},
	} {
		o := orders(t)
		o.Role, o.Model, o.Models = "", Spec{}, nil
		tt.change(o)
		var got []string
		for _, rule := range o.Rules() {
			got = append(got, rule.Role)
		}
		if !slices.Equal(got, tt.want) || o.Routes() != (tt.want != nil) {
			t.Errorf("%s: Rules = %q and Routes = %t, want %q", tt.name, got, o.Routes(), tt.want)
		}
		r, err := o.Resolve(Asked{Reads: true})
		if err != nil || (r.Routed != "") != (tt.want != nil) || (r.Slow != Spec{}) != (tt.want != nil) {
			t.Errorf("%s: Resolve = %+v, %v, and the rules are %q", tt.name, r, err, tt.want)
		}
	}
}

// TestThorough: an unchosen model gives way to another after two failures.
// Fallbacks stay with the model that they replace.
func TestThorough(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		change    func(*Orders, *Asked)
		slow      string
		fallbacks int
	}{
		{"by default", func(*Orders, *Asked) {}, "p/slow", 1},
		{"routed", func(_ *Orders, a *Asked) { a.Reads = true }, "p/slow", 0},
		{"a route for another agent", func(o *Orders, a *Asked) {
			o.Table[Smol] = Role{Spec: spec(t, "q/small"), Kind: "qwen"}
			a.Reads, a.Agent = true, "pi"
		}, "p/slow", 1},
		{"a route that is not to be taken", func(_ *Orders, a *Asked) { a.Reads, a.Stays = true, true }, "p/slow", 1},
		{"a role by its name", func(_ *Orders, a *Asked) { a.Role = Smol }, "", 0},
		{"the default role by its name", func(_ *Orders, a *Asked) { a.Role = Default }, "", 1},
		{"a model by its name", func(_ *Orders, a *Asked) { a.Model = spec(t, "m") }, "", 0},
		{"a flag", func(o *Orders, _ *Asked) { o.Model = spec(t, "m") }, "", 0},
		{"off", func(o *Orders, _ *Asked) { o.Route = false }, "", 1},
		{"the same already", func(o *Orders, _ *Asked) { o.Table[Default] = o.Table[Slow] }, "", 0},
		{"another agent's", func(o *Orders, _ *Asked) { o.Table[Slow] = Role{Spec: spec(t, "p/slow"), Kind: "pi"} }, "", 1},
		{"that of the agent that was named", func(o *Orders, a *Asked) {
			o.Table[Slow], a.Agent = Role{Spec: spec(t, "p/slow"), Kind: "pi"}, "pi"
		}, "p/slow", 1},
		{"that of the agent of its role", func(o *Orders, _ *Asked) {
			o.Table[Slow], o.Table[Default] = Role{Spec: spec(t, "p/slow"), Kind: "pi"}, Role{Spec: spec(t, "p/default"), Kind: "pi"}
		}, "p/slow", 0},
	} {
		o, a := orders(t), Asked{}
		o.Role, o.Model, o.Models = "", Spec{}, nil
		tt.change(o, &a)
		r, err := o.Resolve(a)
		if err != nil || r.Slow.String() != tt.slow || len(r.Fallbacks) != tt.fallbacks {
			t.Errorf("%s: Resolve = %+v, %v, want %q and %d fallbacks", tt.name, r, err, tt.slow, tt.fallbacks)
		}
	}
}

func TestUnused(t *testing.T) {
	t.Parallel()
	o := orders(t)
	if got := o.Unused(nil); !reflect.DeepEqual(got, []string{"judge", "planner", "scout", NamedModel, NamedRole}) {
		t.Errorf("Unused = %q", got)
	}
	r, err := o.Resolve(Asked{Stage: "planner"})
	if err != nil {
		t.Fatal(err)
	}
	if got := o.Unused(r.Used); !reflect.DeepEqual(got, []string{"judge", "scout", NamedModel}) {
		t.Errorf("Unused = %q where the stage and the role were used", got)
	}
}

// TestRecorded: a continued run resolves calls as before.
func TestRecorded(t *testing.T) {
	t.Parallel()
	o := orders(t)
	text, err := json.Marshal(o)
	var again Orders
	if err == nil {
		err = json.Unmarshal(text, &again)
	}
	if err != nil || !reflect.DeepEqual(&again, o) {
		t.Errorf("%s reads as %+v, %v, want %+v", text, again, err, o)
	}
	if text, err = json.Marshal(&Orders{}); err != nil || string(text) != "{}" {
		t.Errorf("orders that say nothing are %s, %v", text, err)
	}
}

func FuzzParseSpec(f *testing.F) {
	for _, seed := range []string{"openai/gpt-5:high", "a/b/c:70b", ":low", "a/:high", "/", "x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSpec(text)
		if err != nil {
			return
		}
		if s.Model == "" || s.String() != text {
			t.Errorf("ParseSpec(%q) = %+v, which is written %q", text, s, s.String())
		}
	})
}

// TestFallbacksAreOthers: an unavailable model is not the next to try.
func TestFallbacksAreOthers(t *testing.T) {
	t.Parallel()
	a, b := Spec{Provider: "p", Model: "a"}, Spec{Provider: "p", Model: "b"}
	low := Spec{Provider: "p", Model: "a", Effort: "low"}
	o := &Orders{Table: Table{Default: {Spec: a, Fallbacks: []Spec{a, b, a, low, b}}}}
	r, err := o.Resolve(Asked{})
	if err != nil || !slices.Equal(r.Fallbacks, []Spec{b, low}) {
		t.Errorf("Resolve falls back on %v, %v, want %v", r.Fallbacks, err, []Spec{b, low})
	}
}

// TestSubjects: only a model that somebody chose is asked for subjects.
func TestSubjects(t *testing.T) {
	t.Parallel()
	commit := Table{Commit: {Kind: "pi"}}
	for _, tt := range []struct {
		name string
		give Orders
		want bool
	}{
		{"nothing", Orders{Route: true}, false},
		{"another role", Orders{Route: true, Table: Table{Default: {}}, Models: map[string]Spec{Smol: {Model: "m"}}}, false},
		{"the role", Orders{Route: true, Table: commit}, true},
		{"a flag", Orders{Route: true, Models: map[string]Spec{Commit: {Model: "m"}}}, true},
		{"not routed", Orders{Table: commit, Models: map[string]Spec{Commit: {Model: "m"}}}, false},
	} {
		if got := tt.give.Subjects(); got != tt.want {
			t.Errorf("%s: Subjects() = %t, want %t", tt.name, got, tt.want)
		}
	}
}

// TestNaming: the model of all calls names commits only where nothing says who
// does.
func TestNaming(t *testing.T) {
	t.Parallel()
	flag := map[string]Spec{Commit: spec(t, "p/flag")}
	for _, tt := range []struct {
		name   string
		role   Role
		models map[string]Spec
		want   string
	}{
		{"a model", Role{Spec: spec(t, "p/small")}, nil, "p/small"},
		{"an agent", Role{Kind: "codex"}, nil, ""},
		{"only limits", Role{Limits: Limits{USD: 1}}, nil, "p/large"},
		{"a flag beside a model", Role{Spec: spec(t, "p/small")}, flag, "p/flag"},
		{"a flag beside limits", Role{Limits: Limits{USD: 1}}, flag, "p/flag"},
	} {
		o := &Orders{Table: Table{Commit: tt.role}, Models: tt.models, Model: spec(t, "p/large"), Role: Slow}
		r, err := o.Naming().Resolve(Asked{Role: Commit})
		if err != nil || r.Model.String() != tt.want || r.Kind != tt.role.Kind {
			t.Errorf("%s: Resolve = %+v, %v, want %q", tt.name, r, err, tt.want)
		}
		if o.Model.String() != "p/large" {
			t.Errorf("%s: the orders of the run are %+v", tt.name, o)
		}
	}
}

// TestBoundingRole: a role with limits only has the model of default. This does
// not hold if either is for an agent of its own, which may not know the other's
// models.
func TestBoundingRole(t *testing.T) {
	t.Parallel()
	limits, model := Limits{USD: 1}, spec(t, "p/default")
	for _, tt := range []struct {
		name        string
		role, usual Role
		want        string
	}{
		{"neither", Role{Limits: limits}, Role{Spec: model}, "p/default"},
		{"the role", Role{Limits: limits, Kind: "codex"}, Role{Spec: model}, ""},
		{"default", Role{Limits: limits}, Role{Spec: model, Kind: "codex"}, ""},
		{"a model of its own", Role{Spec: spec(t, "p/own"), Kind: "codex"}, Role{Spec: model}, "p/own"},
	} {
		o := &Orders{Table: Table{Default: tt.usual, "judge": tt.role}}
		r, err := o.Resolve(Asked{Role: "judge"})
		if err != nil || r.Model.String() != tt.want || r.Kind != tt.role.Kind || r.Limits != tt.role.Limits {
			t.Errorf("%s is for an agent: Resolve = %+v, %v, want %q", tt.name, r, err, tt.want)
		}
	}
}

// TestKindOfDefault: a call that names an agent does not use the default role
// of another agent. A call that names a role uses its model with any agent.
func TestKindOfDefault(t *testing.T) {
	t.Parallel()
	o := &Orders{Table: Table{
		Default: {Spec: spec(t, "openai/gpt-5"), Kind: "codex", Limits: Limits{Turns: 3}},
		"judge": {Spec: spec(t, "openai/gpt-5-pro"), Kind: "codex"},
	}}
	for _, tt := range []struct {
		name  string
		asked Asked
		want  string
		turns int
	}{
		{"no agent is named", Asked{}, "openai/gpt-5", 3},
		{"its own is", Asked{Agent: "codex"}, "openai/gpt-5", 3},
		{"another is", Asked{Agent: "claude"}, "", 0},
		{"another is, with a role that nothing says anything of", Asked{Agent: "claude", Role: Commit}, "", 0},
		{"another is, with a role by its name", Asked{Agent: "claude", Role: "judge"}, "openai/gpt-5-pro", 0},
	} {
		r, err := o.Resolve(tt.asked)
		if err != nil || r.Model.String() != tt.want || r.Limits.Turns != tt.turns {
			t.Errorf("%s: Resolve = %+v, %v, want %q and %d turns", tt.name, r, err, tt.want, tt.turns)
		}
	}
}
