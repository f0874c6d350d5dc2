package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestClosedFunctionsAreAccepted(t *testing.T) {
	t.Parallel()
	for _, give := range []string{
		"s => s.turns > 3",
		"(s) => { const limit = 3; let {turns, ...rest} = s; return turns > limit && Object.keys(rest).length }",
		"function (s) { return s.a }",
		"function again(s) { return s.n > 0 ? again({n: s.n - 1}) : true }",
		"({a, b: {c = 1} = {}, ...d}, [e, , ...f] = []) => [a, c, d, e, f]",
		"(a, b = a) => b",
		"s => { function f() { return g } var g = 1; return f() }",
		"s => { return later(); function later() { return hoisted } var hoisted }",
		"s => { for (const [k, v] of Object.entries(s)) { if (v) return k } for (let i = 0; i < 3; i++) s[i]; for (var j in s) j; return j }",
		"s => { label: for (;;) { break label } }",
		"s => { try { JSON.parse('{') } catch ({message}) { return message } finally { } }",
		"s => { try { s.x() } catch { return 1 } }",
		"s => { switch (s) { case 1: let a = 1; default: return a } }",
		"s => { class A extends Error { #p = 1; static q = 2; m() { return A.q } get [s]() { return 1 } static { const z = 1; z } } return new A() }",
		"s => ({log: 1, agent: s.agent, [s.k]: s?.args, console() { return s }, get phase() { return 1 }})",
		"s => `${s.a} ${Math.max(1, parseInt('2'))}` + String(undefined) + NaN + Infinity",
		"s => /rm -rf/.test(s.input.command) ? 'no' : 'allow'",
		"s => [1, 2].map(x => x + s).filter((y) => y)",
		"s => { const f = function inner() { return inner }; return f }",
		"s => new Date('2026-01-01') < new Map().size",
		"s => { let i = 0; i++; i += 1; [i] = [2]; ({i} = {i}); return i }",
	} {
		if err := CheckClosed(give); err != nil {
			t.Errorf("CheckClosed(%q) = %v, want nil", give, err)
		}
	}
}

func TestOpenFunctionsAreRefused(t *testing.T) {
	t.Parallel()
	tests := []struct{ give, want string }{
		{"s => s.turns > limit", "it uses limit:"},
		{"s => { log(s) }", "it uses log:"},
		{"s => console.log(s)", "it uses console:"},
		{"s => args.limit", "it uses args:"},
		{"s => globalThis.x", "it uses globalThis:"},
		{"s => agent('x')", "it uses agent:"},
		{"s => process", "it uses process:"},
		{"s => setTimeout(s)", "it uses setTimeout:"},
		{"s => { { const inner = 1 } return inner }", "it uses inner:"},
		{"s => { for (let i = 0; ; ) {} return i }", "it uses i:"},
		{"s => { for (const x of s) {} return x }", "it uses x:"},
		{"s => { try {} catch (e) {} return e }", "it uses e:"},
		{"s => { const f = function inner() {}; return inner }", "it uses inner:"},
		{"s => { const f = (a) => a; return a }", "it uses a:"},
		{"s => { switch (1) { case 1: let a } return a }", "it uses a:"},
		{"(s, a = b) => { var b = 1; return a }", "it uses b:"},
		{"s => ({limit})", "it uses limit:"},
		{"s => ({[limit]: 1})", "it uses limit:"},
		{"s => `${limit}`", "it uses limit:"},
		{"s => { limit = 1 }", "it uses limit:"},
		{"s => { ({a: limit} = s) }", "it uses limit:"},
		{"s => typeof limit", "it uses limit:"},
		{"s => s?.[limit]", "it uses limit:"},
		{"s => { class A extends B {} }", "it uses B:"},
		{"s => { class A { x = limit } }", "it uses limit:"},
		{"s => { class A { [limit]() {} } }", "it uses limit:"},
		{"s => tag`x`", "it uses tag:"},
		{"s => new Thing()", "it uses Thing:"},
		{"(s = limit) => s", "it uses limit:"},
		{"({[limit]: s}) => s", "it uses limit:"},
		{"s => { const {a = limit} = s }", "it uses limit:"},
		{"function (s) { return arguments[0] }", "it uses arguments:"},
		{"function (s) { return this }", "it uses this:"},
		{"s => this", "it uses this:"},
		{"s => eval('1')", "it uses eval:"},
		{"s => Function('return 1')()", "it uses Function:"},
		{"s => new Promise(s)", "it uses Promise:"},
		{"async s => s", "it is async"},
		{"async function (s) {}", "it is async"},
		{"function* (s) {}", "it is a generator"},
		{"", "not an arrow function"},
		{"1", "not an arrow function"},
		{"s => 1, s => 2", "not an arrow function"},
		{"(s => 1)(2)", "not an arrow function"},
		{"s => 1)\n;(s => 2", "not an arrow function"},
		{"function () { [native code] }", "not an arrow function"},
		{"stopWhen(s) { return 1 }", "not an arrow function"},
		{"class A {}", "not an arrow function"},
		{"s => {", "not an arrow function"},
		{"s => '\x00'", "NUL"},
		{"s => " + strings.Repeat("[", 1000), "nest"},
		{"s => '" + strings.Repeat("x", mostClosed) + "'", "at most 65536"},
	}
	for _, tt := range tests {
		err := CheckClosed(tt.give)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, tt.want) {
			t.Errorf("CheckClosed(%.60q) = %v, want %q", tt.give, err, tt.want)
		}
	}
}

// everLong is a limit that no function of these tests reaches.
const everLong = time.Minute

// TestAfterUsing: the time of other processes on a busy machine does not count.
func TestAfterUsing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		began time.Duration // 0: the processor time is not known
		then  time.Duration // more that is used
		stop  bool
		want  bool
	}{
		{name: "others have the processor", began: time.Second},
		{name: "most of it is there yet", began: time.Second, then: 49 * time.Millisecond},
		{name: "all is used", began: time.Second, then: 50 * time.Millisecond, want: true},
		{name: "it has ended", began: time.Second, then: time.Second, stop: true},
		{name: "nobody knows", want: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				late, begun := false, false
				used := func() time.Duration {
					if !begun {
						begun = true
						return tt.began
					}
					return tt.began + tt.then
				}
				stop := afterUsing(50*time.Millisecond, used, func() { late = true })
				defer stop()
				if tt.stop {
					stop()
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if late != tt.want {
					t.Errorf("late = %v, want %v", late, tt.want)
				}
			})
		})
	}
}

func TestHooksDecide(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, source, input, want, error string }{
		{"a boolean", "s => s.turns > 3", `{"turns":4}`, "true", ""},
		{"a word", "c => c.tool === 'bash' ? 'deny' : 'allow'", `{"tool":"bash"}`, `"deny"`, ""},
		{"nothing", "s => {}", `{}`, "null", ""},
		{"a structure", "s => ({a: [s.x, undefined]})", `{"x":"<&>"}`, `{"a":["<&>",null]}`, ""},
		{"its own", "s => s", `{"b":1,"a":2}`, `{"b":1,"a":2}`, ""},
		{"throws", "s => { throw new TypeError('no: ' + s.x) }", `{"x":1}`, "", "the function threw: TypeError: no: 1"},
		{"throws nothing", "s => { throw undefined }", `{}`, "", "the function threw"},
		{"writes", "s => { s.x = 2 }", `{"x":1}`, "", "the function threw: TypeError"},
		{"writes inside", "s => { s.a[0].b.push(1) }", `{"a":[{"b":[]}]}`, "", "the function threw: TypeError"},
		{"adds", "s => { s.y = 2 }", `{"x":1}`, "", "the function threw: TypeError"},
		{"deletes", "s => { delete s.x }", `{"x":1}`, "", "the function threw: TypeError"},
		{"a function", "s => () => 1", `{}`, "", "what is not JSON"},
		{"a promise", "s => (async () => 1)()", `{}`, "", "it gave a promise"},
		{"a cycle", "s => { const a = {}; a.a = a; return a }", `{}`, "", "the function threw"},
		{"the clock", "s => new Date()", `{}`, "", "the clock is closed"},
		{"too deep", "function f(s) { return f(s) }", `{}`, "", "too deeply"},
		{"open", "s => limit", `{}`, "", "it uses limit"},
		{"no JSON", "s => 1", `{`, "", "SyntaxError"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var h Hooks
			for range 2 { // from source, and compiled before
				got, err := h.Decide(tt.source, json.RawMessage(tt.input), everLong)
				if string(got) != tt.want || (err == nil) != (tt.error == "") || err != nil && !strings.Contains(err.Error(), tt.error) {
					t.Errorf("Decide(%q, %s) = %s, %v, want %s, %q", tt.source, tt.input, got, err, tt.want, tt.error)
				}
			}
		})
	}
}

func TestHooksAreEndedAtTheirLimit(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		"s => { for (;;) {} }",
		"s => { try { for (;;) {} } catch { return 'allow' } finally { for (;;) {} } }",
		"s => ({toJSON() { for (;;) {} }})",
	} {
		var h Hooks
		_, err := h.Decide(source, json.RawMessage(`{}`), 20*time.Millisecond)
		var e *Error
		if !errors.As(err, &e) || e.Code != CodeTimeout || !strings.Contains(e.Message, "longer than 20ms") {
			t.Errorf("Decide(%q) = %v, want a time-out", source, err)
		}
	}
}

func TestHooksRememberNothing(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		"s => { Math.n = (Math.n || 0) + 1; return Math.n }",
		"s => { const p = Object.prototype; p.n = (p.n || 0) + 1; return p.n }",
		"s => { Array.n = (Array.n || 0) + 1; return Array.n }",
		"function f(s) { f.n = (f.n || 0) + 1; return f.n }",
		"s => { const g = (() => {}).constructor('return globalThis')(); g.n = (g.n || 0) + 1; return g.n }",
		"s => { const parse = JSON.parse; JSON.parse = () => parse('2'); return JSON.parse === parse ? 2 : 1 }",
	} {
		var h Hooks
		for range 3 {
			got, err := h.Decide(source, json.RawMessage(`{}`), everLong)
			if err != nil {
				t.Fatalf("Decide(%q) = %v", source, err)
			}
			if string(got) != "1" {
				t.Errorf("Decide(%q) = %s, want 1 on each call", source, got)
			}
		}
	}
}

func TestHooksDecideForManyAtOnce(t *testing.T) {
	t.Parallel()
	var h Hooks
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			got, err := h.Decide("s => s.i * 2", json.RawMessage(fmt.Sprintf(`{"i":%d}`, i)), everLong)
			if want := fmt.Sprint(i * 2); err != nil || string(got) != want {
				t.Errorf("Decide(%d) = %s, %v, want %s", i, got, err, want)
			}
		})
	}
	wg.Wait()
}

func FuzzCheckClosed(f *testing.F) {
	f.Add("s => s.a > 1")
	f.Add("function f({a, ...b}, [c] = []) { class D extends f { #e = 1 } switch (a) { case 1: let g } }")
	f.Add("s => { for (const x of s) for (var y in x) try { z } catch ({e}) {} }")
	f.Fuzz(func(t *testing.T, source string) {
		err := CheckClosed(source)
		var e *Error
		if err != nil && (!errors.As(err, &e) || e.Message == "") {
			t.Errorf("CheckClosed(%q) = %v, want an *Error", source, err)
		}
		if err != nil || strings.Contains(source, "constructor") || strings.Contains(source, "throw") {
			return
		}
		// A closed function declares all names that it uses, so the language
		// finds no missing name.
		var h Hooks
		if _, err := h.Decide(source, json.RawMessage(`{}`), 5*time.Millisecond); err != nil && strings.HasSuffix(err.Error(), " is not defined") {
			t.Errorf("Decide(%q) = %v, though it is closed", source, err)
		}
	})
}

func BenchmarkHooks(b *testing.B) {
	var h Hooks
	for b.Loop() {
		if _, err := h.Decide("s => s.turns > 3", json.RawMessage(`{"turns":4}`), everLong); err != nil {
			b.Fatal(err)
		}
	}
}
