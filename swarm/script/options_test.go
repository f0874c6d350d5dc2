package script

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestAgentOptions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, give string // the options
		want       string // of the request, beside its prompt
	}{
		{"none", `undefined`, ``},
		{"null", `null`, ``},
		{"empty", `{}`, ``},
		{"not given", `{label: undefined, schema: null, limits: {}}`, ``},
		{"words", `{label: 'l', phase: 'p', agent: 'codex', agentType: 'Explore', id: 'i'}`,
			`"label":"l","phase":"p","agent":"codex","agentType":"Explore","id":"i"`},
		{"isolation", `{isolation: 'worktree'}`, `"isolation":"worktree"`},
		{"shared isolation", `{isolation: 'shared'}`, `"isolation":"shared"`},
		{"a base", `{base: 'main'}`, `"base":"main"`},
		{"a patch as base", `{base: {id: 'p1', base: 'b0', files: []}}`, `"base":"p1"`},
		{"a result as base", `{base: {id: 'a1', status: 'completed', patch: {id: 'p1', base: 'b0'}}}`, `"base":"p1"`},
		{"a merge as base", `{base: {tree: 't1', applied: []}}`, `"base":"t1"`},
		{"paths", `{paths: ['a/**', 'b']}`, `"paths":["a/**","b"]`},
		{"limits", `{limits: {turns: 1, tokens: 2, usd: 0.5, ms: 3, idleMs: 4}}`,
			`"limits":{"turns":1,"tokens":2,"usd":0.5,"ms":3,"idleMs":4}`},
		{"a model", `{model: 'a/b', effort: 'low', tools: ['read', 'ls'], readOnly: true}`, `"model":"a/b","effort":"low","tools":["read","ls"],"readOnly":true`},
		{"no reader", `{readOnly: false}`, ``},
		{"grants", `{allow: ['push to feature/*']}`, `"allow":["push to feature/*"]`},
		{"functions", `{stopWhen: (s) => s.turns > 2, onTool: function (c) { return 'deny' }}`,
			`"stopWhen":"(s) => s.turns > 2","onTool":"function (c) { return 'deny' }"`},
		{"methods", `{stopWhen(s) { return true }}`, `"stopWhen":"function stopWhen(s) { return true }"`},
		{"retries", `{retries: 0, cache: false}`, `"retries":0,"cache":false`},
		{"a schema", `{schema: {type: 'object', properties: {a: {type: 'string'}}}}`,
			`"schema":{"type":"object","properties":{"a":{"type":"string"}}}`},
		{"full", `{full: true}`, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := &desk{}
			out := perform(t, d, `await agent('json:{}', `+tt.give+`)`)
			if out.Error != nil {
				t.Fatalf("Run ended with %v", out.Error)
			}
			var got, want bytesOf
			if err := json.Unmarshal([]byte(d.lines("call")[0]), &got); err != nil {
				t.Fatal(err)
			}
			text := strings.TrimSuffix(`{"prompt":"json:{}",`+tt.want, ",") + "}"
			if err := json.Unmarshal([]byte(text), &want); err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("call = %v, want %v", got, want)
			}
		})
	}
}

type bytesOf map[string]any

// refusals are calls and their error messages.
type refusals []struct{ give, want string }

func TestAgentArgumentsRefused(t *testing.T) {
	t.Parallel()
	refusals{
		{`agent()`, "agent: the prompt must be a string, not undefined"},
		{`agent(7)`, "agent: the prompt must be a string, not a number"},
		{`agent('  ')`, "agent: the prompt is empty"},
		{`agent(agent('x'))`, "agent: the prompt must be a string, not a promise (an await is missing)"},
		{`agent({label: 'x'})`, "agent: the prompt must be a string, not undefined"},
		{`agent('x', 7)`, "agent: options are a number, not an object"},
		{`agent('x', [])`, "agent: options are an array, not an object"},
		{`agent('x', () => 1)`, "agent: options are a function, not an object"},
		{`agent('x', {role: 7})`, "agent: role must be a string"},
	}.run(t)
}

func TestAgentOptionsRefused(t *testing.T) {
	t.Parallel()
	refusals{
		{`agent('x', {isolation: 'remote'})`, "agent: isolation must be 'worktree' or 'shared', not 'remote'"},
		{`agent('x', {paths: 'a'})`, "agent: paths must be a list of strings, not a string"},
		{`agent('x', {paths: []})`, "agent: paths must have from 1 to 4096 items"},
		{`agent('x', {paths: ['a', 7]})`, "agent: paths[1] must be a string that is not empty, not a number"},
		{`agent('x', {paths: ['a', , 'b']})`, "agent: paths[1] must be a string that is not empty, not undefined"},
		{`agent('x', {allow: 'push to x'})`, "agent: allow must be a list of strings, not a string"},
		{`agent('x', {allow: []})`, "agent: allow must have from 1 to 4096 items"},
		{`agent('x', {allow: ['push to x', '']})`, "agent: allow[1] must be a string that is not empty, not a string"},
		{`agent('x', {limits: 7})`, "agent: limits: options are a number, not an object"},
		{`agent('x', {limits: {turn: 7}})`, `agent: limits: unknown option "turn"; did you mean "turns"?`},
		{`agent('x', {limits: {ms: 0}})`, "agent: limits: ms must be a whole number from 1 to 1e+12, not 0"},
		{`agent('x', {limits: {turns: 1.5}})`, "agent: limits: turns must be a whole number"},
		{`agent('x', {limits: {tokens: '7'}})`, "agent: limits: tokens must be a number, not a string"},
		{`agent('x', {limits: {usd: 0}})`, "agent: limits: usd must be a number"},
		{`agent('x', {limits: {idleMs: NaN}})`, "agent: limits: idleMs must be a whole number"},
		{`agent('x', {model: 7})`, "agent: model must be a string, not a number"},
		{`agent('x', {tools: 7})`, "agent: tools must be a list of strings, not a number"},
		{`agent('x', {tools: ''})`, "agent: tools must be a list of strings, not a string"},
		{`agent('x', {disallowedTools: [7]})`, "agent: disallowedTools[0] must be a string that is not empty, not a number"},
		{`agent('x', {tools: []})`, "agent: tools must have from 1 to 4096 items"},
		{`agent('x', {readOnly: 'yes'})`, "agent: readOnly must be true or false, not a string"},
		{`agent('x', {fork: 'a7'})`, `agent: fork: there is no agent "a7"`},
		{`agent('x', {fork: 7})`, "agent: fork must be the id or the handle of an agent, not a number"},
		{`agent('x', {fork: {}})`, "agent: fork must be the id or the handle of an agent, not an object"},
		{`agent('x', {retries: 101})`, "agent: retries must be a whole number from 0 to 100, not 101"},
		{`agent('x', {retries: -1})`, "agent: retries must be"},
		{`agent('x', {cache: 'no'})`, "agent: cache must be true or false, not a string"},
		{`agent('x', {cache: new Boolean(false)})`, "agent: cache must be true or false, not an object"},
		{`agent('x', {full: 1})`, "agent: full must be true or false, not a number"},
		{`agent('x', {schema: 'x'})`, "agent: schema must be an object, a JSON Schema, not a string"},
		{`agent('x', {schema: [1]})`, "agent: schema must be an object, a JSON Schema, not an array"},
		{`agent('x', {schema: {a: () => 1}})`, "agent: schema.a is a function"},
		{`agent('x', {base: 7})`, "agent: base must be a commit, a patch or what merge() gave, not a number"},
		{`agent('x', {base: {}})`, "agent: base must be a patch, a result or an id, not an object"},
		{`agent('x', {base: {id: 'a1', status: 'completed'}})`, "agent: base is the result of an agent that changed nothing"},
		{`agent('x', {stopWhen: 'true'})`, "agent: stopWhen must be a function, not a string"},
		{`agent('x', {onTool: parallel.bind(null)})`, "agent: onTool must be a function whose text is here"},
		{`sa.run({prompt: 'x', stage: {name: 'a', roster: ['b']}})`, "run: stage: name must be one of roster"},
		{`sa.run({prompt: 'x', stage: {words: 'a'}})`, "run: stage: name must be one of roster"},
		{`sa.run({prompt: 'x', role: ['m']})`, "run: role must be a string"},
		{`agent('x', {fork: 'a1', role: 'smol'})`, "agent: a fork keeps its parent's role; drop role"},
		{`sa.run()`, "run: the prompt must be a string, not undefined"},
	}.run(t)
}

func (tests refusals) run(t *testing.T) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.give, func(t *testing.T) {
			t.Parallel()
			d := &desk{}
			out := perform(t, d, `await `+tt.give)
			if out.Error == nil || !strings.HasPrefix(out.Error.Message, tt.want) {
				t.Fatalf("Run ended with %+v, want %q", out.Error, tt.want)
			}
			if out.Error.Name != "TypeError" || out.Error.Code != CodeOption {
				t.Errorf("error = %s %s, want a TypeError option", out.Error.Name, out.Error.Code)
			}
			if got := len(d.lines("call")); got != strings.Count(tt.give, "agent('x'))") {
				t.Errorf("%d agents were started", got)
			}
		})
	}
}

func TestUnknownAgentOptionsWarn(t *testing.T) {
	t.Parallel()
	for _, form := range []Form{FormOwn, FormClaude} {
		for give, want := range map[string]string{
			`agent('x', {lable: 'x'})`:                  `agent: unknown option "lable"; did you mean "label"?`,
			`agent('x', {zzzzzz: 'x'})`:                 `agent: unknown option "zzzzzz"; it is passed over`,
			`agent('x', {timeout: 5})`:                  `agent: unknown option "timeout"; did you mean limits.ms?`,
			`agent('x', {timeoutMs: 5})`:                `agent: unknown option "timeoutMs"; did you mean limits.ms?`,
			`agent({prompt: 'x', description: 'look'})`: `agent: unknown option "description"; it is passed over`,
			`run('x', {full: true})`:                    `run: unknown option "full"; it is passed over`,
		} {
			d := &desk{}
			out := Run(t.Context(), Start{Source: Source{Name: "plan.js", Form: form, Text: "for (let i = 0; i < 3; i++) await " + give}}, d)
			if out.Error != nil {
				t.Errorf("%s ended with %v, want no error", give, out.Error)
			}
			logs := d.lines("log")
			quoted, _ := json.Marshal("warning: plan.js:1:35: " + want)
			if len(logs) != 1 || !strings.HasPrefix(logs[0], `{"text":`+strings.TrimSuffix(string(quoted), `"`)) {
				t.Errorf("%s logged %q, want one line with %s", give, logs, quoted)
			}
			if n := len(d.calls); n != 3 || d.calls[0].Label != "" {
				t.Errorf("%s started %d agents, the first %+v", give, n, d.calls)
			}
		}
	}
}

// TestBlankOptions: how scripts write that they give nothing, and numbers as
// names.
func TestBlankOptions(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		`{model: ''}`: `{"prompt":"x"}`, `{model: false}`: `{"prompt":"x"}`,
		`{isolation: false}`: `{"prompt":"x"}`, `{isolation: ''}`: `{"prompt":"x"}`,
		`{effort: ' '}`: `{"prompt":"x"}`, `{agentType: ''}`: `{"prompt":"x"}`, `{role: false}`: `{"prompt":"x"}`,
		`{schema: false}`: `{"prompt":"x"}`, `{phase: ''}`: `{"prompt":"x"}`, `{agent: null}`: `{"prompt":"x"}`,
		`{label: 7}`: `{"prompt":"x","label":"7"}`, `{label: 0}`: `{"prompt":"x","label":"0"}`,
		`{label: 1.5, phase: 2}`: `{"prompt":"x","label":"1.5","phase":"2"}`, `{id: 3}`: `{"prompt":"x","id":"3"}`,
	} {
		d := &desk{}
		out := perform(t, d, `await agent('x', `+give+`)`)
		if out.Error != nil || d.lines("call")[0] != want {
			t.Errorf("agent('x', %s) asked %q and ended with %v, want %s", give, d.lines("call"), out.Error, want)
		}
	}
}

// TestClaudeOptions: in that form nothing that only names an agent, and no option
// that Claude Code does not have, refuses a call.
func TestClaudeOptions(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		`{label: ['a', 1]}`: `{"prompt":"x","label":"[\"a\",1]","isolation":"shared"}`,
		`{label: true}`:     `{"prompt":"x","label":"true","isolation":"shared"}`,
		`'x'`:               `{"prompt":"x","isolation":"shared"}`,
		`{tools: 7, retries: -1, limits: 5, stopWhen: 'x', readOnly: 'no', full: 'x', cache: 0}`: `{"prompt":"x","isolation":"shared"}`,
		`{isolation: 'worktree', limits: {turns: 3}}`:                                            `{"prompt":"x","isolation":"worktree","limits":{"turns":3}}`,
	} {
		d := &desk{}
		out := Run(t.Context(), Start{Source: Source{Name: "plan.js", Form: FormClaude, Text: `await agent('x', ` + give + `)`}}, d)
		if out.Error != nil || len(d.calls) != 1 || d.lines("call")[0] != want {
			t.Errorf("agent('x', %s) asked %q and ended with %v, want %s", give, d.lines("call"), out.Error, want)
		}
	}
	for _, give := range []string{`{isolation: 'remote'}`, `{model: 7}`, `{schema: 'x'}`} {
		out := Run(t.Context(), Start{Source: Source{Name: "plan.js", Form: FormClaude, Text: `await agent('x', ` + give + `)`}}, &desk{})
		if out.Error == nil || out.Error.Code != CodeOption {
			t.Errorf("agent('x', %s) ended with %v, want an option error", give, out.Error)
		}
	}
}

// Only the object's own properties are options: those of its prototype are not.
func TestOptionsAreOwn(t *testing.T) {
	t.Parallel()
	d := &desk{}
	out := perform(t, d, `
		Object.prototype.label = 'everywhere';
		return agent('x', Object.create({phase: 'inherited', nope: 1}))`)
	if out.Error != nil {
		t.Fatal(out.Error)
	}
	if want := `{"prompt":"x"}`; d.lines("call")[0] != want {
		t.Errorf("call = %s, want %s", d.lines("call")[0], want)
	}
}

func TestHooksNameNoAbsentNames(t *testing.T) {
	t.Parallel()
	out := perform(t, &desk{}, `await agent('x', {stopWhen: s => s.turns > process.env.MOST})`)
	if out.Error == nil || out.Error.Code != CodeOption || !strings.Contains(out.Error.Message, "it uses process:") {
		t.Errorf("Run ended with %+v, want one that names process", out.Error)
	}
}

func TestHooksAreClosed(t *testing.T) {
	t.Parallel()
	out := perform(t, &desk{}, `const limit = 3; await agent('x', {stopWhen: s => s.turns > limit})`)
	if out.Error == nil || out.Error.Code != CodeOption || !strings.Contains(out.Error.Message, "limit") {
		t.Errorf("Run ended with %+v, want one that names limit", out.Error)
	}
}

func TestFunctionsAreTakenAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		"(c) => c.turns > 3":                 "(c) => c.turns > 3",
		"(c) => (c.turns > 3 ? 'a' : 'b'":    "(c) => (c.turns > 3 ? 'a' : 'b')",
		"(c) => ((c.turns > 3":               "(c) => ((c.turns > 3))",
		"function (c) { return c.turns }":    "function (c) { return c.turns }",
		"stopWhen(c) { return c.turns > 3 }": "function stopWhen(c) { return c.turns > 3 }",
	} {
		if got := asExpression(give); got != want {
			t.Errorf("asExpression(%q) = %q, want %q", give, got, want)
		}
	}
	for _, text := range []string{
		`return agent('p', { stopWhen: (s) => (s.turns > 3) })`,
		`return agent('p', { onTool: (c) => ((c.id ? 'deny' : 'allow')) })`,
		`return agent('p', { onTool(c) { return 'deny' } })`,
	} {
		if _, err := Load(Source{Name: "s.js", Text: text}); err != nil {
			t.Fatal(err)
		}
		asked := map[string]bool{}
		Run(t.Context(), Start{Source: Source{Name: "s.js", Text: text}}, refuser(func(r Request) {
			if c, ok := r.(*Call); ok {
				asked[c.StopWhen+c.OnTool] = true
			}
		}))
		if len(asked) != 1 {
			t.Errorf("%s made no call", text)
		}
	}
}

// refuser answers nothing, and sees the requests.
type refuser func(Request)

func (r refuser) Do(_ context.Context, q Request) (json.RawMessage, error) {
	r(q)
	return nil, &Error{Name: "Error", Message: "refused"}
}

func (r refuser) Post(int, Request) error { return nil }

func (r refuser) Next(context.Context) (Delivery, error) { return Delivery{}, context.Canceled }

// TestFork names the parent in each of the ways there are.
func TestFork(t *testing.T) {
	t.Parallel()
	for _, way := range []string{
		"const p = agent('json:{}'); await p; return agent('next', {fork: p})",
		"const p = agent('json:{}'); await p; return agent('next', {fork: p.id})",
		"const h = await run('json:{}'); await join(h); return agent('next', {fork: h})",
		"const r = await agent('json:{}', {full: true}); return agent({prompt: 'next', fork: r})",
	} {
		d := &desk{}
		if out := perform(t, d, way); out.Error != nil {
			t.Fatalf("%s ended with %v", way, out.Error)
		}
		if calls := d.lines("call"); len(calls) != 2 || calls[1] != `{"prompt":"next","fork":"a1"}` {
			t.Errorf("%s called %s, want a fork of a1", way, calls)
		}
	}
	for give, want := range map[string]string{
		"return agent('next', {fork: agent('json:{}')})":                                                  "agent: fork: a1 has not ended; wait for it first",
		"const r = await agent('fail:other', {full: true}); return agent('next', {fork: r})":              "agent: fork: a1 is failed; only a completed conversation can be continued",
		"const r = await agent('json:{}', {full: true}); return agent('x', {fork: r, agentType: 'Plan'})": "agent: a fork goes on with the prompt that its parent began with; drop agentType",
	} {
		out := perform(t, &desk{}, give)
		if out.Error == nil || out.Error.Code != CodeOption || out.Error.Message != want {
			t.Errorf("%s ended with %v, want %s", give, out.Error, want)
		}
	}
}
