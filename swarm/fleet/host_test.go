package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"agentswarm/swarm/script"
)

// played runs a script against a case, given as TOML without its header. It
// returns the result, or the error that the script threw.
func played(t *testing.T, toml, code string) string {
	t.Helper()
	if !strings.Contains(toml, "case.expect") {
		toml += "\n[case.expect]\nmax_agents = 1000\n"
	}
	suite, err := Read("x.test.toml", []byte("[[case]]\nname = \"x\"\n"+toml))
	if err != nil {
		t.Fatal(err)
	}
	c := suite.Cases[0]
	host := NewHost(c, Options{MaxAgents: 5})
	out, err := Direct(t.Context(), script.Start{
		Source: script.Source{Name: "x.js", Text: code}, Args: c.Args, BudgetTokens: c.Budget,
	}, host)
	switch {
	case err != nil:
		t.Fatal(err)
	case host.Err() != nil:
		return "broken: " + host.Err().Error()
	case out.Error != nil:
		return string(out.Error.Code) + ": " + out.Error.Message
	}
	return string(out.Value)
}

const twoFiles = `
repo.files = { "a.txt" = "one\ntwo\n", "b.txt" = "b\n" }
[[case.agent]]
label = "a"
files = { "a.txt" = "one\n2\n" }
[[case.agent]]
label = "a2"
files = { "a.txt" = "ONE\n2\n" }
[[case.agent]]
label = "b"
files = { "b.txt" = "B\n", "c/new.txt" = "" }
[[case.agent]]
label = "gone"
removes = ["b.txt"]
[[case.agent]]
label = "same"
files = { "b.txt" = "b\n" }
`

func TestPatches(t *testing.T) {
	t.Parallel()
	const begin = "const of = (label, base) => agent('p', { label, full: true, base });\n"
	for _, tt := range []struct{ name, give, want string }{
		{"a patch says what it changed", `
			const { patch } = await of('b'); return [patch.files, patch.stat, patch.id.length, patch.base.length];`,
			`[["b.txt","c/new.txt"],{"files":2,"added":1,"deleted":1},40,40]`},
		{"its text is a diff", `return (await of('a')).patch.text();`,
			`"diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -2,1 +2,1 @@\n-two\n+2\n"`},
		{"of new and removed files too", `return [(await of('b')).patch.text(), (await of('gone')).patch.text()].join('|');`,
			`"diff --git a/b.txt b/b.txt\n--- a/b.txt\n+++ b/b.txt\n@@ -1,1 +1,1 @@\n-b\n+B\n` +
				`diff --git a/c/new.txt b/c/new.txt\nnew file mode 100644\n|` +
				`diff --git a/b.txt b/b.txt\ndeleted file mode 100644\n--- a/b.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-b\n"`},
		{"no change is no patch", `return (await of('same')).patch;`, ``},
		{"patches of other files merge", `
			const all = [await of('a'), await of('b'), await of('same')];
			const m = await merge(all); return [m.applied.length, m.conflicts.length, m.tree.length];`, `[2,0,40]`},
		{"the same file conflicts, and the later one is left out", `
			const [a, a2, b] = [await of('a'), await of('a2'), await of('b')];
			const m = await merge([a, a2, b]);
			return [m.applied.length, m.conflicts.map((c) => [c.patch === a2.patch.id, c.with[0] === a.patch.id, c.paths])];`,
			`[2,[[true,true,["a.txt"]]]]`},
		{"the same change merges twice", `
			const m = await merge([await of('a'), await of('a')]); return [m.applied.length, m.conflicts.length];`, `[2,0]`},
		{"a change of a removed file conflicts", `
			const m = await merge([await of('gone'), await of('b')]); return m.conflicts[0].paths;`, `["b.txt"]`},
		{"an agent builds on a merge", `
			const m = await merge([await of('a')]); const a2 = await of('a2', m);
			return [a2.patch.base === m.tree, a2.patch.stat.added, (await merge([a2], { onto: m })).conflicts.length,
				(await merge([a2])).conflicts.length];`, `[true,1,0,1]`},
		{"an agent builds on a patch", `
			const a = await of('a'); const a2 = await of('a2', a);
			return [a2.patch.base === a.patch.id, (await merge([a, a2])).conflicts.length];`, `[true,0]`},
		{"a base that there is none of", `return of('a', 'nowhere');`, `unknown: there is no tree or patch "nowhere"`},
		{"a patch that there is none of", `return merge(['nowhere']);`, `unknown: there is no patch "nowhere"`},
		{"all land or none", `
			const [a, a2] = [await of('a'), await of('a2')];
			const l = await land([a, a2]); return [l.landed, l.reason, l.applied, l.conflicts.length, l.ref];`,
			`[false,"patches conflict",[],1,"refs/heads/main"]`},
		{"what landed is there for the next", `
			const a = await of('a'); const first = await land([a]); const again = await land([a]);
			const other = await land([a], { into: 'side' });
			return [first.landed, again.landed, again.reason, other.landed, other.ref];`,
			`[true,false,"refs/heads/main holds all of it already",true,"refs/heads/side"]`},
		{"two patches of an agent do not land", `
			const a = await of('a'); return land([a, a]);`, `option: land: two patches of a1 are named, and each holds all of its work`},
		{"nothing does not land", `return land([]);`, `option: land: no patches are given`},
		{"the shared workspace sees what was done", `
			const in1 = (label) => agent('p', { label, full: true, isolation: 'shared' });
			const a = await in1('a'); const a2 = await in1('a2');
			return [a2.patch.base === a.patch.id, a2.patch.stat];`, `[true,{"files":1,"added":1,"deleted":1}]`},
		{"and begins nowhere else", `return agent('p', { label: 'a', isolation: 'shared', base: 'base' });`,
			`option: base: an agent in the shared workspace starts from what is there`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := strings.Replace(tt.want, "refs/heads/main holds", "main holds", 1)
			if got := played(t, twoFiles, begin+tt.give); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestHost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, toml, give, want string }{
		{"agents end in the order of their ticks", `
			agent = [{ match = "one", reply = "1", delay = 3 }, { match = "two", reply = "2", delay = 1 }, { reply = "3" }]`, `
			const ends = []; const go = async (p) => { ends.push(await agent(p)); };
			await Promise.all([go('one'), go('two'), go('three')]); return ends;`, `["3","2","1"]`},
		{"the first entry that matches answers, as often as it may", `
			agent = [{ match = "/^p/", times = 2, reply = "first" }, { reply = "rest" }]`, `
			return [await agent('p'), await agent('q'), await agent('p'), await agent('p')];`, `["first","rest","first","rest"]`},
		{"what nothing answers ends the case", ``, `try { return await agent('do it', { label: 'L' }); } catch { return 1; }`,
			`broken: no [[case.agent]] answers a1 labelled "L": "do it"`},
		{"so does a check", ``, `return check('test');`, `broken: no [[case.check]] answers "test" on base`},
		{"and the check of a landing", `agent = [{ files = { a = "b" } }]`,
			`return land([await agent('p', { full: true })], { verify: 'test' });`,
			`broken: no [[case.check]] answers "test" on merged, which a landing is verified by`},
		{"and a question", ``, `return ask('go on?');`, `broken: no [[case.answer]] answers "go on?"`},
		{"a failure is a result", `agent = [{ fail = { kind = "quota", message = "none left" } }]`, `
			const r = await agent('p', { full: true, label: 'l', phase: 'f' });
			return [r, await agent('p'), failures().length];`,
			`[{"id":"a1","status":"failed","label":"l","phase":"f","error":{"kind":"quota","message":"none left"},"usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"costUsd":0}},null,2]`},
		{"a cancelled one is cancelled", `agent = [{ fail = { kind = "stopped", message = "with its run" } }]`,
			`return (await agent('p', { full: true })).status;`, `"cancelled"`},
		{"a failed agent keeps its patch", `agent = [{ fail = { kind = "timeout", message = "" }, files = { a = "b" } }]`,
			`return (await agent('p', { full: true })).patch.files;`, `["a"]`},
		{"cancel ends an agent now", `agent = [{ reply = "late", delay = 100, files = { a = "b" } }]`, `
			const h = await run('p'); const r = await cancel(h, 'enough'); const again = await cancel(h);
			return [r.status, r.error, r.patch, again.status];`,
			`["cancelled",{"kind":"cancelled","message":"enough"},null,"cancelled"]`},
		{"a time-out fires before a later end and not after an earlier one", `agent = [{ reply = "x", delay = 100 }]`, `
			const h = await run('p'); const out = [];
			for (const timeout of [99, 100]) out.push(await join(h, { timeout }).then((r) => r.output, (e) => e.code));
			return out;`, `["timeout","x"]`},
		{"a limit of time ends an agent", `agent = [{ reply = "x", delay = 100 }]`, `
			const r = await agent('p', { full: true, limits: { ms: 99 } }); return [r.error, await agent('p', { limits: { ms: 100 } })];`,
			`[{"kind":"timeout","message":"ran longer than 99 ms"},"x"]`},
		{"a schema takes a reply that is JSON", `agent = [{ reply = '{"n": 1}' }]`,
			`return agent('p', { schema: { type: 'object', required: ['n'] } });`, `{"n":1}`},
		{"and refuses what does not fit", `agent = [{ structured = { m = 1 } }]`,
			`return agent('p', { schema: { type: 'object', required: ['n'] } });`, `schema: at '': missing property 'n'`},
		{"and what is no JSON", `agent = [{ reply = "words" }]`,
			`return agent('p', { schema: { type: 'object' } }).catch((e) => e.code);`, `"schema"`},
		{"a structured answer without a schema is text", `agent = [{ structured = { m = 1 } }]`,
			`return agent('p');`, `"{\"m\":1}"`},
		{"a schema that is none is refused", `agent = [{ reply = "" }]`,
			`return agent('p', { schema: { type: 'objekt' } }).catch((e) => e.code);`, `"option"`},
		{"a schema fetches nothing", `agent = [{ reply = "" }]`,
			`return agent('p', { schema: { $ref: 'file:///etc/hostname' } }).catch((e) => e.code);`, `"option"`},
		{"more agents than allowed are refused", `agent = [{ reply = "x" }]`,
			`for (let i = 0; ; i++) await agent('p' + i);`, `limit: the script has made the 5 calls that a run may make (--max-agents)`},
		{"a spent budget refuses", "budget_tokens = 100\nagent = [{ reply = \"x\", tokens = 60 }]", `
			await agent('1'); await agent('2'); const left = budget.remaining();
			return agent('3').catch((e) => [e.code, budget.spent(), budget.total, left]);`, `["budget",120,100,0]`},
		{"checks are told apart by where they run", `
			agent = [{ label = "l", files = { a = "b" } }]
			check = [
				{ match = "t", on = "base", ok = false, stderr = "E" }, { match = "t", on = "merged", ok = true, stdout = "M" },
				{ match = "t", on = "a1", times = 1, ok = false, exit_code = 9 }, { match = "t", on = "l", ok = true },
			]`, `
			const r = await agent('p', { label: 'l', full: true });
			const base = await check('t'); const one = await check('t', { on: r }); const two = await check('t', { on: r.patch });
			const m = await check('t', { on: await merge([r]) });
			return [base, one.exitCode, two.ok, m.stdout];`,
			`[{"ok":false,"exitCode":1,"stdout":"","stderr":"E"},9,true,"M"]`},
		{"a command of the script's own is known by its words", `
			check = [{ match = "go vet", ok = true }]`, `return (await check(['go', 'vet', './...'])).ok;`, `true`},
		{"a check on what is not there", ``, `return check('t', { on: 'nowhere' });`, `unknown: there is no tree or patch "nowhere"`},
		{"a landing is verified", `
			agent = [{ files = { a = "b" } }]
			check = [{ match = "t", ok = false, exit_code = 3, times = 1 }, { match = "t", ok = true }]`, `
			const r = await agent('p', { full: true });
			const no = await land(r, { verify: 't' }); const yes = await land(r, { verify: 't' });
			return [no.landed, no.verified, no.reason, yes.landed, yes.verified];`,
			`[false,false,"check t failed: exit status 3",true,true]`},
		{"a person answers in time", `answer = [{ match = "sure?", answer = "yes", delay = 50 }]`,
			`return ask('sure?', { choices: ['yes', 'no'], timeout: 50 });`, `"yes"`},
		{"or the default holds", `answer = [{ match = "sure?", answer = "yes", delay = 51 }]`,
			`return ask('sure?', { choices: ['yes', 'no'], default: 'no', timeout: 50 });`, `"no"`},
		{"or it rejects", ``, `return ask('sure?', { timeout: 50 });`, `timeout: no answer came within 50 ms`},
		{"an answer is one of the choices", `answer = [{ answer = "maybe" }]`, `return ask('sure?', { choices: ['yes'] });`,
			`broken: the answer of line 3, "maybe", is none of yes`},
		{"a word reaches who is at work", `agent = [{ reply = "x", delay = 5 }]`, `
			const h = await run('p'); const before = await sa.send(h, 'hurry'); await join(h);
			return [before, await sa.send(h, 'hurry')];`, `[{"delivered":true},{"delivered":false}]`},
		{"the base is read", `
			[case.repo]
			files = { "a/x.go" = "one\ntwo\n", "a/y.md" = "two", "z.go" = "" }
			commits = [{ subject = "s", files = ["a/x.go"] }, { subject = "older", author = "A", date = "2026-01-02T03:04:05Z" }]`, `
			const log = await repo.log();
			return [await repo.files('**/*.go'), await repo.files(), await repo.read('a/x.go'), await repo.grep('^tw', 'a/**'),
				log.map((c) => [c.commit.length, c.subject, c.files]), (await repo.log({ path: 'a' })).length, (await repo.log({ max: 1 })).length];`,
			`[["a/x.go","z.go"],["a/x.go","a/y.md","z.go"],"one\ntwo\n",[{"path":"a/x.go","line":2,"text":"two"},{"path":"a/y.md","line":1,"text":"two"}],[[40,"s",["a/x.go"]],[40,"older",[]]],1,1]`},
		{"what it has not is unknown", ``, `return repo.read('none');`, `unknown: repo.read: there is no file "none" in the base`},
		{"a glob that is none", ``, `return repo.files('[').catch((e) => e.code);`, `"option"`},
		{"a pattern that is none", ``, `return repo.grep('(').catch((e) => e.code);`, `"option"`},
		{"there is no other workflow", ``, `return workflow('w');`, `unknown: there is no workflow "w"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := played(t, tt.toml, tt.give); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestPlayedTwice: the same script and case give the same requests' answers.
func TestPlayedTwice(t *testing.T) {
	t.Parallel()
	code := `const all = await parallel(['a', 'a2', 'b', 'gone'].map((label) => () => agent('p', { label, full: true })));
		return [all, await merge(all), await land([all[0]])];`
	first := played(t, twoFiles, code)
	for range 5 {
		if again := played(t, twoFiles, code); again != first {
			t.Fatalf("got  %s\nthen %s", first, again)
		}
	}
}

// TestHostRefuses: a request that a script cannot make is an error of the
// runner.
func TestHostRefuses(t *testing.T) {
	t.Parallel()
	h := NewHost(&Case{}, Options{})
	if _, err := h.Do(t.Context(), &script.Log{}); err == nil {
		t.Error("Do(log) = nil, want an error")
	}
	if err := NewHost(&Case{}, Options{}).Post(1, &script.Call{}); err == nil {
		t.Error("Post(call) = nil, want an error")
	}
	var e *script.Error
	if _, err := NewHost(&Case{}, Options{}).Next(t.Context()); !errors.As(err, &e) || e.Code != script.CodeStuck {
		t.Errorf("Next with nothing due = %v, want %s", err, script.CodeStuck)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	if _, err := NewHost(&Case{}, Options{}).Next(ctx); !errors.Is(err, cause) {
		t.Errorf("Next of an ended context = %v, want %v", err, cause)
	}
}

func TestNested(t *testing.T) {
	t.Parallel()
	host := NewHost(&Case{Agents: []*Agent{{Ending: &Reply{Text: "inner"}}}}, Options{
		Nested: func(n *script.Nested) (script.Source, error) {
			return script.Source{Name: n.Name + ".js", Text: "return [args, await agent('p')]"}, nil
		},
	})
	out, err := Direct(t.Context(), script.Start{
		Source: script.Source{Name: "x.js", Text: "return workflow('other', { n: 1 })"},
	}, host)
	if err != nil || out.Error != nil || string(out.Value) != `[{"n":1},"inner"]` {
		t.Errorf("got %s, %v, %v", out.Value, out.Error, err)
	}
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, want, got string
		say             []string
	}{
		{"alike", `{"a":[1,{"b":null}]}`, `{"a":[1.0,{"b":null}]}`, nil},
		{"undefined", `1`, ``, []string{"result: got undefined, want 1"}},
		{"another value", `{"a":[1,2]}`, `{"a":[1,3]}`, []string{"result.a[1]: got 3, want 2"}},
		{"another kind", `{"a":[]}`, `{"a":{}}`, []string{"result.a: got {}, want []"}},
		{"keys", `{"a":1,"b":2}`, `{"b":2,"c":3}`, []string{"result.a: is missing, want 1", "result.c: is not expected, got 3"}},
		{"lengths", `[1,2,3]`, `[1,9]`, []string{"result: has 2 items, want 3", "result[1]: got 9, want 2"}},
		{"too many", `[0,0,0,0,0,0,0,0]`, `[1,1,1,1,1,1,1,1]`, []string{
			"result[0]: got 1, want 0", "result[1]: got 1, want 0", "result[2]: got 1, want 0",
			"result[3]: got 1, want 0", "result[4]: got 1, want 0", "… and more",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := differences(json.RawMessage(tt.want), json.RawMessage(tt.got))
			if err != nil || strings.Join(got, "\n") != strings.Join(tt.say, "\n") {
				t.Errorf("differences = %q, %v, want %q", got, err, tt.say)
			}
		})
	}
}
