package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestRunValue(t *testing.T) {
	t.Parallel()
	each(t, []performs{
		{name: "nothing", give: ``, want: ""},
		{name: "undefined", give: `return undefined`, want: ""},
		{name: "null", give: `return null`, want: "null"},
		{name: "an object", give: `return {a: 1, b: undefined, c: [undefined]}`, want: `{"a":1,"c":[null]}`},
		{name: "what toJSON gives", give: `return [new Date(0), {toJSON: () => 7}]`, want: `["1970-01-01T00:00:00.000Z",7]`},
		{name: "the same object twice", give: `const a = {x: 1}; return [a, a]`, want: `[{"x":1},{"x":1}]`},
		{name: "a promise is awaited", give: `return agent('x')`, want: `"did x"`},
		{name: "a promise inside", give: `return {a: [1, {"b c": agent('x')}]}`,
			error: `TypeError: the return value.a[1]["b c"] is a promise: an await is missing`},
		{name: "a function", give: `return {a: () => 1}`, error: `the return value.a is a function`},
		{name: "a cycle", give: `const a = {}; a.b = [a]; return a`, error: `the return value.b[0] is part of itself: a cycle`},
		{name: "a cycle of toJSON", give: `return {toJSON() { return {a: this} }}`, error: `a cycle`},
		{name: "too deep", give: `let a = {}; for (let i = 0; i < 2000; i++) a = {a}; return a`, error: `more than 1000 objects deep`},
		{name: "a BigInt", give: `return {x: [10n]}`, error: `the return value.x[0] is a BigInt`},
		{name: "a symbol", give: `return Symbol('x')`, error: `the return value is a symbol`},
		{name: "a map", give: `return {m: new Map([[1, 2]])}`, error: `the return value.m is a Map`},
		{name: "an error", give: `return {e: new Error('x')}`, error: `the return value.e is an error`},
		{name: "a getter that throws", give: `return {get a() { throw new RangeError('mine') }}`, error: ` RangeError: mine`},
		{name: "a result with its patch", give: `return (await agent('change', {full: true})).patch`,
			want: `{"id":"pa1","base":"b0","files":["f"],"stat":{"files":1,"added":2,"deleted":3}}`},
	})
}

func TestRunArgs(t *testing.T) {
	t.Parallel()
	given := Start{Args: json.RawMessage(`{"a":[1],"__proto__":{"b":1}}`)}
	each(t, []performs{
		{name: "none", give: `return typeof args`, want: `"undefined"`},
		{name: "given", give: `return args.a[0]`, start: given, want: `1`},
		{name: "only data", give: `return [args.b === undefined, Object.keys(args)]`, start: given, want: `[true,["a","__proto__"]]`},
		{name: "may be changed", give: `args.a.push(2); return args.a`, start: given, want: `[1,2]`},
		{name: "may be given a default", give: `args = args ?? {n: 1}; await null; return args`, want: `{"n":1}`},
		{name: "may be hidden", give: `const args = 1; return args`, start: given, want: `1`},
	})
}

func TestRunError(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, give string
		want       Error
	}{
		{"an error", "\n  throw new TypeError('no')", Error{
			Name: "TypeError", Message: "no", Where: "plan.js:2:9", Line: "  throw new TypeError('no')"}},
		{"after an await", "await agent('x')\n  throw new Error('no')", Error{
			Name: "Error", Message: "no", Where: "plan.js:2:9", Line: "  throw new Error('no')"}},
		{"of the language", "\nconst a = null\nfunction f() {\n  return a.b }\nf()", Error{
			Name: "TypeError", Message: "Cannot read property 'b' of undefined", Where: "plan.js:4:12", Line: "  return a.b }"}},
		{"columns are characters", "\n const é = 'ß'; nothere()", Error{
			Name: "ReferenceError", Message: "nothere is not defined", Where: "plan.js:2:17", Line: " const é = 'ß'; nothere()"}},
		{"of the API", "\n  await agent('x', {schema: 1})", Error{
			Name: "TypeError", Code: CodeOption, Message: "agent: schema must be an object, a JSON Schema, not a number",
			Where: "plan.js:2:9", Line: "  await agent('x', {schema: 1})"}},
		{"of a combinator", "\nawait parallel([1])", Error{
			Name: "TypeError", Code: CodeOption, Message: "parallel: item 0 is a number, not a function; write () => agent(…)",
			Where: "plan.js:2:7", Line: "await parallel([1])"}},
		{"inside a combinator", "\nawait parallel([() => agent('x'), async () => {\n  await agent('y')\n  nothere()\n}])", Error{
			Name: "ReferenceError", Message: "nothere is not defined", Where: "plan.js:4:3", Line: "  nothere()"}},
		{"that was delivered", "\n  const p = agent('fail:schema answer.n is missing', {schema: {}})\n  await null; await p", Error{
			Name: "Error", Code: CodeSchema, Message: "answer.n is missing",
			Where: "plan.js:2:13", Line: "  const p = agent('fail:schema answer.n is missing', {schema: {}})"}},
		{"a message with a stack in it", "\nthrow new Error('x\\n\\tat plan.js:1:1(2)')", Error{
			Name: "Error", Message: "x\n\tat plan.js:1:1(2)", Where: "plan.js:2:7", Line: `throw new Error('x\n\tat plan.js:1:1(2)')`}},
		{"a text", "throw 'no'", Error{Name: "Error", Message: "no"}},
		{"a long text", "throw 'é'.repeat(5e6)", Error{
			Name: "Error", Message: strings.Repeat("é", 4076) + "… (9991848 more bytes)"}},
		{"long names", "throw {name: 'n'.repeat(1e6), code: 'c'.repeat(1e6), message: 'no'}", Error{
			Name: strings.Repeat("n", 8152) + "… (991848 more bytes)", Message: "no",
			Code: Code(strings.Repeat("c", 8152) + "… (991848 more bytes)")}},
		{"a code of its own", "throw {message: 'no', code: 'mine'}", Error{Name: "Error", Code: "mine", Message: "no"}},
		{"no budget", "throw {message: 'no', code: 'budget'}", Error{Name: "Error", Message: "no"}},
		{"nothing", "throw undefined", Error{Name: "Error", Message: "undefined"}},
		{"an object", "throw {a: 1}", Error{Name: "Error", Message: `{"a":1}`}},
		{"an error like ours", "throw {name: 'Mine', message: 'no', code: 'x'}", Error{Name: "Mine", Message: "no", Code: "x"}},
		{"one that bites", "throw {get message() { throw 1 }, toString() { throw 2 }, toJSON() { throw 3 }}", Error{
			Name: "Error", Message: "a value that cannot be shown"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out := perform(t, &desk{}, tt.give)
			if out.Error == nil || *out.Error != tt.want {
				t.Errorf("error = %+v, want %+v", out.Error, tt.want)
			}
			if out.Value != nil {
				t.Errorf("a script that threw gave %s", out.Value)
			}
		})
	}
}

func TestRunStackOverflow(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"const f = () => f(); f()",
		"await agent('x'); const f = () => f(); f()",
		"const f = () => f(); await agent('x', {get label() { return f() }}).catch(() => {})",
	} {
		out := perform(t, &desk{}, text)
		if out.Error == nil || out.Error.Name != "RangeError" || !strings.Contains(out.Error.Message, "stack is full") {
			t.Errorf("Run(%s) ended with %+v, want a RangeError", text, out.Error)
		}
	}
}

func TestRunStuck(t *testing.T) {
	t.Parallel()
	const never = "the script waits for a promise that nothing will settle: "
	each(t, []performs{
		{name: "at once", give: `await new Promise(() => {})`, error: "stuck Error: " + never + "it started no agent"},
		{name: "after an agent", give: `await agent('x'); await new Promise(() => {})`, error: "stuck Error: " + never + "the agent it started has ended"},
		{name: "after what nobody awaits", give: `sa.run('x'); sa.run('y'); await new Promise(() => {})`, error: "all 2 agents it started have ended"},
		{name: "not while an agent works", give: `let f; const p = new Promise(r => { f = r }); agent('x').then(f); return p`, want: `"did x"`},
		{name: "not while a question is open", give: `return ask('well?')`, want: `"yes"`},
	})
}

func TestRunInterrupted(t *testing.T) {
	t.Parallel()
	stopped := errors.New("stopped by its owner")
	for _, text := range []string{
		"while (true) {}",
		"await agent('x'); while (true) {}",
		"while (true) await null",
		"const f = () => Promise.resolve().then(f); await f()",
		"return {get a() { while (true) {} }}",
		"throw {get message() { while (true) {} }}",
		"try { while (true) {} } finally { while (true) {} }",
		"while (true) try { await null } catch {}",
		"try { await agent('x', {get label() { while (true) {} }}) } catch {}",
		"await parallel([() => { while (true) {} }])",
		"await race([async () => { await null; while (true) {} }], {accept: () => true})",
		"log({toJSON() { while (true) {} }})",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			d := &desk{}
			d.refuse = func(r Request) error {
				if _, ok := r.(*Log); ok {
					cancel(stopped)
				}
				return nil
			}
			out := Run(ctx, Start{Source: Source{Name: "plan.js", Text: "log('here we go'); " + text}}, d)
			if out.Error == nil || out.Error.Message != stopped.Error() || out.Value != nil {
				t.Errorf("Run ended with %+v, want %v", out, stopped)
			}
			if got := len(d.lines("log")); got != 1 {
				t.Errorf("%d lines were logged, want nothing more once it was stopped", got)
			}
		})
	}
}

func TestRunStopsWhileItWaits(t *testing.T) {
	t.Parallel()
	stopped := errors.New("stopped by its owner")
	ctx, cancel := context.WithCancelCause(t.Context())
	d := &desk{next: func(ctx context.Context) (Delivery, error) {
		cancel(stopped)
		<-ctx.Done()
		return Delivery{}, ctx.Err()
	}}
	out := Run(ctx, Start{Source: Source{Name: "plan.js", Text: "agent(1); await agent('x')"}}, d)
	if out.Error == nil || out.Error.Message != stopped.Error() {
		t.Errorf("Run ended with %+v, want %v", out, stopped)
	}
	if got := d.lines("log"); got != nil {
		t.Errorf("logged %q after the end", got)
	}
}

// A fault of the host itself ends the script, even inside a catch.
func TestRunBrokenHost(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, give, want string
		host             *desk
	}{
		{"Next fails", `try { await agent('x') } catch {} return 1`, "the pipe broke",
			&desk{next: func(context.Context) (Delivery, error) { return Delivery{}, errors.New("the pipe broke") }}},
		{"Do fails", `try { await agent('x') } catch {} return 1`, "the disk is full",
			&desk{refuse: func(Request) error { return errors.New("the disk is full") }}},
		{"Post fails", `try { log('x') } catch {} return 1`, "the disk is full",
			&desk{refuse: func(Request) error { return errors.New("the disk is full") }}},
		{"an answer that is no JSON", `try { await merge([]) } catch {} return 1`, "read what the host answered",
			&desk{answer: func(Request) *Delivery { return &Delivery{Value: json.RawMessage("{")} }}},
		{"the end of a stranger", `await agent('x')`, `the end of "a9" was delivered`,
			&desk{next: func(context.Context) (Delivery, error) { return Delivery{Result: &Result{ID: "a9"}}, nil }}},
		{"an answer to nothing", `await agent('x')`, "the answer of request 7 was delivered",
			&desk{next: func(context.Context) (Delivery, error) { return Delivery{N: 7}, nil }}},
		{"no structured answer", `await agent('x', {schema: {}})`, "without a structured answer", &desk{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out := perform(t, tt.host, tt.give)
			if out.Error == nil || !strings.Contains(out.Error.Message, tt.want) || out.Error.Code != "" {
				t.Errorf("Run ended with %+v, want %q", out, tt.want)
			}
		})
	}
}

func TestRunRefusalsAreCaught(t *testing.T) {
	t.Parallel()
	d := &desk{refuse: func(r Request) error {
		if _, ok := r.(*Log); ok {
			return nil
		}
		return &Error{Name: "Mine", Code: CodeLimit, Message: "no more"}
	}}
	out := perform(t, d, `try { await agent('x') } catch (e) { return [e instanceof Error, e.name, e.code, e.message] }`)
	if want := `[true,"Mine","limit","no more"]`; string(out.Value) != want {
		t.Errorf("Run ended with %s and %v, want %s", out.Value, out.Error, want)
	}
}

// numbered are n texts with the numbers from 0 in them.
func numbered(n int, format string) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(format, i))
	}
	return all
}

func TestUnhandledRejections(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, give string
		want       []string
	}{
		{"of a promise of its own", "Promise.reject('no'); await agent('x')", []string{`{"text":"unhandled rejection: no"}`}},
		{"not where it is caught later", "const p = Promise.reject(1); await agent('x'); await p.catch(() => {})", nil},
		{"not of the script itself", "throw new Error('x')", nil},
		{"with a script that threw", "Promise.reject('no'); throw 1", []string{`{"text":"unhandled rejection: no"}`}},
		{"of many", "for (let i = 0; i < 25; i++) Promise.reject(i)", slices.Concat(
			numbered(20, `{"text":"unhandled rejection: %d"}`), []string{`{"text":"unhandled rejection: 5 more"}`})},
		{"inside the combinators as a null", "await parallel([() => Promise.reject(1), async () => { throw 2 }]); await race({a: () => Promise.reject(1)})", []string{
			`{"text":"parallel: item 0 is null: 1"}`, `{"text":"parallel: item 1 is null: 2"}`, `{"text":"race: item a threw: 1"}`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := &desk{}
			perform(t, d, tt.give)
			if got := d.lines("log"); !slices.Equal(got, tt.want) {
				t.Errorf("logged %q, want %q", got, tt.want)
			}
		})
	}
}

// TestMistakesNobodyAwaits: a script that would succeed with a typo in it
// fails.
func TestMistakesNobodyAwaits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ give, want string }{
		{"\nagent('x', {schema: 1}); return 1", "agent: schema must be an object, a JSON Schema, not a number"},
		{"(async () => nowhere)(); await agent('x'); return 1", "nowhere is not defined"},
		{"agent('x', {schema: 1}).catch(() => {}); return 1", ""},
		{"await race([() => agent('x'), async () => { await agent('hang'); await agent('y') }]); return 1", ""},
	} {
		d := &desk{}
		out := perform(t, d, tt.give)
		switch {
		case tt.want == "" && out.Error != nil:
			t.Errorf("%s ended with %v", tt.give, out.Error)
		case tt.want != "" && (out.Error == nil || out.Error.Message != tt.want):
			t.Errorf("%s ended with %v, want %q", tt.give, out.Error, tt.want)
		}
	}
}

func TestGlobalsCannotBeOverwritten(t *testing.T) {
	t.Parallel()
	const hostile = `
		Promise.prototype.then = () => { throw new Error('then') };
		Promise.resolve = Promise.all = () => { throw new Error('resolve') };
		for (const k of ['push', 'map', 'slice', 'forEach', 'concat', 'keys'])
			Array.prototype[k] = () => { throw new Error(k) };
		JSON.parse = JSON.stringify = () => { throw new Error('JSON') };
		Function.prototype.toString = Function.prototype.call = () => { throw new Error('Function') };
		Object.keys = Object.freeze = () => { throw new Error('Object') };
		for (const k of ['0', '1', 'id', 'code', 'text', 'jobs', 'output', 'cache'])
			Object.defineProperty(Object.prototype, k, {set() { throw new Error(k) }, get() { return 7 }, configurable: true});
		Array.prototype[Symbol.iterator] = () => { throw new Error('iterator') };
		globalThis.Error = globalThis.TypeError = globalThis.Promise = globalThis.JSON = null;
	`
	each(t, []performs{
		{name: "assignment", give: `for (const f of [() => { agent = 1 }, () => { sa.run = 2 }, () => { budget.total = 3 }, () => { delete globalThis.agent }]) try { f() } catch {}
			return [typeof agent, typeof sa.run, budget.total]`,
			want: `["function","function",null]`},
		{name: "shadowing", give: `const agent = 1; let log = 2; function run() { return 3 } return [agent, log, run()]`, want: `[1,2,3]`},
		{name: "agents", give: hostile + `return await agent('x')`, want: `"did x"`},
		{name: "handles", give: hostile + `const h = await sa.run('x'); return (await sa.join(h, {timeout: 50})).output`, want: `"did x"`},
		{name: "parallel", give: hostile + `return await parallel([() => agent('a'), () => agent('b')])`, want: `["did a","did b"]`},
		{name: "parallel of keys", give: hostile + `return await parallel({a: () => agent('a')})`, want: `{"a":"did a"}`},
		{name: "pipeline", give: hostile + `return await pipeline(['a'], p => agent(p), p => p + '!')`, want: `["did a!"]`},
		{name: "race", give: hostile + `return await race([() => agent('a @20'), () => agent('b')], {n: 2})`, want: `["did b","did a @20"]`},
		{name: "errors", give: hostile + `try { await agent('x', {schema: 1}) } catch (e) { return [e.code, e.name] }`, want: `["option","TypeError"]`},
		{name: "hooks", give: hostile + `return await agent('x', {stopWhen: s => s.turns > 3})`, want: `"did x"`},
	})
}
