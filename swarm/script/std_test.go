package script

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/dop251/goja"

	told "agentswarm/swarm/stage"
)

// library is the environment of std in these tests. `agent` answers by a
// function that each test gives and records its calls; the rest is as plain.
const library = `
const calls = [];
let answer = () => null;
const fault = (code) => Object.assign(new Error(code + '!'), { code });
const api = {
  agent: async (prompt, opts) => {
    calls.push({ prompt, opts });
    return answer(calls.length, prompt, opts);
  },
  parallel: async (thunks, opts) => {
    calls.parallel = opts;
    let refused;
    const out = await Promise.all(thunks.map(async (t) => {
      try {
        return await t();
      } catch (e) {
        if (['budget', 'limit', 'option'].includes(e.code) || e instanceof TypeError) refused ??= e;
        return null;
      }
    }));
    if (refused) throw refused;
    return out;
  },
  pipeline() {}, race() {}, log: (text) => { calls.logs = [...(calls.logs ?? []), text]; }, phase() {}, failures() {},
  sa: {
    evidence: async (work, opts) => {
      calls.evidence = [...(calls.evidence ?? []), opts];
      return { text: 'EVIDENCE', steps: work.steps ?? [], files: [] };
    },
    appraise: (works, verdict) => { calls.appraised = [works.length, verdict]; },
  },
};
const std = STD(api, STAGES, PARTS, (r) => JSON.parse(REVIEW(JSON.stringify(r))));
`

// onStage runs a body, the inside of an async function. It returns the value as
// JSON, or the thrown error as name, code and message.
func onStage(t *testing.T, body string) string {
	t.Helper()
	parts, err := json.Marshal(told.Parts())
	if err != nil {
		t.Fatal(err)
	}
	program := "(() => { 'use strict'; const STD = " + strings.TrimSpace(stdSource) + ";\nconst STAGES = " + strings.TrimSpace(stagesSource) +
		";\nconst PARTS = " + string(parts) + ";\n" + library +
		"return (async () => {" + body + "})().then((v) => JSON.stringify(v)," +
		" (e) => `${e.name} ${e.code ?? '-'}: ${e.message}`); })()"
	rt := goja.New()
	if err := rt.Set("REVIEW", func(text string) (string, error) {
		var r told.Review
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			return "", err
		}
		prompt, brief := r.Ask()
		asked, err := json.Marshal(map[string]any{"prompt": prompt, "brief": brief, "schema": told.Verdict()})
		return string(asked), err
	}); err != nil {
		t.Fatal(err)
	}
	v, err := rt.RunString(program)
	if err != nil {
		t.Fatal(err)
	}
	p, ok := v.Export().(*goja.Promise)
	if !ok || p.State() != goja.PromiseStateFulfilled {
		t.Fatalf("the body did not end: %v", v)
	}
	return p.Result().String()
}

func TestStd(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, give, want string }{
		// stages
		{"each stage is told its own words and no others", `
			answer = (n) => ({ status: 'completed', output: 'PLAN', patch: n === 2 ? { id: 'p', base: 'b' } : undefined,
				structured: n === 3 ? { pass: true, problems: [] } : undefined, id: 'a' + n });
			const r = await std.stages('do it\nreviewer: R\nplanner: P\n  implementer: kept', { model: 'm', reviewer: { model: 'r' } });
			return [calls.map((c) => [c.opts.stage.name, c.opts.stage.reads, c.opts.role ?? '', c.opts.model, c.opts.base ?? '',
				c.prompt.includes('- R'), c.prompt.includes('- P'), c.prompt.includes('implementer: kept'), c.prompt.includes('PLAN')]),
				r.pass, r.rounds, r.patches, calls.evidence, calls.appraised];`,
			`[[["planner",true,"plan","m","",false,true,true,false],["implementer",false,"","m","",false,false,true,true],` +
				`["reviewer",true,"","r","p",true,false,true,true]],true,0,["p"],[{"since":"b"}],[1,{"pass":true,"by":"a3"}]]`},
		{"work goes back in its conversation where that can be gone on with", `
			answer = (n) => ({ status: 'completed', output: 'o', forkable: n === 2, patch: n === 2 || n === 4 || n === 6 ? { id: 'p' + n, base: 'b' + n } : undefined,
				structured: n % 2 ? { pass: n === 7, problems: n === 7 ? [] : [{ path: 'f', problem: 'bad' }] } : undefined, id: 'a' + n });
			const r = await std.stages('t', { model: 'm', implementer: { effort: 'e' } });
			return [r.pass, r.rounds, calls.map((c) => [c.opts.label, c.opts.fork?.id ?? '', c.opts.base ?? '', c.prompt.includes('f: bad'), c.prompt.includes('The plan'), (c.opts.model ?? '') + (c.opts.effort ?? '')]), calls.evidence];`,
			`[true,2,[["planner","","",false,false,"m"],["implementer","","",false,true,"me"],["reviewer","","p2",false,true,"m"],["implementer 2","a2","p2",true,false,""],` +
				`["reviewer 2","","p4",false,true,"m"],["implementer 3","","p4",true,true,"me"],["reviewer 3","","p6",false,true,"m"]],[{"since":"b2"},{"since":"b2"},{"since":"b2"}]]`},
		{"nobody is paid to say what a check says", `
			answer = (n) => ({ status: 'completed', output: 'o', patch: { id: 'p' + n, base: 'b' }, id: 'a' + n,
				steps: [{ name: 'verify', command: 'make', ok: false, code: 2, tail: 'FAIL' }] });
			const r = await std.stages('t', { rounds: 1 });
			return [r.pass, r.problems, calls.map((c) => c.opts.label), calls.appraised[1].pass, calls.appraised[1].by ?? ''];`,
			`[false,["verify failed with exit status 2: make\nFAIL"],["planner","implementer","implementer 2"],false,""]`},
		{"one that mends nothing ends the rounds", `
			answer = (n) => ({ status: 'completed', output: 'o', patch: n === 2 ? { id: 'p', base: 'b' } : undefined, structured: { pass: false, problems: [{ problem: 'x' }] }, id: 'a' + n });
			const r = await std.stages('t', { rounds: 9 });
			return [r.pass, calls.length];`, `[false,4]`},
		{"a problem is no pass", `
			answer = (n) => ({ status: 'completed', output: 'o', structured: { pass: true, problems: [{ problem: 'x' }] }, id: 'a' + n });
			return (await std.stages('t', { rounds: 0 })).pass;`, `false`},
		{"a dead planner ends it", `
			answer = () => ({ status: 'failed' });
			const r = await std.stages('t');
			return [r, calls.length];`, `[{"pass":null,"failed":"planner","rounds":0,"problems":[]},1]`},
		{"what a dead reviewer left has not passed", `
			answer = (n) => ({ status: n === 3 ? 'failed' : 'completed', output: 'o', id: 'a' + n, patch: { id: 'p', base: 'b' } });
			const r = await std.stages('t');
			return [r.pass, r.failed, calls.length, calls.appraised ?? 'none'];`, `[null,"reviewer",3,[1,{"pass":false,"problems":["its reviewer did not answer"],"by":"a3"}]]`},
		{"a task that is for one stage only is none", `return std.stages('reviewer: look');`, `TypeError option: std.stages: nothing of the task is left for all stages`},
		{"words for one stage are found whatever the ends of lines are, and never between fences", `
			answer = () => ({ status: 'failed' });
			const task = 'do it\r\nReviewer:R1\rreviewer: \tR2 \r\nPLANNER: P\n' +
				'\u0060\u0060\u0060yaml\nreviewer: quoted\n~~~\n\u0060\u0060\u0060\n~~~~\nplanner: quoted\n~~~~\nreviewer: R2\n\treviewer: tab\n> reviewer: cited\nreviewer';
			const done = async (t) => { calls.length = 0; await std.stages(t); return calls[0].prompt.split('The task:\n')[1]; };
			const one = await done(task);
			answer = (n) => ({ status: 'completed', output: 'PLAN', structured: { pass: true, problems: [] } });
			calls.length = 0;
			await std.stages(task);
			return [one, calls[2].prompt.split('For you alone:\n')[1]];`,
			`["do it\n` + "```" + `yaml\nreviewer: quoted\n~~~\n` + "```" + `\n~~~~\nplanner: quoted\n~~~~\n\treviewer: tab\n> reviewer: cited\nreviewer\n\nFor you alone:\n- P","- R1\n- R2\n- R2"]`},
		{"a name near to that of a stage is told, and so is one that nothing follows", `
			answer = () => ({ status: 'failed' });
			await std.stages('do it\nreviwer: x\nnote: y\nplaner: z\nreviewer:\nhttp://x');
			return [calls.logs, calls[0].prompt.includes('reviwer: x')];`,
			`[["stages: \"reviwer:\" is no stage; did you mean \"reviewer:\"? All stages are told that line.",` +
				`"stages: \"planer:\" is no stage; did you mean \"planner:\"? All stages are told that line.",` +
				`"stages: nothing follows \"reviewer:\" All stages are told that line."],true]`},
		{"without a plan the implementer goes by the task", `
			answer = (n) => ({ status: 'completed', output: n === 1 ? ' \n' : 'o', structured: { pass: true, problems: [] } });
			const r = await std.stages('t');
			return [r.pass, r.plan, calls.length, calls[1].prompt.includes('plan'), calls[2].prompt.includes('plan it'), calls.logs.length];`,
			`[true,"",3,false,false,1]`},
		{"an implementer that fails to mend is named, and what was wrong stays", `
			answer = (n) => n === 4 ? { status: 'failed' } : ({ status: 'completed', output: 'o', patch: n === 2 ? { id: 'p', base: 'b' } : undefined,
				structured: { pass: false, problems: [{ problem: 'bad' }] }, id: 'a' + n });
			const r = await std.stages('t');
			return [r.pass, r.failed, r.rounds, r.problems, r.patches, calls.appraised];`,
			`[false,"implementer",0,["bad"],["p"],[1,{"pass":false,"problems":["bad"],"by":"a3"}]]`},
		{"work whose review is refused has not passed", `
			answer = (n) => { if (n === 3) throw fault('budget'); return { status: 'completed', output: 'o', patch: { id: 'p', base: 'b' }, id: 'a' + n }; };
			try { return await std.stages('t'); } catch (e) { return [e.code, calls.appraised]; }`,
			`["budget",[1,{"pass":false,"problems":["its reviewer did not answer"]}]]`},
		{"what is found in work that changed nothing is kept too", `
			answer = (n) => ({ status: 'completed', output: 'o', structured: { pass: false, problems: [{ problem: 'nothing is done' }] }, id: 'a' + n });
			const r = await std.stages('t', { rounds: 0 });
			return [r.pass, r.patches, calls.appraised];`,
			`[false,[],[1,{"pass":false,"problems":["nothing is done"],"by":"a3"}]]`},
		{"what is too long for a reviewer is whole in its brief", `
			const long = '🙂'.repeat(9000);
			answer = (n) => ({ status: 'completed', output: long, structured: { pass: true, problems: [] } });
			await std.stages('do ' + long);
			const [p, i, r] = calls;
			return [p.prompt.includes(long), p.opts.stage.brief ?? '', i.prompt.split(long).length, r.prompt.length < 3000, r.prompt.includes('…'),
				r.opts.stage.brief.split(long).length, [...r.prompt].some((c) => c.codePointAt(0) >= 0xd800 && c.codePointAt(0) <= 0xdfff)];`,
			`[true,"",3,true,true,3,false]`},
		{"a stage has options of an agent", `return std.stages('t', { reviewer: { modl: 'x' } });`, `TypeError option: std.stages: reviewer: unknown option "modl"; did you mean "model"?`},
		{"the worst case of stages", `return [std.stages.worst(), std.stages.worst({ rounds: 0 })];`, `[7,3]`},
		// verify
		{"verify has three voters and needs half of them", `
			answer = (n) => ({ refuted: n === 1, reason: 'r' });
			const v = await std.verify('the claim');
			return [v.verdict, v.held, v.refuted, v.upheld, v.missing, v.voters, v.quorum, v.threshold, calls.length];`,
			`["held",true,1,2,0,3,2,0.5,3]`},
		{"verify refutes at the threshold", `
			answer = (n) => ({ refuted: n < 3, reason: 'r' });
			return (await std.verify('c', { voters: 4 })).verdict;`, `"refuted"`},
		{"verify holds below a higher threshold", `
			answer = (n) => ({ refuted: n < 3, reason: 'r' });
			return (await std.verify('c', { voters: 4, threshold: 0.75 })).verdict;`, `"held"`},
		{"a dead voter is no vote", `
			answer = (n) => (n === 1 ? null : { refuted: n === 2, reason: 'r' });
			const v = await std.verify('c', { threshold: 0.6 });
			return [v.verdict, v.refuted, v.upheld, v.missing];`, `["held",1,1,1]`},
		{"below the quorum nothing is known", `
			answer = (n) => (n < 3 ? null : { refuted: true, reason: 'r' });
			const v = await std.verify('c');
			return [v.verdict, v.held, v.missing, v.votes];`,
			`["unknown",false,2,[null,null,{"refuted":true,"reason":"r"}]]`},
		{"all dead is unknown and not held", `
			return (await std.verify('c')).verdict;`, `"unknown"`},
		{"the quorum may be set", `
			answer = (n) => (n < 3 ? null : { refuted: true, reason: 'r' });
			return (await std.verify('c', { quorum: 1 })).verdict;`, `"refuted"`},
		{"no answer of the schema is a dead voter", `
			answer = (n) => { if (n === 1) throw fault('schema'); return { refuted: false, reason: 'r' }; };
			const v = await std.verify('c');
			return [v.verdict, v.missing];`, `["held",1]`},
		{"a refused budget is no vote", `
			answer = (n) => { if (n === 2) throw fault('budget'); return { refuted: false, reason: 'r' }; };
			return std.verify('c');`, `Error budget: budget!`},
		{"a mistake in the script is no vote", `
			answer = () => { throw new TypeError('x is not a function'); };
			return std.verify('c');`, `TypeError -: x is not a function`},
		{"voters read the whole claim and a label each", `
			await std.verify({ a: 1 }, { label: 'L', model: 'm', phase: undefined, voters: 2 });
			return [calls[1].prompt.includes('"a": 1'), calls[1].opts.label, calls[1].opts.model,
				'phase' in calls[1].opts, calls[0].prompt === calls[1].prompt];`,
			`[true,"L verify 2/2","m",false,false]`},
		{"verify takes a prompt and a schema", `
			const schema = { type: 'object', properties: { refuted: { type: 'boolean' }, line: {} } };
			await std.verify('c', { prompt: 'Doubt $& it.', schema });
			return [calls[0].prompt.startsWith('Doubt $& it.'), Object.keys(calls[0].opts.schema.properties)];`,
			`[true,["refuted","line"]]`},

		// judge
		{"judge ranks by the mean", `
			const scores = [[1, 9, 5], [9, 5, 1], [5, 1, 9]];
			answer = (n) => ({ scores: scores[n - 1].map((score, p) => ({ candidate: p + 1, score, reason: 'r' + n + p })) });
			const j = await std.judge(['A', 'B', 'C'], { criteria: 'fit' });
			return [j.ranking, j.winner, j.best, j.scores.map((s) => s.mean), j.missing, calls.length];`,
			`[[1,2,0],1,"B",[1,9,5],[],3]`},
		{"each judge begins at another candidate", `
			await std.judge(['AAA', 'BBB', 'CCC'], { criteria: ['x', 'y'] });
			return calls.map((c) => c.prompt.match(/AAA|BBB|CCC/g).map((s) => s[0]).join('') + (c.prompt.includes('- y') ? '+' : ''));`,
			`["ABC+","BCA+","CAB+"]`},
		{"a dead judge is missing and counts for nothing", `
			answer = (n) => (n === 2 ? null : { scores: [{ candidate: 1, score: n, reason: '' }, { candidate: 2, score: 2, reason: '' }] });
			const j = await std.judge(['A', 'B'], { criteria: 'x' });
			return [j.missing, j.scores[0].scores, j.scores[0].mean];`, `[[2],[1,null,3],2]`},
		{"scores that leave a candidate out are missing", `
			answer = () => ({ scores: [{ candidate: 1, score: 3, reason: '' }, { candidate: 1, score: 2, reason: '' }] });
			const j = await std.judge(['A', 'B'], { criteria: 'x', judges: 1 });
			return [j.missing, j.ranking, j.winner, j.best];`, `[[1],[],null,null]`},
		{"equal scores keep the order given", `
			answer = () => ({ scores: [{ candidate: 1, score: 3, reason: '' }, { candidate: 2, score: 3, reason: '' }] });
			return (await std.judge(['A', 'B'], { criteria: 'x', judges: 2 })).ranking;`, `[0,1]`},
		{"judge needs criteria", `return std.judge(['A', 'B'], {});`,
			`TypeError option: std.judge: criteria are missing: say what is judged`},
		{"judge needs two candidates", `return std.judge(['A'], { criteria: 'x' });`,
			`TypeError option: std.judge: candidates must be a list of two or more`},

		// untilDry
		{"two empty rounds end it", `
			const seen = [];
			const d = await std.untilDry((n, known) => { seen.push(known.length); return n < 3 ? [n, 1] : [1]; });
			return [d, seen];`, `[{"found":[1,2],"rounds":4,"dry":true,"failed":0},[0,1,2,2]]`},
		{"max ends it too, and it is not dry", `
			return std.untilDry((n) => [n], { max: 3 });`, `{"found":[1,2,3],"rounds":3,"dry":false,"failed":0}`},
		{"the default of max is 50", `return (await std.untilDry((n) => [n])).rounds;`, `50`},
		{"equal items have one key, in whatever order", `
			return (await std.untilDry((n) => (n > 2 ? [] : n === 1 ? [{ a: 1, b: 2 }] : [{ b: 2, a: 1 }]))).found.length;`, `1`},
		{"the key may be a property", `
			return (await std.untilDry((n) => [{ id: 'x', n }], { key: 'id', dry: 1 })).found;`, `[{"id":"x","n":1}]`},
		{"an item without the key is refused, and what was found is kept", `
			try { return await std.untilDry((n) => (n === 1 ? [{ id: 1 }] : [{}]), { key: 'id' }); }
			catch (e) { return [e.message, e.found, e.rounds]; }`,
			`["std.untilDry: an item of round 2 has no key",[{"id":1}],2]`},
		{"a failed round is not a dry one", `
			return std.untilDry((n) => (n < 4 ? null : []), { dry: 2 });`,
			`{"found":[],"rounds":5,"dry":true,"failed":3}`},
		{"empty slots of a round are passed over", `
			return (await std.untilDry((n) => (n === 1 ? [null, 7] : []))).found;`, `[7]`},
		{"a refusal keeps what was found", `
			try { await std.untilDry((n) => { if (n === 3) throw fault('budget'); return [n]; }); }
			catch (e) { return [e.code, e.found, e.rounds]; }`, `["budget",[1,2],3]`},
		{"so does what is no error", `
			try { await std.untilDry(() => { throw 'plain'; }); } catch (e) { return [e.message, e.found]; }`, `["plain",[]]`},
		{"a round must return a list", `return std.untilDry(() => 'text');`,
			`TypeError option: std.untilDry: round 1 must return a list or null`},

		// sweep
		{"sweep works in batches and names what was missed", `
			const s = await std.sweep([1, 2, 3, 4, 5], async (g, i) => (i === 1 ? null : g.length), { batch: 2, concurrency: 2 });
			return [s, calls.parallel];`,
			`[{"results":[2,null,1],"missed":[3,4],"batches":3},{"concurrency":2}]`},
		{"sweep takes single items by default", `
			return (await std.sweep(['a', 'b'], async (g) => g[0] + g.length)).results;`, `["a1","b1"]`},
		{"a batch that throws is missed", `
			return (await std.sweep([1, 2], async (g) => { if (g[0] === 1) throw new Error('x'); return 1; })).missed;`, `[1]`},
		{"a refusal ends a sweep with what is there", `
			try { await std.sweep([1, 2, 3], async (g) => { if (g[0] === 2) throw fault('limit'); return g[0]; }); }
			catch (e) { return [e.code, e.results, e.missed]; }`, `["limit",[1,null,3],[2]]`},
		{"nothing to sweep is no error", `return std.sweep([], () => 1);`, `{"results":[],"missed":[],"batches":0}`},

		// critic
		{"the critic sees all of it, and is asked again after a revision", `
			const long = 'x'.repeat(20000) + 'END';
			answer = (n) => (n === 1 ? { complete: false, missing: ['m'] } : n === 2 ? 'revised' : { complete: true, missing: [] });
			const c = await std.critic(long, { task: 'T' });
			return [c, calls[0].prompt.includes(long), calls[1].prompt.includes('- m'), calls[2].prompt.includes('revised'), calls[2].prompt.includes('T')];`,
			`[{"draft":"revised","complete":true,"missing":[],"rounds":2},true,true,true,true]`},
		{"what the last critic missed is said", `
			answer = (n) => (n % 2 ? { complete: false, missing: ['m' + n] } : 'r' + n);
			return [await std.critic('d'), calls.length];`,
			`[{"draft":"r2","complete":false,"missing":["m3"],"rounds":2},3]`},
		{"a dead critic leaves it open", `return std.critic('d');`,
			`{"draft":"d","complete":null,"missing":[],"rounds":1}`},
		{"a dead reviser keeps the draft", `
			answer = (n) => (n === 1 ? { complete: false, missing: ['m'] } : null);
			return std.critic('d');`, `{"draft":"d","complete":false,"missing":["m"],"rounds":1}`},
		{"a critic that misses something does not call it complete", `
			answer = () => ({ complete: true, missing: ['m'] });
			return (await std.critic('d', { rounds: 1 })).complete;`, `false`},
		{"an object is revised by its schema", `
			const schema = { type: 'object' };
			answer = (n) => (n === 1 ? { complete: false, missing: ['m'] } : n === 2 ? { a: 2 } : { complete: true, missing: [] });
			return [(await std.critic({ a: 1 }, { schema })).draft, calls[1].opts.schema];`, `[{"a":2},{"type":"object"}]`},
		{"an object without a schema is refused", `return std.critic({ a: 1 });`,
			`TypeError option: std.critic: a draft that is no text needs the schema of one`},

		// retry
		{"retry ends with the first accepted value", `
			return std.retry((n, last) => (n === 1 ? null : [n, last]));`, `[2,{"value":null}]`},
		{"retry tries three times", `
			let tries = 0;
			return [await std.retry(() => { tries++; return 5; }, { accept: (v) => v > 5 }), tries];`, `[null,3]`},
		{"the last error is thrown", `
			let tries = 0;
			return std.retry(() => { tries++; throw new Error('try ' + tries); }, { times: 2 });`, `Error -: try 2`},
		{"an answer that is no JSON is tried again", `
			return std.retry((n) => JSON.parse(n === 1 ? 'words' : '[1]'));`, `[1]`},
		{"a refusal is not tried again", `
			let tries = 0;
			try { await std.retry(() => { tries++; throw fault('budget'); }); } catch (e) { return [e.code, tries]; }`, `["budget",1]`},

		// options
		{"an unknown option names the nearest", `return std.verify('c', { voter: 3 });`,
			`TypeError option: std.verify: unknown option "voter"; did you mean "voters"?`},
		{"one that is near to nothing lists all", `return std.retry(() => 1, { wxyzzy: 3 });`,
			`TypeError option: std.retry: unknown option "wxyzzy"; there are times, accept`},
		{"full is not handed on", `return std.verify('c', { full: true });`,
			`TypeError option: std.verify: unknown option "full"`},
		{"options are an object", `return std.verify('c', 3);`, `TypeError option: std.verify: options must be an object`},
		{"voters are counted in whole numbers", `return std.verify('c', { voters: 2.5 });`,
			`TypeError option: std.verify: voters must be a whole number from 1 to 99`},
		{"a threshold of nothing refutes everything", `return std.verify('c', { threshold: 0 });`,
			`TypeError option: std.verify: threshold must be a number above 0 and up to 1`},
		{"a quorum is of the voters", `return std.verify('c', { quorum: 4 });`,
			`TypeError option: std.verify: quorum 4 is more than the 3 voters`},
		{"a schema of votes has refuted", `return std.verify('c', { schema: { type: 'object' } });`,
			`TypeError option: std.verify: schema must be a JSON Schema of an object with the property refuted`},
		{"an empty claim is refused", `return std.verify(' ');`, `TypeError option: std.verify: the claim must be a text or a JSON value that is not empty`},
		{"std cannot be changed", `std.verify = 1;`, `TypeError -: `},

		// worst
		{"the worst cases, by default and as set", `
			return [std.verify.worst(), std.verify.worst({ voters: 5, model: 'm' }), std.judge.worst(), std.judge.worst({ judges: 2, criteria: 'x' }),
				std.untilDry.worst({ agentsPerRound: 3 }), std.untilDry.worst({ agentsPerRound: 3, max: 4, key: 'id' }),
				std.sweep.worst({ items: 10 }), std.sweep.worst({ items: 10, batch: 3, agentsPerBatch: 2 }),
				std.critic.worst(), std.critic.worst({ rounds: 1 }), std.retry.worst(), std.retry.worst({ times: 2, agentsPerTry: 4 })];`,
			`[3,5,3,2,150,12,10,8,3,1,3,8]`},
		{"a worst case that cannot be known is refused", `std.untilDry.worst({});`, `TypeError option: std.untilDry.worst: agentsPerRound is missing`},
		{"so is one of an unknown option", `std.verify.worst({ votes: 2 });`,
			`TypeError option: std.verify.worst: unknown option "votes"; did you mean "voters"?`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := onStage(t, tt.give)
			if got != tt.want && !(strings.HasPrefix(tt.want, "TypeError") && strings.HasPrefix(got, tt.want)) {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestStdStartsAtMostItsWorst: whatever the agents answer, no strategy starts
// more of them than its worst case says.
func TestStdStartsAtMostItsWorst(t *testing.T) {
	t.Parallel()
	got := onStage(t, `
		const out = [];
		const bad = [
			() => null, () => { throw fault('schema'); }, () => ({}), () => 'text',
			(n) => ({ refuted: n % 2 === 0, complete: false, missing: ['m'], scores: [] }),
		];
		for (const b of bad) {
			answer = b;
			for (const [worst, run] of [
				[std.verify.worst({ voters: 4 }), () => std.verify('c', { voters: 4 })],
				[std.judge.worst({ judges: 4 }), () => std.judge(['a', 'b'], { judges: 4, criteria: 'x' })],
				[std.critic.worst({ rounds: 4 }), () => std.critic('d', { rounds: 4 })],
				[std.retry.worst({ times: 4 }), () => std.retry(() => api.agent('p', {}), { times: 4, accept: () => false }).catch(() => {})],
			]) {
				calls.length = 0;
				await run();
				if (calls.length > worst) out.push([calls.length, worst]);
			}
		}
		return out;`)
	if got != "[]" {
		t.Errorf("started and the worst case: %s", got)
	}
}
