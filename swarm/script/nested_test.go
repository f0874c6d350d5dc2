package script

import (
	"encoding/json"
	"strings"
	"testing"
)

// workflows are the workflows that others call, by name.
func workflows() map[string]string {
	return map[string]string{
		"plan.js":   "",
		"twice.js":  "export const meta = {name: 'twice', description: 'd'}\nreturn [await agent(args.what), await agent(args.what)]",
		"args.js":   "await agent('x'); args.changed = true; return args",
		"none.js":   "return typeof args",
		"deeper.js": "return await workflow('twice.js', {what: 'deep'})",
		"self.js":   "return await workflow('self.js')",
		"ping.js":   "return await workflow('pong.js')",
		"pong.js":   "return await workflow('ping.js')",
		"bad.js":    "return (",
		"throws.js": "await agent('x')\n  throw new RangeError('inside')",
		"fails.js":  "phase('inner'); return await agent('fail:killed x')",
		"race.js":   "return await race([() => agent('a @50'), () => agent('b')])",
		"lost.js":   "await agent('a @90'); return await agent('b')",
		"full.js":   "return await agent('change', {full: true})",
	}
}

func TestWorkflow(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, give string
		depth      int
		want       string
		error      string
	}{
		{name: "by name", give: `return await workflow('twice.js', {what: 'x'})`, want: `["did x","did x"]`},
		{name: "by path", give: `return await workflow({scriptPath: 'twice.js'}, {what: 'x'})`, want: `["did x","did x"]`},
		{name: "its own args", give: `const mine = {a: 1}; const r = await workflow('args.js', mine); return [r, mine, args]`,
			want: `[{"a":1,"changed":true},{"a":1},{"outer":true}]`},
		{name: "args after an await are those of the caller", give: `const p = workflow('args.js', {a: 1}); const before = args; await null; const r = [before, args]; await p; return [...r, args]`,
			want: `[{"outer":true},{"outer":true},{"outer":true}]`},
		{name: "no args", give: `return await workflow('none.js')`, want: `"undefined"`},
		{name: "side by side", give: `return await parallel([() => workflow('args.js', {n: 1}), () => workflow('args.js', {n: 2})])`,
			want: `[{"n":1,"changed":true},{"n":2,"changed":true}]`},
		{name: "deeper", give: `return await workflow('deeper.js')`, error: `limit Error: workflow: workflows nest one level deep`},
		{name: "deeper where it may", give: `return await workflow('deeper.js')`, depth: 2, want: `["did deep","did deep"]`},
		{name: "one after the other", give: `await workflow('none.js'); return await workflow('none.js')`, want: `"undefined"`},
		{name: "itself", give: `return await workflow('self.js')`, depth: 8, error: `limit Error: workflow: self.js would call itself`},
		{name: "itself by another", give: `return await workflow('ping.js')`, depth: 8, error: `limit Error: workflow: ping.js would call itself`},
		{name: "the script itself", give: `return await workflow({scriptPath: 'plan.js'})`, error: `limit Error: workflow: plan.js would call itself`},
		{name: "unknown", give: `return await workflow('nope')`, error: `unknown Error: there is no workflow nope`},
		{name: "no script", give: `return await workflow('bad.js')`, error: `syntax SyntaxError`},
		{name: "a cap is not a null", give: `return await parallel([() => workflow('deeper.js')])`, error: `limit Error`},
		{name: "failures are shared", give: `await workflow('fails.js'); return failures()`, want: `[{"id":"a1","phase":"inner","kind":"killed","message":"x"}]`},
		{name: "a race inside", give: `return [await workflow('race.js'), sa.list().map(a => a.status)]`, want: `["did b",["cancelled","completed"]]`},
		{name: "a race around", give: `return [await race([() => workflow('lost.js'), () => agent('c @20')]), sa.list().map(a => a.status)]`,
			want: `["did c @20",["cancelled","completed"]]`},
		{name: "what it gives is as it was", give: `return (await workflow('full.js')).patch.text()`, want: `"diff of pa1\n"`},
		{name: "nothing", give: `await workflow()`, error: `option TypeError: workflow: the name must be a string`},
		{name: "an object of nothing", give: `await workflow({})`, error: `option TypeError: workflow: wants a name or {scriptPath}`},
		{name: "an unknown key", give: `await workflow({scriptpath: 'x'})`, error: `did you mean "scriptPath"?`},
		{name: "args that are no JSON", give: `await workflow('none.js', {a: () => 1})`, error: `option TypeError: workflow: args.a is a function`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := &desk{texts: workflows()}
			out := Run(t.Context(), Start{
				Source: Source{Name: "plan.js", Text: tt.give}, Args: json.RawMessage(`{"outer":true}`), Depth: tt.depth,
			}, d)
			if tt.error != "" {
				if out.Error == nil || !strings.Contains(string(out.Error.Code)+" "+out.Error.Name+": "+out.Error.Message, tt.error) {
					t.Errorf("Run ended with %s and %+v, want %q", out.Value, out.Error, tt.error)
				}
				return
			}
			if out.Error != nil || string(out.Value) != tt.want {
				t.Errorf("Run gave %s and %v, want %s", out.Value, out.Error, tt.want)
			}
		})
	}
}

func TestWorkflowErrorIsPlaced(t *testing.T) {
	t.Parallel()
	d := &desk{texts: map[string]string{"throws.js": "await agent('x')\n  throw new RangeError('inside')"}}
	out := perform(t, d, `return await workflow('throws.js')`)
	want := Error{Name: "RangeError", Message: "inside", Where: "throws.js:2:9", Line: "  throw new RangeError('inside')"}
	if out.Error == nil || *out.Error != want {
		t.Errorf("Run ended with %+v, want %+v", out.Error, want)
	}
}

func TestWorkflowIsAskedForByItsCaller(t *testing.T) {
	t.Parallel()
	d := &desk{texts: map[string]string{"in.js": "await null; return await workflow({scriptPath: 'far.js'})", "far.js": "return 1"}}
	out := Run(t.Context(), Start{Source: Source{Name: "plan.js", Text: `return await workflow('in.js')`}, Depth: 2}, d)
	if out.Error != nil {
		t.Fatal(out.Error)
	}
	want := []string{`{"name":"in.js","from":"plan.js"}`, `{"path":"far.js","from":"in.js"}`}
	if got := d.lines("nested"); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("asked for %q, want %q", got, want)
	}
}

func TestLib(t *testing.T) {
	t.Parallel()
	start := Start{
		Source: Source{Name: "plan.js", Text: "return [lib.plus(1, 2), await lib.work('x'), Object.isFrozen(lib), Object.isFrozen(std)]"},
		Lib: []Source{
			{Name: "sums.js", Text: "export function plus(a, b) { return a + b }"},
			{Name: "work.js", Text: "export const work = (p) => agent(p + ' of ' + args.n);"},
		},
		Args: json.RawMessage(`{"n":7}`),
	}
	out := Run(t.Context(), start, &desk{})
	if want := `[3,"did x of 7",true,true]`; string(out.Value) != want {
		t.Errorf("Run gave %s and %v, want %s", out.Value, out.Error, want)
	}
	start.Lib = append(start.Lib, Source{Name: "bad.js", Text: "\nexport const x = nothere;"})
	out = Run(t.Context(), start, &desk{})
	if out.Error == nil || out.Error.Where != "bad.js:2:18" {
		t.Errorf("Run ended with %+v, want an error in bad.js", out.Error)
	}
}

func FuzzRun(f *testing.F) {
	for _, seed := range []string{
		"return await agent('x')",
		"await race([() => agent('a'), async () => { await null; throw 1 }], {n: 2})",
		"return parallel({a: agent('x'), b: () => pipeline([1], n => n)})",
		"for (const x of [1, 2]) await join(await run('x'), {timeout: 5})",
		"const p = agent('x', {schema: {a: [1n]}}); p.cancel(); return [p]",
		"return workflow({scriptPath: 'x'}, new Proxy({}, {ownKeys() { throw 1 }}))",
		"throw {get stack() { return 'a\\n\\tat plan.js:9999:9999(1)' }, message: 'm'}",
		"await check(['a'], {on: 'base'}); merge([{patch: {id: 1}}]); land(null); ask('', {choices: []}); log(args, budget)",
		"Object.prototype.then = f => f(1); return await std.verify('x')",
		"class A extends Promise { then() { return this } } return new A(() => {})",
		"const f = async () => { await null; return f() }; f(); Promise.reject(); return failures()",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		refuse := func(Request) error { return &Error{Name: "Error", Code: CodePolicy, Message: "refused"} }
		ctx, cancel := newBound(t)
		defer cancel()
		out := Run(ctx, Start{Source: Source{Name: "plan.js", Text: text}}, &desk{refuse: refuse})
		if out.Error != nil && out.Error.Message == "" && out.Error.Name == "" {
			t.Errorf("an error without a word: %+v", out)
		}
		if out.Value != nil && !json.Valid(out.Value) {
			t.Errorf("the value %q is not JSON", out.Value)
		}
	})
}
