package script

import (
	"fmt"
	"testing"
)

func TestTimers(t *testing.T) {
	t.Parallel()
	each(t, []performs{
		{name: "in order of their times", give: `const seen = []; await Promise.all([30, 10, 20].map(ms => new Promise(r => setTimeout(() => { seen.push(ms); r() }, ms)))); return seen`,
			want: `[10,20,30]`},
		{name: "with arguments", give: `return await new Promise(r => setTimeout((...a) => r(a), 5, 1, 'two'))`, want: `[1,"two"]`},
		{name: "without a time", give: `return await new Promise(r => setTimeout(r, undefined, 'now'))`, want: `"now"`},
		{name: "a time that is none", give: `return await new Promise(r => setTimeout(r, 'x', 'now'))`, want: `"now"`},
		{name: "a bound on a wait", give: `const late = new Promise(r => setTimeout(r, 20, 'late')); return [await Promise.race([agent('a @50'), late]), await Promise.race([agent('b @5'), late.then(() => agent('c'))])]`,
			want: `["late","did b @5"]`},
		{name: "cleared", give: `let fired = 0; const t = setTimeout(() => fired++, 5); clearTimeout(t); clearTimeout(t); await agent('x @50'); return [fired, typeof t]`,
			want: `[0,"number"]`, asked: []string{
				`timer {"ms":5}`, `untimer {"of":1}`, `call {"prompt":"x @50"}`,
			}},
		{name: "clearing no timer", give: `await (async () => { clearTimeout(undefined); clearTimeout(99); clearTimeout('x') })(); return (await check('c')).ok`, want: `true`},
		{name: "clearing what is no timer of its own", give: `const c = check('c'); clearTimeout(1); return (await c).ok`, want: `true`},
		{name: "typeof", give: `return [typeof setTimeout, typeof clearTimeout]`, want: `["function","function"]`},
		{name: "not awaited", give: `setTimeout(() => agent('never'), 1000); return 1`, want: `1`, asked: []string{`timer {"ms":1000}`}},
		{name: "of a branch that has lost", give: `await race([async () => { setTimeout(() => agent('never'), 30); await agent('slow @90') }, () => agent('b @5')]); await agent('c @60'); return sa.list().map(a => a.status)`,
			want: `["cancelled","completed","completed"]`},
		{name: "no function", give: `setTimeout('code()', 1)`, error: `option TypeError: setTimeout: wants a function, not a string`},
		{name: "a mistake in one", give: `setTimeout(() => nowhere(), 5); await agent('x @50'); return 1`, error: `ReferenceError: nowhere is not defined`},
		{name: "hidden by one of its own", give: `const setTimeout = () => 'mine'; return setTimeout()`, want: `"mine"`},
		{name: "the longest", give: `setTimeout(() => 1, 1e300); return 1`, want: `1`, asked: []string{fmt.Sprintf(`timer {"ms":%d}`, int64(longest))}},
	})
}

func TestTimersAreBounded(t *testing.T) {
	t.Parallel()
	m := newMachine(t.Context(), Start{Source: Source{Name: "plan.js", Text: `setTimeout(() => 1, 9); setTimeout(() => 1, 9); return 1`}}, &desk{})
	m.timersSet = mostTimers - 1
	out := m.run(t.Context())
	if out.Error == nil || out.Error.Code != CodeLimit {
		t.Errorf("Run gave %s and %v, want a limit error", out.Value, out.Error)
	}
}
