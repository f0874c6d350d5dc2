package script

import (
	"encoding/json"
	"testing"
)

func TestPatches(t *testing.T) {
	t.Parallel()
	const two = `const [a, b] = await Promise.all([agent('change', {full: true}), agent('change', {full: true})]); `
	each(t, []performs{
		{name: "a patch", give: `const {patch} = await agent('change', {full: true}); return [patch, patch.text()]`,
			want: `[{"id":"pa1","base":"b0","files":["f"],"stat":{"files":1,"added":2,"deleted":3}},"diff of pa1\n"]`},
		{name: "no patch", give: `return 'patch' in await agent('x', {full: true})`, want: `false`},
		{name: "its text is no part of it", give: `const {patch} = await agent('change', {full: true}); return [Object.keys(patch), JSON.stringify(patch).includes('text')]`,
			want: `[["id","base","files","stat"],false]`},
		{name: "merge patches", give: two + `return await merge([a.patch, b.patch])`, want: `{"tree":"tree-pa1+pa2","applied":["pa1","pa2"],"conflicts":[]}`},
		{name: "merge results, ids and nothing", give: two + `const none = await agent('x', {full: true}); return (await merge([a, null, 'pa2', none, undefined])).applied`,
			want: `["pa1","pa2"]`},
		{name: "merge one", give: two + `return (await merge(b)).applied`, want: `["pa2"]`},
		{name: "merge none", give: `return (await merge([null])).applied`, want: `[]`},
		{name: "merge onto", give: two + `const m = await merge([a]); await merge([b], {onto: m}); await merge([b], {onto: a.patch}); await merge([b], {onto: 'main'})`,
			asked: []string{`call {"prompt":"change"}`, `call {"prompt":"change"}`, `merge {"patches":["pa1"]}`, `merge {"patches":["pa2"],"onto":"tree-pa1"}`,
				`merge {"patches":["pa2"],"onto":"pa1"}`, `merge {"patches":["pa2"],"onto":"main"}`}},
		{name: "the next from a merge", give: two + `const m = await merge([a, b]); await agent('x', {base: m}); await agent('x', {base: m.tree}); return sa.list().length`, want: `4`},
		{name: "merge nothing", give: `await merge()`, error: `option TypeError: merge: wants a list of patches, not undefined`},
		{name: "merge text answers", give: `await merge([7])`, error: `option TypeError: merge: item 0 must be a patch, a result or an id, not a number`},
		{name: "merge a handle", give: `await merge([await run('x')])`, error: `merge: item 0 must be a patch, a result or an id`},
		{name: "merge a promise", give: `await merge([agent('change', {full: true})])`, error: `merge: item 0 must be a patch, a result or an id, not a promise (an await is missing)`},
		{name: "merge with an unknown option", give: `await merge([], {ono: 'x'})`, error: `did you mean "onto"?`},
		{name: "land", give: two + `return await land([a, b], {into: 'main', verify: 'test'})`,
			want:  `{"landed":true,"ref":"main","applied":[],"conflicts":[]}`,
			asked: []string{`call {"prompt":"change"}`, `call {"prompt":"change"}`, `land {"patches":["pa1","pa2"],"into":"main","verify":"test"}`}},
		{name: "land where we are", give: two + `await land(a)`, asked: []string{`call {"prompt":"change"}`, `call {"prompt":"change"}`, `land {"patches":["pa1"]}`}},
		{name: "land with a command", give: `await land([], {verify: ['go', 'test']})`, error: `land: verify must be a string, not an array`},
	})
}

func TestCheck(t *testing.T) {
	t.Parallel()
	each(t, []performs{
		{name: "by name", give: `return await check('test')`, want: `{"ok":true,"exitCode":0,"stdout":"","stderr":""}`, asked: []string{`check {"name":"test"}`}},
		{name: "a command", give: `return (await check(['go', 'test'], {timeout: 500})).ok`, want: `true`, asked: []string{`check {"argv":["go","test"],"ms":500}`}},
		{name: "on a patch", give: `await check('t', {on: {id: 'p1', base: 'b'}})`, asked: []string{`check {"name":"t","on":"p1"}`}},
		{name: "on a tree", give: `await check('t', {on: {tree: 't1'}})`, asked: []string{`check {"name":"t","on":"t1"}`}},
		{name: "on the base", give: `await check('t', {on: 'base'})`, asked: []string{`check {"name":"t"}`}},
		{name: "nothing", give: `await check()`, error: `option TypeError: check: the command must be a list of strings, not undefined`},
		{name: "no words", give: `await check([])`, error: `check: the command must have from 1`},
		{name: "an unknown option", give: `await check('t', {base: 'x'})`, error: `check: unknown option "base"`},
	})
}

func TestAsk(t *testing.T) {
	t.Parallel()
	each(t, []performs{
		{name: "a question", give: `return await ask('well?')`, want: `"yes"`, asked: []string{`question {"text":"well?"}`}},
		{name: "with all", give: `return await ask('well?', {choices: ['yes', 'no'], default: 'no', timeout: 1000})`,
			want: `"yes"`, asked: []string{`question {"text":"well?","choices":["yes","no"],"default":"no","ms":1000}`}},
		{name: "a default that is empty", give: `return await ask('well?', {default: ''})`, want: `"yes"`, asked: []string{`question {"text":"well?","default":""}`}},
		{name: "nothing", give: `await ask()`, error: `option TypeError: ask: the question must be a string`},
		{name: "a default that is no choice", give: `await ask('x', {choices: ['a'], default: 'b'})`, error: `ask: default "b" is none of the choices`},
		{name: "choices that are no words", give: `await ask('x', {choices: [1]})`, error: `ask: choices[0] must be a string`},
		{name: "a time that is none", give: `await ask('x', {timeout: -1})`, error: `ask: timeout must be a whole number from 1 to`},
	})
}

func TestRepo(t *testing.T) {
	t.Parallel()
	each(t, []performs{
		{name: "files", give: `return [await repo.files('**/*.go'), await repo.files()]`, want: `[["files"],["files"]]`,
			asked: []string{`repo {"what":"files","glob":"**/*.go"}`, `repo {"what":"files","glob":"**"}`}},
		{name: "read", give: `await repo.read('a.txt')`, asked: []string{`repo {"what":"read","path":"a.txt"}`}},
		{name: "grep", give: `await repo.grep('a+'); await repo.grep('b', '*.go')`,
			asked: []string{`repo {"what":"grep","pattern":"a+"}`, `repo {"what":"grep","glob":"*.go","pattern":"b"}`}},
		{name: "log", give: `await repo.log(); await repo.log({path: 'a', max: 5})`,
			asked: []string{`repo {"what":"log"}`, `repo {"what":"log","path":"a","max":5}`}},
		{name: "are promises", give: `return [repo.files('x'), repo.read('x'), repo.grep('x'), repo.log()].every(p => p instanceof Promise)`, want: `true`},
		{name: "read nothing", give: `await repo.read()`, error: `option TypeError: repo.read: the path must be a string`},
		{name: "grep for an expression", give: `await repo.grep(/x/)`, error: `repo.grep: the pattern must be a string`},
		{name: "log with an unknown option", give: `await repo.log({n: 5})`, error: `repo.log: unknown option "n"`},
		{name: "log too much", give: `await repo.log({max: 5000})`, error: `repo.log: max must be a whole number from 1 to 1000`},
	})
}

// An answer that is an error is thrown in the script, at the place of its
// request.
func TestAnswersThatAreErrors(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"check('t')", "land([])", "ask('x')", "sa.send('a1', 'x')"} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			d := &desk{answer: func(r Request) *Delivery {
				if !Answered(r) {
					return nil
				}
				return &Delivery{Error: &Error{Name: "Error", Code: CodeTimeout, Message: "nobody answered"}}
			}}
			out := perform(t, d, "run('x')\n  const p = "+call+"\n  await p")
			want := Error{Name: "Error", Code: CodeTimeout, Message: "nobody answered", Where: "plan.js:2:13", Line: "  const p = " + call}
			if call[:3] == "sa." {
				want.Where = "plan.js:2:16"
			}
			if out.Error == nil || *out.Error != want {
				t.Errorf("Run ended with %+v, want %+v", out.Error, want)
			}
		})
	}
}

func TestAnswersOutOfOrder(t *testing.T) {
	t.Parallel()
	d := &desk{}
	d.answer = func(r Request) *Delivery {
		if q, ok := r.(*Question); ok {
			text, _ := json.Marshal("to " + q.Text)
			return &Delivery{Value: text}
		}
		return nil
	}
	out := perform(t, d, `const order = [];
		const a = ask('a').then(v => order.push(v)), c = check('t').then(() => order.push('check')), b = ask('b').then(v => order.push(v));
		await Promise.all([a, b, c]); return order`)
	if want := `["to a","check","to b"]`; string(out.Value) != want {
		t.Errorf("Run gave %s and %v, want %s", out.Value, out.Error, want)
	}
}
