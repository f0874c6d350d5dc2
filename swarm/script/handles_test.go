package script

import (
	"slices"
	"strings"
	"testing"
)

func TestHandles(t *testing.T) {
	t.Parallel()
	each(t, []performs{
		{name: "run does not wait", give: `const h = await sa.run({prompt: 'x'}); return [h, sa.status(h.id)]`,
			want: `[{"id":"a1"},{"id":"a1","status":"running"}]`},
		{name: "run of a prompt and options", give: `await run('x', {label: 'l', phase: 'p'}); return sa.list()`,
			want: `[{"id":"a1","status":"running","label":"l","phase":"p"}]`},
		{name: "join", give: `const h = await run({prompt: 'x', label: 'l'}); return await join(h.id)`,
			want: `{"id":"a1","status":"completed","label":"l","output":"did x"}`},
		{name: "join of a failed one", give: `const h = await run('fail:timeout too long'); const r = await join(h.id); return [r, 'output' in r]`,
			want: `[{"id":"a1","status":"failed","error":{"kind":"timeout","message":"too long"}},false]`},
		{name: "join of a cancelled one", give: `const h = await run('x'); cancel(h.id); return (await join(h.id)).status`, want: `"cancelled"`},
		{name: "join twice", give: `const h = await run('x'); const [a, b] = await Promise.all([join(h.id), join(h.id)]); const c = await join(h.id); return [a.output, b.output, c.output, a === b]`,
			want: `["did x","did x","did x",false]`},
		{name: "join of a handle", give: `const h = await run('x'); return (await join(h)).output`, want: `"did x"`},
		{name: "join of the promise of a handle", give: `return (await join(run('x'))).output`, want: `"did x"`},
		{name: "join of an agent", give: `const p = agent('x'); return [(await join(p)).output, (await join(p.id)).output]`, want: `["did x","did x"]`},
		{name: "join of nobody", give: `await join('a9')`, error: `unknown Error: join: there is no agent "a9"`},
		{name: "join of nothing", give: `await join()`, error: `option TypeError: join: wants the id of an agent, not undefined`},
		{name: "join with an unknown option", give: `await join((await run('x')).id, {timeuot: 1})`, error: `did you mean "timeout"`},
		{name: "join with a bad time", give: `await join((await run('x')).id, {timeout: 'soon'})`, error: `join: timeout must be a number, not a string`},
		{name: "cancel", give: `const h = await run('x @100'); return await cancel(h.id, 'too slow')`,
			want:  `{"id":"a1","status":"cancelled","error":{"kind":"cancelled","message":"cancelled by the script"}}`,
			asked: []string{`call {"prompt":"x @100"}`, `cancel {"id":"a1","reason":"too slow"}`}},
		{name: "cancel twice", give: `const h = await run('x @100'); const [a, b] = await Promise.all([cancel(h.id), cancel(h.id)]); await cancel(h.id); return [a.status, b.status]`,
			want:  `["cancelled","cancelled"]`,
			asked: []string{`call {"prompt":"x @100"}`, `cancel {"id":"a1"}`}},
		{name: "cancel of one that has ended", give: `const h = await run('x'); await join(h.id); return (await cancel(h.id)).status`,
			want:  `"completed"`,
			asked: []string{`call {"prompt":"x"}`, `cancel {"id":"a1","settled":true}`}},
		{name: "cancel of nobody", give: `await cancel('a9')`, error: `unknown Error: cancel: there is no agent "a9"`},
		{name: "status of nobody", give: `sa.status('a9')`, error: `unknown Error: status: there is no agent "a9"`},
		{name: "status once it ended", give: `const h = await run('x'); await join(h); return sa.status(h.id)`,
			want: `{"id":"a1","status":"completed","output":"did x"}`},
		{name: "list is what was delivered", give: `await run('a @50'); await agent('b'); return sa.list().map(a => a.status)`,
			want: `["running","completed"]`},
		{name: "a copy each time", give: `const h = await run('x'); const r = await join(h); r.output = 'changed'; sa.list()[0].output = 'too'; return sa.status(h.id).output`,
			want: `"did x"`},
		{name: "send", give: `const h = await run('x'); return await sa.send(h.id, 'hurry')`,
			want:  `{"delivered":true}`,
			asked: []string{`call {"prompt":"x"}`, `send {"id":"a1","text":"hurry"}`}},
		{name: "send to one that has ended", give: `const h = await run('x'); await join(h); return await sa.send(h.id, 'hurry')`,
			want: `{"delivered":false}`, asked: []string{`call {"prompt":"x"}`}},
		{name: "send nothing", give: `const h = await run('x'); return await sa.send(h.id)`, error: `send: the text must be a string`},
	})
}

func TestJoinTimeout(t *testing.T) {
	t.Parallel()
	each(t, []performs{
		{
			name: "too late: the agent goes on",
			give: `const h = await run('x @50');
				const e = await join(h.id, {timeout: 20}).catch(e => [e.name, e.code, e.message]);
				return [e, sa.status(h.id).status, (await join(h.id)).output]`,
			want:  `[["Error","timeout","join: a1 did not end within 20 ms; it goes on"],"running","did x @50"]`,
			asked: []string{`call {"prompt":"x @50"}`, `timer {"ms":20,"for":"a1"}`},
		},
		{
			name:  "in time: the timer is given back",
			give:  `const h = await run('x @10'); return (await join(h.id, {timeout: 20})).output`,
			want:  `"did x @10"`,
			asked: []string{`call {"prompt":"x @10"}`, `timer {"ms":20,"for":"a1"}`, `untimer {"of":1}`},
		},
		{
			name: "no timer for one that has ended",
			give: `const h = await run('x'); await join(h); return (await join(h.id, {timeout: 20})).output`,
			want: `"did x"`, asked: []string{`call {"prompt":"x"}`},
		},
		{
			name: "a deadline for all, and then the end of all",
			give: `const all = await Promise.all([run('a @5'), run('b @500'), run('c @600')]);
				try { return await Promise.all(all.map(h => join(h.id, {timeout: 100}))) }
				catch (late) { return (await Promise.all(all.map(h => cancel(h.id)))).map(r => r.status) }`,
			want: `["completed","cancelled","cancelled"]`,
		},
	})
}

// A host that fires a timer while it is given back is not surprising.
func TestJoinTimerCrosses(t *testing.T) {
	t.Parallel()
	d := &desk{}
	crossed := false
	d.answer = func(r Request) *Delivery {
		if u, ok := r.(*Untimer); ok && !crossed {
			crossed = true
			d.plan(0, event{Delivery: Delivery{N: u.N}})
		}
		return nil
	}
	out := perform(t, d, `const h = await run('x @10'); await join(h.id, {timeout: 20}); return agent('y')`)
	if string(out.Value) != `"did y"` || !crossed {
		t.Errorf("Run ended with %s and %v", out.Value, out.Error)
	}
}

func TestAgent(t *testing.T) {
	t.Parallel()
	each(t, []performs{
		{name: "text", give: `return await agent('x')`, want: `"did x"`},
		{name: "an object with the prompt", give: `return await agent({prompt: 'x', label: 'l'})`, want: `"did x"`},
		{name: "structured", give: `return await agent('json:{"a":[1]}', {schema: {type: 'object'}})`, want: `{"a":[1]}`},
		{name: "structured and not asked for", give: `return await agent('json:{"a":[1]}')`, want: `"did json:{\"a\":[1]}"`},
		{name: "null on failure", give: `return [await agent('fail:killed by nobody', {label: 'l', phase: 'p'}), failures()]`,
			want: `[null,[{"id":"a1","label":"l","phase":"p","kind":"killed","message":"by nobody"}]]`},
		{name: "null where it was cancelled", give: `const p = agent('x'); p.cancel('enough'); return [await p, failures()]`,
			want: `[null,[{"id":"a1","kind":"cancelled","message":"cancelled by the script"}]]`},
		{name: "full", give: `const r = await agent('fail:killed by nobody', {full: true}); return [r.status, r.error.kind, 'output' in r]`,
			want: `["failed","killed",false]`},
		{name: "full of a failed schema", give: `return (await agent('fail:schema a is missing', {full: true, schema: {}})).error.kind`, want: `"schema"`},
		{name: "throws for the schema", give: `return await agent('fail:schema answer.a is missing', {schema: {}}).catch(e => [e.name, e.code, e.message])`,
			want: `["Error","schema","answer.a is missing"]`},
		{name: "rejects, never throws at once", give: `const p = agent('x', {schema: 1}); let id = p.id; return await p.catch(e => [e.code, id === undefined, typeof p.cancel])`,
			want: `["option",true,"function"]`},
		{name: "its id at once", give: `const p = agent('x'); const id = p.id; return [id, await p]`, want: `["a1","did x"]`},
		{name: "its cancel", give: `const p = agent('x @100'); return (await p.cancel('enough')).status`, want: `"cancelled"`,
			asked: []string{`call {"prompt":"x @100"}`, `cancel {"id":"a1","reason":"enough"}`}},
		{name: "cancel of one that could not start", give: `const p = agent(''); p.catch(() => {}); return await p.cancel()`, want: `null`},
		{name: "is a promise", give: `const p = agent('x'); return [p instanceof Promise, await p.then(v => v + '!')]`, want: `[true,"did x!"]`},
		{name: "all of them", give: `return await Promise.all([agent('a @20'), agent('b @10')])`, want: `["did a @20","did b @10"]`},
		{name: "the first of them", give: `return await Promise.race([agent('a @20'), agent('b @10')])`, want: `"did b @10"`},
	})
}

func TestBudget(t *testing.T) {
	t.Parallel()
	limited := Start{BudgetTokens: 100}
	each(t, []performs{
		{name: "none", give: `await agent('spend:70'); return [budget.total, budget.spent(), budget.remaining() === Infinity]`, want: `[null,70,true]`},
		{name: "some", give: `await agent('spend:70'); return [budget.total, budget.spent(), budget.remaining()]`, start: limited, want: `[100,70,30]`},
		{name: "is what was delivered", give: `agent('spend:70 @50'); await agent('spend:10'); return budget.spent()`, start: limited, want: `10`},
		{name: "counts those that failed", give: `await agent('spend:30 fail:killed x'); return budget.spent()`, start: limited, want: `30`},
		{name: "spent", give: `await agent('spend:130'); const r = budget.remaining(); await agent('more').catch(e => { throw new Error([r, e.code, e.message].join()) })`,
			start: limited, error: `0,budget,the budget is spent: 130 of 100 tokens`},
		{name: "spent for run too", give: `await agent('spend:100'); await sa.run('more')`, start: limited, error: `budget Error: the budget is spent`},
		{name: "not quite spent", give: `await agent('spend:99'); return await agent('more')`, start: limited, want: `"did more"`},
		{name: "cannot be changed", give: `try { budget.total = 1 } catch {} try { budget.spent = () => 0 } catch {} await agent('spend:5'); return [budget.total, budget.spent()]`, want: `[null,5]`},
	})
}

func TestPhasesAndLogs(t *testing.T) {
	t.Parallel()
	each(t, []performs{
		{name: "a phase", give: `log('a'); phase('one'); log('b'); await agent('x'); await agent('y', {phase: 'two'}); return sa.list().map(a => a.phase)`,
			want: `["one","two"]`,
			asked: []string{`log {"text":"a"}`, `phase {"title":"one"}`, `log {"text":"b","phase":"one"}`,
				`call {"prompt":"x","phase":"one"}`, `call {"prompt":"y","phase":"two"}`}},
		{name: "a phase of nothing", give: `phase()`, error: `phase: the title must be a string`},
		{name: "what a log shows", give: `log('a', 1, {b: [2]}, null, undefined, true, new TypeError('no'), 10n)`,
			asked: []string{`log {"text":"a 1 {\"b\":[2]} null undefined true TypeError: no 10"}`}},
		{name: "a cycle", give: `const a = {}; a.a = a; log(a)`, asked: []string{`log {"text":"[object Object]"}`}},
		{name: "an object that bites", give: `log({toJSON() { throw 1 }, toString() { throw 2 }})`, asked: []string{`log {"text":"a value that cannot be shown"}`}},
		{name: "console", give: `console.log('a'); console.error('b'); console.warn('c'); console.info('d'); console.debug('e')`,
			asked: []string{`log {"text":"a"}`, `log {"text":"b"}`, `log {"text":"c"}`, `log {"text":"d"}`, `log {"text":"e"}`}},
	})
}

func TestLogIsBounded(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`'x'.repeat(1e6)`, `'ü'.repeat(1e6)`, `{a: 'ü'.repeat(1e6)}`, `'y' + 'ü'.repeat(1e6)`} {
		var got *Log
		d := &desk{refuse: func(r Request) error { got, _ = r.(*Log); return nil }}
		if out := perform(t, d, `log(`+text+`)`); out.Error != nil {
			t.Fatal(out.Error)
		}
		if n := len(got.Text); n > 8<<10 || n < 8000 {
			t.Errorf("log(%s) keeps %d bytes, want up to 8 KiB", text, n)
		}
		if strings.ContainsRune(got.Text, '�') || !strings.HasSuffix(got.Text, "more bytes)") {
			t.Errorf("log(%s) ends with %q", text, got.Text[len(got.Text)-50:])
		}
	}
	if got := clip(strings.Repeat("x", 8<<10)); len(got) != 8<<10 || strings.Contains(got, "…") {
		t.Error("a line of just 8 KiB was clipped")
	}
}

// The shapes of scripts that were written for other runtimes.
func TestScriptsOfOthers(t *testing.T) {
	t.Parallel()
	const panel = `
		const areas = ['auth', 'storage', 'billing'];
		const template = "Look at {{AREA}}. End with: VERDICT: OK or VERDICT: BAD";
		const started = await Promise.all(areas.map((area) => sa.run({prompt: template.replace('{{AREA}}', area)})));
		const ended = await Promise.all(started.map((s) => sa.join(s.id)));
		const seen = ended.map((r, i) => ({
			area: areas[i],
			verdict: (r.output || '').match(/VERDICT:\s*(OK|BAD)\b/i)?.[1]?.toUpperCase() || 'BAD',
		}));
		const last = await sa.run({prompt: 'Sum up ' + seen.filter((s) => s.verdict === 'OK').map((s) => s.area).join(' and ')});
		return (await sa.join(last.id)).output;`
	d := &desk{}
	out := perform(t, d, panel)
	if want := `"did Sum up auth and storage and billing"`; string(out.Value) != want {
		t.Errorf("Run gave %s and %v, want %s", out.Value, out.Error, want)
	}
	if got := len(d.calls); got != 4 {
		t.Errorf("%d agents were started, want 4", got)
	}
}

// The requests of a script depend only on its deliveries.
func TestSameDeliveriesSameRequests(t *testing.T) {
	t.Parallel()
	const text = `
		const seen = [];
		const look = (what) => seen.push([what, budget.spent(), failures().length, sa.list().map(a => a.status[0]).join('')]);
		const work = (n) => async () => {
			const r = await agent('w' + n + ' @' + (n * 37 % 50 + 1) + (n % 5 ? ' spend:3' : ' fail:killed x'));
			look(n);
			return r;
		};
		const thunks = Array.from({length: 12}, (_, n) => work(n));
		await parallel(thunks.slice(0, 6), {concurrency: 2});
		look(await race(thunks.slice(6), {n: 2}));
		await pipeline([1, 2, 3], (p) => work(p)(), (p, i) => work(i + 7)());
		const h = await run('late @30');
		look(await join(h, {timeout: 20}).catch(e => e.code));
		look((await cancel(h)).status);
		return seen;`
	first := &desk{}
	want := perform(t, first, text)
	if want.Error != nil {
		t.Fatal(want.Error)
	}
	for range 5 {
		d := &desk{}
		got := perform(t, d, text)
		if string(got.Value) != string(want.Value) || !slices.Equal(d.asked, first.asked) {
			t.Fatalf("a second time it gave\n%s\n%s\nwant\n%s\n%s", got.Value, strings.Join(d.asked, "\n"), want.Value, strings.Join(first.asked, "\n"))
		}
	}
}
