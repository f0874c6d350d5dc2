package script

import "testing"

func TestCountAgents(t *testing.T) {
	t.Parallel()
	const none = -1 // no bound
	for _, tt := range []struct {
		name, give string
		want       int
	}{
		{"nothing", ``, 0},
		{"one", `return agent('x')`, 1},
		{"all three ways", `await agent('x'); const h = await sa.run({prompt: 'y'}); run('z')`, 3},
		{"both branches", `if (args) { await agent('x') } else { await agent('y') }`, 2},
		{"a loop", `for (const x of args) await agent(x)`, none},
		{"other loops", `for (let i = 0; i < 3; i++) { await agent('x') }`, none},
		{"while", `while (await agent('x')) {}`, none},
		{"what a loop goes over", `for (const x of await agent('x')) log(x)`, 1},
		{"a loop without agents", `for (const x of args) log(x); await agent('x')`, 1},
		{"a callback", `await Promise.all(args.map((x) => agent(x)))`, none},
		{"a function", `const f = () => agent('x'); await f()`, none},
		{"a method", `class A { go() { return agent('x') } }`, none},
		{"thunks", `await parallel([() => agent('x'), async () => { await agent('y') }])`, 2},
		{"keyed thunks", `await parallel({ a: () => agent('x'), b: () => agent('y') }, { concurrency: 1 })`, 2},
		{"a race", `await race([() => agent('x'), agent('y')], { accept: (v) => v })`, 2},
		{"a race that is judged by agents", `await race([() => agent('x')], { accept: (v) => agent(v) })`, none},
		{"thunks in a loop", `for (;;) await parallel([() => agent('x')])`, none},
		{"thunks that were made", `await parallel(args.map((x) => () => agent(x)))`, none},
		{"a thunk by name", `const f = () => agent('x'); await parallel([f])`, none},
		{"spread thunks", `await parallel([...args.map((x) => () => agent(x))])`, none},
		{"stages", `await pipeline(args, (x) => agent(x))`, none},
		{"called where it is written", `await (async () => { await agent('x') })()`, 1},
		{"handed on", `await parallel(args.map(agent))`, none},
		{"another name", `const a = agent; await a('x')`, none},
		{"another name of the object", `const { run: go } = sa; await go('x')`, none},
		{"by brackets", `await sa['run']('x')`, none},
		{"through call", `await agent.call(null, 'x')`, none},
		{"through the global object", `await globalThis.agent('x')`, none},
		{"through this", `await this.agent('x')`, none},
		{"through eval", `await eval('agent')('x')`, none},
		{"optional", `await agent?.('x')`, none},
		{"a workflow", `await workflow('w')`, none},
		{"the library", `await lib.work.go()`, none},
		{"its own run", `const run = await sa.run({prompt: 'x'}); return sa.join(run.id)`, 1},
		{"its own run in a block", `{ const run = 1; log(run) } await run('x')`, 1},
		{"its own agent", `for (const agent of sa.list()) log(agent.id)`, 0},
		{"its own parameter", `args.map((agent) => agent.id)`, 0},
		{"its own by destructuring", `const [{ agent, x: [std] }, ...run] = args; log(agent, std, run)`, 0},
		{"its own caught", `try { log(1) } catch (agent) { log(agent) }`, 0},
		{"a member of its own", `const o = { agent: 1, run() {} }; o.agent; o.run()`, 0},
		{"other handles", `const h = sa.run('x'); await sa.join((await h).id); sa.list(); sa.cancel('a1')`, 1},
		{"verify", `await std.verify('x')`, 3},
		{"verify with voters", `await std.verify('x', { voters: 7, label: 'l' })`, 7},
		{"verify with a number unknown", `await std.verify('x', { voters: args })`, none},
		{"verify with options unknown", `await std.verify('x', args)`, none},
		{"verify with a spread", `await std.verify('x', { ...args })`, none},
		{"verify in a loop", `for (const x of args) await std.verify(x)`, none},
		{"judge", `await std.judge(args, { criteria: 'x' })`, 3},
		{"critic", `await std.critic('x', { rounds: 3 })`, 5},
		{"until dry", `await std.untilDry((n) => agent('x' + n))`, none},
		{"a worst case asked for", `log(std.verify.worst())`, 0},
		{"an agent for a strategy", `await std.verify(await agent('x'))`, 4},
		{"meta", "export const meta = { name: 'agent', description: 'run' }\nawait agent('x')", 1},
		{"in words", "log('agent(1)', `run(${args})`) // agent()", 0},
		{"within words", "log(`${await agent('x')}`)", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, bounded := CountAgents(Source{Name: "x.js", Text: tt.give})
			if !bounded {
				got = none
			}
			if got != tt.want {
				t.Errorf("CountAgents() = %d, want %d (-1: no bound)", got, tt.want)
			}
		})
	}
}

// FuzzCountAgents: no text makes the count fail, and none is negative.
func FuzzCountAgents(f *testing.F) {
	f.Add("await parallel([() => agent('x')]); class A { static { agent() } }")
	f.Add("label: for (const [a, ...{ b }] of c) { switch (d) { case agent: break label } }")
	f.Fuzz(func(t *testing.T, text string) {
		if n, _ := CountAgents(Source{Text: text}); n < 0 {
			t.Errorf("CountAgents() = %d", n)
		}
	})
}
