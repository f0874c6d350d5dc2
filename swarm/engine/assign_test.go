package engine

import (
	"cmp"
	"reflect"
	"strings"
	"testing"
	"time"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/task"
)

// assignable is a run with agents of kinds that are told models in each way.
func assignable() (Config, map[string]agent.Kind) {
	jsonl := agent.Spec{Format: agent.FormatJSONL}
	c := Config{Agents: map[string]*agent.Spec{}, Roles: &roles.Orders{Table: roles.Table{}, Route: true, Providers: []string{"mine"}}}
	for name, kind := range map[string]string{
		"open": "pi", "bare": "codex", "whole": "builtin", "cat": agent.KindCommand, "talks": agent.KindCommand, "own": "codex",
	} {
		spec := jsonl
		spec.Name, spec.Kind = name, kind
		c.Agents[name] = &spec
	}
	c.Agents["cat"].Format = agent.FormatText
	c.Agents["own"].Model = "openai/raw"
	return c, map[string]agent.Kind{
		"pi":      {Name: "pi"},
		"codex":   {Name: "codex", Providers: []string{"openai"}, Bare: true},
		"builtin": {Name: "builtin", Providers: []string{"anthropic", "openai"}},
	}
}

func parsed(text string) roles.Spec {
	s, err := roles.ParseSpec(text)
	if err != nil {
		panic(err)
	}
	return s
}

// TestAssign checks that each kind gets a model in its own form, and that an
// unreachable model is refused by its name.
func TestAssign(t *testing.T) {
	t.Parallel()
	limits := roles.Limits{Timeout: time.Minute, Turns: 3, Tokens: 5, USD: 1}
	for _, tt := range []struct {
		name, agent, role string
		table             roles.Role
		model             string // of the call
		want              string // agent model effort, or the error
	}{
		{"with its provider", "open", "r", roles.Role{Spec: parsed("any/x/y:low")}, "", "open any/x/y low"},
		{"without it", "bare", "r", roles.Role{Spec: parsed("openai/x:low")}, "", "bare x low"},
		{"as it is", "bare", "r", roles.Role{Spec: parsed("x")}, "", "bare x "},
		{"of a call", "bare", "", roles.Role{}, "openai/a/b", "bare a/b "},
		{"a provider of the user", "whole", "r", roles.Role{Spec: parsed("mine/x")}, "", "whole mine/x "},
		{"the role's agent", "open", "r", roles.Role{Spec: parsed("openai/x"), Kind: "bare"}, "", "bare x "},
		{"the agent's own", "own", "", roles.Role{}, "", "own  "},
		{"over the agent's own", "own", "r", roles.Role{Spec: parsed("openai/raw")}, "", "own raw "},
		{"a command", "cat", "r", roles.Role{Spec: parsed("a/b")}, "", "cat  "},
		{"a command that was asked", "cat", "", roles.Role{}, "a/b", "cat a/b "}, // which CheckCall refuses
		{"a fallback", "bare", "r", roles.Role{Spec: parsed("openai/x"), Fallbacks: []roles.Spec{parsed("google/y")}}, "",
			`fallback of role r: model google/y: agents of the kind codex do not reach "google", only openai`},
		{"not reached", "bare", "r", roles.Role{Spec: parsed("anthropic/x")}, "", `model anthropic/x: agents of the kind codex do not reach "anthropic", only openai`},
		{"mistyped", "whole", "r", roles.Role{Spec: parsed("opnai/x")}, "", `model opnai/x: agents of the kind builtin do not reach "opnai"; did you mean "openai"?`},
		{"not here", "open", "r", roles.Role{Kind: "gone"}, "", `role r: its agent "gone" cannot be started here`},
		{"no role", "open", "s", roles.Role{}, "", `there is no role "s"`},
		{"no model", "open", "", roles.Role{}, "x/", `model "x/": want provider/model or provider/model:effort`},
	} {
		c, kinds := assignable()
		tt.table.Limits = limits
		c.Roles.Table["r"] = tt.table
		call := &task.Call{Input: &task.TypedAgentInput{Prompt: "p", Role: tt.role}, Agent: tt.agent, Options: task.Options{Model: tt.model}}
		_, err := Assign(c, kinds, AssignRequest{Call: call})
		got := strings.Join([]string{call.Agent, call.Model, call.Effort}, " ")
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if err != nil || tt.role == "" {
			continue
		}
		bounds := roles.Limits{Timeout: call.Timeout, Turns: call.Limits.Turns, Tokens: call.Limits.Tokens, USD: call.Limits.USD}
		want := limits
		if call.Agent == "cat" {
			want = roles.Limits{Timeout: time.Minute} // it does not report its usage
		}
		if bounds != want {
			t.Errorf("%s: limits %+v, want %+v", tt.name, bounds, want)
		}
	}
}

// TestAssignKeeps checks that Assign keeps the choice of the call itself, and
// leaves calls without a model and runs without roles as they are.
func TestAssignKeeps(t *testing.T) {
	t.Parallel()
	c, kinds := assignable()
	c.Roles.Table = roles.Table{
		roles.Default: {Spec: parsed("openai/d:low"), Kind: "bare", Limits: roles.Limits{Turns: 9}},
		roles.Smol:    {Spec: parsed("anthropic/s")},
		roles.Slow:    {Spec: parsed("openai/slow:high")},
	}
	fork := &task.Call{Input: &task.ForkAgentInput{Parent: "a1", Prompt: "p"}, Agent: "open"}
	command := &task.Call{Input: &task.TypedAgentInput{}, Command: []string{"x"}}
	for _, call := range []*task.Call{fork, command} {
		before := *call
		if found, err := Assign(c, kinds, AssignRequest{Call: call}); found != nil || err != nil || !reflect.DeepEqual(*call, before) {
			t.Errorf("Assign(%+v) = %+v, %v", before, found, err)
		}
	}
	call := &task.Call{
		Input: &task.TypedAgentInput{Prompt: "p", Role: roles.Default}, Agent: "bare",
		Options: task.Options{Effort: "high"}, Limits: task.Limits{Turns: 2},
	}
	if _, err := Assign(c, kinds, AssignRequest{Call: call}); err != nil {
		t.Fatal(err)
	}
	if call.Model != "d" || call.Effort != "high" || call.Limits.Turns != 2 || call.Input.(*task.TypedAgentInput).Role != "" {
		t.Errorf("a call that says more is %+v", call)
	}
	// Another agent was named, so that the default role is not for it.
	call = &task.Call{Input: &task.TypedAgentInput{Prompt: "p"}, Agent: "open"}
	if _, err := Assign(c, kinds, AssignRequest{Call: call, Named: true}); err != nil || call.Agent != "open" || call.Model != "" {
		t.Errorf("a call whose agent was named is %+v, %v", call, err)
	}
	// The route to smol was not requested, and its agent cannot use smol.
	call = &task.Call{Input: &task.TypedAgentInput{Prompt: "p"}, Agent: "bare", Options: task.Options{ReadOnly: true}}
	found, err := Assign(c, kinds, AssignRequest{Call: call})
	if err != nil || found.Routed != "" || call.Model != "d" {
		t.Errorf("a call that cannot be routed is %+v, %+v, %v", call, found, err)
	}
	call = &task.Call{Input: &task.TypedAgentInput{Prompt: "p"}, Agent: "bare"}
	if _, err := Assign(c, kinds, AssignRequest{Call: call}); err != nil || call.Slow == nil || *call.Slow != (task.Choice{Model: "slow", Effort: "high"}) {
		t.Errorf("what comes after two failures is %+v, %v", call.Slow, err)
	}
	c.Roles = nil
	call = &task.Call{Input: &task.TypedAgentInput{Prompt: "p", Role: "any"}, Agent: "bare", Options: task.Options{ReadOnly: true}}
	if found, err := Assign(c, kinds, AssignRequest{Call: call}); found != nil || err != nil || call.Model != "" {
		t.Errorf("a run without roles: %+v, %+v, %v", call, found, err)
	}
}

// TestAssignFork: a fork has the limits of the role that its conversation began
// with, under its own, and its model unless it names another, which its agent is
// told as any.
func TestAssignFork(t *testing.T) {
	t.Parallel()
	role := roles.Limits{Timeout: time.Minute, Turns: 3, Tokens: 5, USD: 1}
	for _, tt := range []struct {
		name, agent string
		own         task.Choice
		want        string // model effort, or the error
	}{
		{"nothing of its own", "bare", task.Choice{}, "was low"},
		{"another model", "bare", task.Choice{Model: "openai/x:high"}, "x high"},
		{"another model and effort", "bare", task.Choice{Model: "openai/x:high", Effort: "max"}, "x max"},
		{"without an effort", "whole", task.Choice{Model: "mine/x"}, "mine/x low"},
		{"not reached", "bare", task.Choice{Model: "anthropic/x"}, `model anthropic/x: agents of the kind codex do not reach "anthropic", only openai`},
		{"no model", "bare", task.Choice{Model: "x/"}, `model "x/": want provider/model or provider/model:effort`},
		{"a command", "cat", task.Choice{Model: "openai/x"}, "openai/x low"}, // which CheckCall refuses
	} {
		c, kinds := assignable()
		call := &task.Call{
			Input: &task.ForkAgentInput{Parent: "a1", Prompt: "p"}, Agent: tt.agent, Limits: task.Limits{Turns: 2},
			Options: task.Options{Model: cmp.Or(tt.own.Model, "was"), Effort: cmp.Or(tt.own.Effort, "low")},
		}
		found, err := Assign(c, kinds, AssignRequest{Call: call, Fork: &Fork{Own: tt.own, Limits: role}})
		got := call.Model + " " + call.Effort
		if err != nil {
			got = err.Error()
		}
		if got != tt.want || found != nil {
			t.Errorf("%s: %q, %+v, want %q", tt.name, got, found, tt.want)
		}
		if want := (task.Limits{Turns: 2, Tokens: 5, USD: 1}); call.Timeout != time.Minute || call.Limits != want {
			t.Errorf("%s: %v, %+v, want a minute, %+v", tt.name, call.Timeout, call.Limits, want)
		}
	}
}

// TestAssignNamed checks that an agent named by the user stays, for a single
// call or for all calls. A command gets the model that a flag asks for, so that
// it is refused. No choice of an earlier model is left.
func TestAssignNamed(t *testing.T) {
	t.Parallel()
	c, kinds := assignable()
	c.Roles.Table["r"] = roles.Role{Spec: parsed("openai/x"), Kind: "bare"}
	ask := func(agent string) *task.Call {
		return &task.Call{
			Input: &task.TypedAgentInput{Prompt: "p", Role: "r"}, Agent: agent,
			Fallbacks: []task.Choice{{Model: "old"}}, Slow: &task.Choice{Model: "old"},
		}
	}
	for _, tt := range []struct {
		name  string
		named bool
		all   string // the agent that was named for all calls
		want  string
	}{
		{"nobody named one", false, "", "bare x"}, {"one is named", true, "", "open openai/x"}, {"one is for all", false, "open", "open openai/x"},
	} {
		c.Roles.Agent = tt.all
		call := ask("open")
		_, err := Assign(c, kinds, AssignRequest{Call: call, Named: tt.named})
		if got := call.Agent + " " + call.Model; err != nil || got != tt.want || call.Fallbacks != nil || call.Slow != nil {
			t.Errorf("%s: %+v, %v, want %s and nothing of before", tt.name, call, err, tt.want)
		}
	}
	c.Roles.Agent, c.Roles.Model = "", parsed("openai/flag")
	call := &task.Call{Input: &task.TypedAgentInput{Prompt: "p"}, Agent: "cat"}
	if _, err := Assign(c, kinds, AssignRequest{Call: call}); err != nil || call.Model != "openai/flag" {
		t.Errorf("a command that a flag gives a model is %+v, %v", call, err)
	}
}
