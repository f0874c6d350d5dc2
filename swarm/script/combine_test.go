package script

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestParallel(t *testing.T) {
	t.Parallel()
	each(t, []performs{
		{name: "in order", give: `return await parallel([() => agent('a @30'), () => agent('b @10'), async () => 3, () => 4])`,
			want: `["did a @30","did b @10",3,4]`},
		{name: "nothing", give: `return [await parallel([]), await parallel({})]`, want: `[[],{}]`},
		{name: "by key", give: `return await parallel({b: () => agent('b'), a: () => agent('fail:killed x')})`, want: `{"b":"did b","a":null}`},
		{name: "what was started already", give: `return await parallel([agent('a'), Promise.resolve(2)])`, want: `["did a",2]`},
		{name: "is a barrier", give: `await parallel([() => agent('a @30'), () => agent('b')]); return sa.list().map(a => a.status)`,
			want: `["completed","completed"]`},
		{name: "a failed agent", give: `return [await parallel([() => agent('fail:killed x'), () => agent('b')]), failures()]`,
			want: `[[null,"did b"],[{"id":"a1","kind":"killed","message":"x"}]]`},
		{name: "a thrown error", give: "phase('p')\nreturn [await parallel([() => { throw new Error('no') }, async () => { throw 'too' }]), failures()]",
			want: `[[null,null],[{"phase":"p","kind":"script","message":"no (plan.js:2:39)"},{"phase":"p","kind":"script","message":"too"}]]`},
		{name: "a schema that was not met is recorded once", give: `return [await parallel([() => agent('fail:schema a is missing', {schema: {}})]), failures()]`,
			want: `[[null],[{"id":"a1","kind":"schema","message":"a is missing"}]]`},
		{name: "an error of ours keeps its code", give: `return [await parallel([async () => join(await run('x @50'), {timeout: 5})]), failures().map(f => f.kind)]`,
			want: `[[null],["timeout"]]`},
		{name: "an answer that is no JSON", give: `return [await parallel([async () => JSON.parse(await agent('x'))]), failures()[0].kind]`,
			want: `[[null],"script"]`},
		{name: "a cap is not a null", give: `return await parallel([() => agent('a'), () => { throw Object.assign(new Error('no more'), {code: 'limit'}) }])`,
			error: `limit Error: no more`},
		{name: "nor is a budget", give: `await agent('spend:9'); return await parallel([() => agent('a')])`, start: Start{BudgetTokens: 5}, error: `budget Error`},
		{name: "nor an option", give: `return await parallel([() => agent('a', {schema: 1})])`, error: `option TypeError`},
		{name: "nor a name that is not", give: `return await parallel([() => agnet('a')])`, error: `ReferenceError: agnet is not defined`},
		{name: "nor a type that is not", give: `return await parallel([async () => (await agent('fail:killed x')).length])`, error: `TypeError`},
		{name: "nor a text that is no code", give: `return await parallel([() => new RegExp('(')])`, error: `SyntaxError`},
		{name: "the others come to their end first", give: `const e = await parallel([async () => { await null; nothere() }, () => agent('b @40')]).catch(e => e.name); return [e, sa.list().map(a => a.status)]`,
			want: `["ReferenceError",["completed"]]`},
		{name: "nothing more begins", give: `const e = await parallel([() => nothere(), () => agent('b')], {concurrency: 1}).catch(e => e.name); return [e, sa.list().length]`,
			want: `["ReferenceError",0]`},
		{name: "the first such error", give: `return await parallel([() => first(), () => second()])`, error: `ReferenceError: first is not defined`},
		{name: "with a limit", give: `let now = 0, most = 0;
			const job = (n) => async () => { now++; most = Math.max(most, now); const r = await agent(n + ' @' + (50 - n)); now--; return r.slice(4, 6) };
			return [await parallel(Array.from({length: 9}, (_, n) => job(n)), {concurrency: 3}), most]`,
			want: `[["0 ","1 ","2 ","3 ","4 ","5 ","6 ","7 ","8 "],3]`},
		{name: "within one another", give: `return await parallel([() => parallel([() => agent('a'), () => agent('fail:killed x')]), () => pipeline([1], n => agent('n' + n))])`,
			want: `[["did a",null],["did n1"]]`},
		{name: "values", give: `return await parallel([agent('a'), 7])`, error: `option TypeError: parallel: item 1 is a number, not a function; write () => agent(…)`},
		{name: "keyed values", give: `return await parallel({a: 'x'})`, error: `parallel: "a" is a string, not a function`},
		{name: "a hole", give: `return await parallel([, () => 1])`, error: `parallel: item 0 is undefined`},
		{name: "no list", give: `return await parallel('x')`, error: `option TypeError: parallel: wants a list of functions, not a string`},
		{name: "one function", give: `return await parallel(() => agent('x'))`, error: `wants a list of functions, not a function`},
		{name: "a Set", give: `return await parallel(new Set([() => 3]))`, error: `option TypeError: parallel: wants a list or a plain object of functions, not a Set; write [...x]`},
		{name: "a Map", give: `return await parallel(new Map([['a', () => 3]]))`, error: `a plain object of functions, not a Map; write [...x]`},
		{name: "an iterator", give: `return await parallel([() => 3].values())`, error: `a plain object of functions, not an object; write [...x]`},
		{name: "a typed array", give: `return await parallel(new Uint8Array(2))`, error: `a plain object of functions, not an object; write [...x]`},
		{name: "an object of a class", give: `class Jobs { a = () => 3 }; return await parallel(new Jobs())`, want: `{"a":3}`},
		{name: "an object without a prototype", give: `return await parallel(Object.assign(Object.create(null), {a: () => 3}))`, want: `{"a":3}`},
		{name: "one promise", give: `return await parallel(agent('x'))`, error: `wants a list of functions, not a promise`},
		{name: "a bad limit", give: `return await parallel([], {concurrency: 0})`, error: `parallel: concurrency must be a whole number from 1 to 4096, not 0`},
		{name: "an unknown option", give: `return await parallel([], {concurency: 1})`, error: `did you mean "concurrency"?`},
		{name: "all there may be", give: `return (await parallel(Array.from({length: 4096}, (_, i) => () => i))).length`, want: `4096`},
		{name: "one more", give: `return await parallel(Array.from({length: 4097}, (_, i) => () => i))`, error: `limit Error: parallel: 4097 items, and one call takes at most 4096`},
		{name: "very many more", give: `return await parallel(new Array(4e9))`, error: `limit Error: parallel: `},
		{name: "very many keys", give: `return await parallel(Object.fromEntries(Array.from({length: 4097}, (_, i) => [i, () => i])))`, error: `limit Error: parallel: 4097`},
	})
}

func TestPipeline(t *testing.T) {
	t.Parallel()
	each(t, []performs{
		{name: "arguments of a stage", give: `return await pipeline(['a', 'b'], (p, item, i) => [p, item, i], (p, item, i) => [...p, item, i])`,
			want: `[["a","a",0,"a",0],["b","b",1,"b",1]]`},
		{name: "no barrier", give: `const seen = []; await pipeline([40, 10], n => agent('one @' + n), (p, n) => { seen.push(n); return agent('two @5') }, (p, n) => { seen.push(n) }); return seen`,
			want: `[10,10,40,40]`},
		{name: "no stages", give: `return await pipeline([1, null])`, want: `[1,null]`},
		{name: "no items", give: `return await pipeline([], n => n)`, want: `[]`},
		{name: "a stage that gives null", give: `let later = 0; return [await pipeline([1, 2, 3], n => n === 1 ? agent('fail:killed x') : n === 2 ? null : 'c', p => { later++; return agent(p) }, p => { later++; return p + '!' }), later]`,
			want: `[[null,null,"did c!"],2]`},
		{name: "a last stage that gives null", give: `return await pipeline([1, 2], n => n, n => n === 1 ? null : n)`, want: `[null,2]`},
		{name: "undefined passes on", give: `return await pipeline([1], () => {}, (p, n, i) => [p === undefined, n, i])`, want: `[[true,1,0]]`},
		{name: "so do false, 0 and an empty text", give: `return await pipeline([false, 0, ''], n => n, n => String(n) + '!')`, want: `["false!","0!","!"]`},
		{name: "an item that is null skips all stages", give: `return await pipeline([null, undefined], n => n === undefined ? 'seen' : 'lost')`, want: `[null,"seen"]`},
		{name: "a stage that throws", give: `let later = 0; return [await pipeline([1, 2], n => { if (n === 1) throw new Error('no'); return n }, n => { later++; return n * 10 }), later, failures().map(f => f.kind)]`,
			want: `[[null,20],1,["script"]]`},
		{name: "a cap", give: `return await pipeline([1, 2], () => agent('spend:9'), () => agent('x'))`, start: Start{BudgetTokens: 5}, error: `budget Error`},
		{name: "a typo", give: `return await pipeline([1], () => nothere())`, error: `ReferenceError: nothere is not defined`},
		{name: "a typo ends the others before their next stage", give: `let later = 0; const e = await pipeline([1, 2], n => n === 1 ? Promise.resolve().then(() => nothere()) : agent('x @30'), () => { later++ }).catch(e => e.name); return [e, later, sa.list()[0].status]`,
			want: `["ReferenceError",0,"completed"]`},
		{name: "no list", give: `return await pipeline('x', n => n)`, error: `option TypeError: pipeline: wants a list of items, not a string`},
		{name: "a Set", give: `return await pipeline(new Set([1]), n => n)`, error: `option TypeError: pipeline: wants a list of items, not a Set; write [...x]`},
		{name: "a Map", give: `return await pipeline(new Map([[1, 2]]), n => n)`, error: `pipeline: wants a list of items, not a Map; write [...x]`},
		{name: "no function", give: `return await pipeline([1], n => n, 'x')`, error: `option TypeError: pipeline: stage 2 is a string, not a function`},
		{name: "too many", give: `return await pipeline(Array.from({length: 4097}), n => n)`, error: `limit Error: pipeline: 4097 items`},
	})
}

// statuses is how every agent ended, as more elements of a list.
const statuses = `, sa.list().map(a => a.status)`

func TestRace(t *testing.T) {
	t.Parallel()
	each(t, []performs{
		{name: "the first", give: `return [await race([() => agent('a @50'), () => agent('b @10'), () => agent('c @30')])` + statuses + `]`,
			want: `["did b @10",["cancelled","completed","cancelled"]]`},
		{name: "losers are awaited", give: `await race([() => agent('a @50'), () => agent('b @10')]); return sa.status('a1')`,
			want: `{"id":"a1","status":"cancelled","error":{"kind":"cancelled","message":"cancelled by the script"}}`},
		{name: "losers that end on their own", give: `return [await race([() => agent('deaf @50'), () => agent('b @10')])` + statuses + `]`,
			want: `["did b @10",["completed","completed"]]`},
		{name: "the first that is something", give: `return await race([() => agent('fail:killed x @5'), () => undefined, () => agent('b @10')])`, want: `"did b @10"`},
		{name: "the first that is accepted", give: `return [await race([() => agent('bad @5'), () => agent('good @10'), () => agent('good @50')], {accept: r => r.includes('good')})` + statuses + `]`,
			want: `["did good @10",["completed","completed","cancelled"]]`},
		{name: "accepted later", give: `return await race([() => agent('a @5'), () => agent('b @90')], {accept: async r => (await agent('fine? ' + r)).length > 0})`, want: `"did a @5"`},
		{name: "the first n", give: `return [await race([() => agent('a @50'), () => agent('b @10'), () => agent('c @30')], {n: 2})` + statuses + `]`,
			want: `[["did b @10","did c @30"],["cancelled","completed","completed"]]`},
		{name: "n of one is the winner itself", give: `return await race([() => agent('a')], {n: 1})`, want: `"did a"`},
		{name: "fewer than n", give: `return [await race([() => agent('a'), () => agent('fail:killed x')], {n: 2}), failures().map(f => f.kind)]`,
			want: `[["did a"],["killed","race"]]`},
		{name: "nobody", give: `phase('p'); return [await race([() => null, () => { throw new Error('no') }]), failures()]`,
			want: `[null,[{"phase":"p","kind":"script","message":"no (plan.js:1:59)"},{"phase":"p","kind":"race","message":"race: of 2 branches 0 gave what is acceptable, and 1 should"}]]`},
		{name: "of nothing", give: `return await race([])`, want: `null`},
		{name: "of a Set", give: `return await race(new Set([() => 3]))`, error: `option TypeError: race: wants a list or a plain object of functions, not a Set; write [...x]`},
		{name: "by key", give: `return await race({a: () => agent('a @50'), b: () => agent('b')})`, want: `"did b"`},
		{name: "a joined failure is no winner", give: `const go = p => async () => join(await run(p)); return (await race([go('fail:killed x @5'), go('b @30')])).output`,
			want: `"did b @30"`},
		{name: "nor a full one", give: `return (await race([() => agent('fail:killed x @5', {full: true}), () => agent('b @30', {full: true})])).output`, want: `"did b @30"`},
	})
}

func TestRaceEndsWhatLosersStarted(t *testing.T) {
	t.Parallel()
	each(t, []performs{
		{name: "what was started before", give: `return [await race([agent('a @50'), agent('b @10')])` + statuses + `]`,
			want: `["did b @10",["cancelled","completed"]]`},
		{name: "what was started before and is handed out", give: `const a = agent('a @50'); return [await race([() => a, () => agent('b @10')])` + statuses + `]`,
			want: `["did b @10",["cancelled","completed"]]`},
		{name: "what others started goes on", give: `const a = agent('a @50'); await race([() => agent('b @10'), async () => { await a; return null }]); return [sa.status('a1').status, await a]`,
			want: `["running","did a @50"]`},
		{name: "what was started after an await", give: `return [await race([async () => { await agent('a @5'); await null; return agent('b @90') }, () => agent('c @20')])` + statuses + `]`,
			want: `["did c @20",["completed","completed","cancelled"]]`},
		{name: "what was started in a then", give: `return [await race([() => agent('a @5').then(() => Promise.resolve()).then(() => agent('b @90')), () => agent('c @20')])` + statuses + `]`,
			want: `["did c @20",["completed","completed","cancelled"]]`},
		{name: "what was started by run and let go", give: `return [await race([async () => { await run('a @90'); return null }, () => agent('c @20')])` + statuses + `]`,
			want: `["did c @20",["cancelled","completed"]]`},
		{name: "what was started in a combinator", give: `return [await race([() => parallel([() => agent('a @90'), async () => { await agent('b @5'); return agent('c @90') }]), () => agent('d @20')])` + statuses + `]`,
			want: `["did d @20",["cancelled","completed","completed","cancelled"]]`},
		{name: "what a winner started goes on", give: `await race([async () => { await run('a @90'); return 1 }]); return sa.status('a1').status`, want: `"running"`},
		{name: "a loser begins nothing more", give: `const said = [];
			const loser = async () => { await agent('a @90'); said.push('went on'); try { await agent('b') } catch (e) { said.push(e.code, e.message) } };
			await race([loser, () => agent('c @20')]); await null; return [said` + statuses + `]`,
			want: `[["went on","policy","this branch has lost its race: it cannot start an agent"],["cancelled","completed"]]`},
		{name: "nor a landing, a check, a question, a workflow", give: `const said = [];
			const loser = async () => { await agent('a @90'); for (const f of [() => land([]), () => check('x'), () => ask('x'), () => workflow('x')]) await f().catch(e => said.push(e.code)) };
			await race([loser, () => agent('c @20')]); await agent('d'); return said`,
			want: `["policy","policy","policy","policy"]`},
		{name: "a loser in parallel is ended, not null", give: `const said = [];
			const loser = () => parallel([async () => { await agent('a @90'); return agent('b') }]).catch(e => { said.push(e.code) });
			await race([loser, () => agent('c @20')]); await agent('d'); return [said, failures().map(f => f.kind)]`,
			want: `[["policy"],["cancelled"]]`},
		{name: "within a race", give: `return [await race([() => race([() => agent('a @60'), () => agent('b @70')]), () => agent('c @20')])` + statuses + `]`,
			want: `["did c @20",["cancelled","cancelled","completed"]]`},
		{name: "within a race, and it wins", give: `return [await race([() => race([() => agent('a @60'), () => agent('b @10')]), () => agent('c @30')])` + statuses + `]`,
			want: `["did b @10",["cancelled","completed","cancelled"]]`},
		{name: "after a race everything starts again", give: `await race([() => agent('a @50'), () => agent('b')]); return await agent('c')`, want: `"did c"`},
	})
}

func TestRaceErrors(t *testing.T) {
	t.Parallel()
	each(t, []performs{
		{name: "a typo", give: `const e = await race([async () => { await null; nothere() }, () => agent('b @50')]).catch(e => e.name); return [e` + statuses + `]`,
			want: `["ReferenceError",["cancelled"]]`},
		{name: "a typo in accept", give: `return await race([() => agent('a')], {accept: () => nothere()})`, error: `ReferenceError: nothere`},
		{name: "a cap", give: `await agent('spend:9'); return await race([() => agent('a')])`, start: Start{BudgetTokens: 5}, error: `budget Error`},
		{name: "an error of a loser is nobody's", give: `await race([async () => { await agent('a @90'); throw new Error('too late') }, () => agent('b')]); return failures().map(f => f.kind)`, want: `["cancelled"]`},
		{name: "values", give: `return await race([1])`, error: `option TypeError: race: item 0 is a number, not a function`},
		{name: "a bad n", give: `return await race([], {n: 0})`, error: `race: n must be a whole number from 1 to 4096, not 0`},
		{name: "a bad accept", give: `return await race([], {accept: 1})`, error: `race: accept must be a function, not a number`},
		{name: "an unknown option", give: `return await race([], {acept: 1})`, error: `did you mean "accept"?`},
		{name: "too many", give: `return await race(Array.from({length: 4097}, () => () => 1))`, error: `limit Error: race: 4097 items`},
	})
}

func TestRaceCancelsOnce(t *testing.T) {
	t.Parallel()
	d := &desk{}
	perform(t, d, `await race([agent('a @50'), () => agent('b')])`)
	if got, want := d.lines("cancel"), []string{`{"id":"a1","reason":"its race was lost"}`}; !slices.Equal(got, want) {
		t.Errorf("cancelled %q, want %q", got, want)
	}
}

func TestManyAgents(t *testing.T) {
	t.Parallel()
	d := &desk{}
	out := perform(t, d, `return (await parallel(Array.from({length: 1000}, (_, i) => () => agent('w' + i)))).filter(r => r).length`)
	if string(out.Value) != "1000" {
		t.Errorf("Run gave %s and %v", out.Value, out.Error)
	}
}

func BenchmarkCalls(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			text := strings.Replace(`for (let i = 0; i < N; i += 1000) await parallel(Array.from({length: 1000}, (_, k) => () => agent('w' + i + k)))`, "N", fmt.Sprint(n), 1)
			for b.Loop() {
				d := &desk{}
				d.next = func(context.Context) (Delivery, error) {
					e := d.due[0]
					d.due = d.due[1:]
					return e.Delivery, nil
				}
				if out := Run(b.Context(), Start{Source: Source{Name: "plan.js", Text: text}}, d); out.Error != nil {
					b.Fatal(out.Error)
				}
			}
		})
	}
}
