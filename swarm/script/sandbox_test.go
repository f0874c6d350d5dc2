package script

import (
	"errors"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"agentswarm/internal/testing/campaign"
)

func TestTheClockAndTheDiceAreClosed(t *testing.T) {
	t.Parallel()
	for _, give := range []string{
		"Date.now()", "new Date()", "Date()", "new Date", "new Date(...[])",
		"new (new Date(0).constructor)()", "new Date(0).constructor.now()", "Date.prototype.constructor()",
		"Reflect.construct(Date, [])", "Reflect.apply(Date, null, [])", "Date.call(null, 1)", "Date.bind(null)()",
		"const D = Date; new D", "const {now} = Date; now()", "const n = Date.now.bind(Date); n()",
		"class D extends Date {}; new D()", "class D extends Date { constructor() { super() } }; new D()",
		"Reflect.construct(Object, [], Date); Reflect.construct(Date, [], Object)",
		"new Proxy(Date, {})()", "new (new Proxy(Date, {}))()",
		"[1].map(Date.now)", "[3].map(Date)", "[1, 2].sort(Date.now)", "JSON.stringify({toJSON: Date.now})", "`${{toString: Date}}`",
		"eval('Date.now()')", "(0, eval)('Date.now()')", "new Function('return Date.now()')()", "(() => {}).constructor('return new Date()')()",
		"Object.getOwnPropertyDescriptor(Date, 'now').value()", "globalThis['Da' + 'te'].now()",
		"Math.random()", "const {random} = Math; random()", "[1].map(Math.random)", "Math['ran' + 'dom'].call(null)",
		"Object.values(Object.getOwnPropertyDescriptors(Math)).find(d => d.value.name === 'random').value()",
		"Error = null; Date.now()", "Error.prototype.constructor = 1; globalThis.Error = class {}; Math.random()",
	} {
		t.Run(give, func(t *testing.T) {
			t.Parallel()
			v := evaluateScript(t, "const E = Error; try {"+give+"} catch (e) { return [e instanceof E, e.name, e.code, e.message].join() }\nreturn 'nothing was thrown'").String()
			if !strings.HasPrefix(v, "true,Error,policy,") || !strings.Contains(v, "when the run is resumed") {
				t.Errorf("%s gives %q, want an Error of the code policy", give, v)
			}
		})
	}
}

func TestClosedOnesThrowThroughPromises(t *testing.T) {
	t.Parallel()
	for _, give := range []string{
		"await Promise.resolve().then(Date.now)", "await new Promise(() => Date.now())", "await (async () => Math.random())()",
		"await Promise.all([1].map(async () => new Date()))", "await {then: Date.now}",
	} {
		v := evaluateScript(t, "try {"+give+"} catch (e) { return e.code }\nreturn 'nothing was thrown'").String()
		if v != "policy" {
			t.Errorf("%s gives %q, want an error of the code policy", give, v)
		}
	}
}

func TestFixedTimesWork(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		"new Date('2026-01-02').toISOString()":                      "2026-01-02T00:00:00.000Z",
		"new Date('2026-01-02T03:04:05Z').getTime()":                "1767323045000",
		"new Date(0).toISOString()":                                 "1970-01-01T00:00:00.000Z",
		"new Date(new Date(5)).getTime()":                           "5",
		"Date.UTC(2026, 0, 2)":                                      "1767312000000",
		"Date.parse('2026-01-02T00:00:00Z')":                        "1767312000000",
		"new Date(Date.UTC(2026, 0, 2)).getUTCDay()":                "5",
		"class D extends Date {}; new D(7).getTime()":               "7",
		"new Date(NaN).getTime()":                                   "NaN",
		"new Date(undefined).getTime()":                             "NaN",
		"JSON.stringify(new Date(0))":                               `"1970-01-01T00:00:00.000Z"`,
		"structuredClone({d: new Date(9)}).d.getTime()":             "9",
		"Math.max(1, 2) + Math.floor(2.5)":                          "4",
		"typeof Date.now + typeof Math.random":                      "functionfunction",
		"new URL('/b?x=1#y', 'https://a.example/c').href":           "https://a.example/b?x=1#y",
		"new URLSearchParams({a: '1 2'}).toString()":                "a=1+2",
		"Object.keys({b: 1, a: 2, 1: 3}).join()":                    "1,b,a",
		"[...new Map([['b', 1], ['a', 2]]).keys()].join()":          "b,a",
		"['é', 'z', 'a'].sort((a, b) => a.localeCompare(b)).join()": "a,é,z",
	} {
		if i := strings.LastIndex(give, ";"); i >= 0 {
			give = give[:i+1] + "return " + give[i+1:]
		} else {
			give = "return " + give
		}
		if got := evaluateScript(t, give).String(); got != want {
			t.Errorf("%s = %s, want %s", give, got, want)
		}
	}
}

func TestAbsentNamesSayWhatToUse(t *testing.T) {
	t.Parallel()
	tests := []struct{ give, want string }{
		{"setInterval(f, 1)", "policy: setInterval is not defined: a script has setTimeout alone"},
		{"await fetch('https://a.example')", "policy: fetch is not defined: a script has no network"},
		{"require('fs')", "policy: require is not defined: a script has no modules"},
		{"process.env.HOME", "policy: process is not defined: a script sees no process"},
		{"const {argv} = process", "policy: process is not defined"},
		{"`${process.pid}`", "policy: process is not defined"},
		{"[...process.argv]", "policy: process is not defined"},
		{"f(() => process).x(fetch)", "policy: fetch is not defined"},
		{"new crypto.Hash()", "policy: crypto is not defined: there is no randomness"},
		{"performance.now()", "policy: performance is not defined: the clock is closed"},
		{"module.exports", "policy: module is not defined: a script has no modules"},
		{"exports.a = 1", "policy: exports is not defined"},
		{"fs.readFileSync('x')", "policy: fs is not defined: a script has no files"},
		{"__dirname", "policy: __dirname is not defined"},
		{"process = 1", "undefined: process is not defined"},
		{"[process] = [1]", "undefined: process is not defined"},
		{"process++", "undefined: process is not defined"},
		{"new Function('return process.env')()", "undefined: process is not defined"},
		{"new WeakRef({})", "undefined: WeakRef is not defined"},
		{"new FinalizationRegistry(f)", "undefined: FinalizationRegistry is not defined"},
		{"GoError", "undefined: GoError is not defined"},
	}
	for _, tt := range tests {
		give := "const f = (x) => ({x}); try { " + tt.give + " } catch (e) { return e.code + ': ' + e.message + (e instanceof ReferenceError) }\nreturn 'nothing was thrown'"
		got := evaluateScript(t, give).String()
		if !strings.Contains(got, tt.want) || !strings.HasSuffix(got, "true") {
			t.Errorf("%s gives %q, want a ReferenceError %q", tt.give, got, tt.want)
		}
	}
}

func TestAbsentNamesAreNotThere(t *testing.T) {
	t.Parallel()
	for name := range absentNames() {
		var give, want []string
		for _, tt := range [][2]string{
			{"typeof NAME", "undefined"},
			{"typeof globalThis.NAME", "undefined"},
			{"'NAME' in globalThis", "false"},
			{"typeof globalThis.NAME?.x", "undefined"},
			{"typeof NAME === 'undefined' ? 1 : 2", "1"},
			{"(() => { const NAME = 7; return NAME })()", "7"},
			{"(({NAME}) => NAME)({NAME: 7})", "7"},
			{"((NAME = 7) => typeof NAME + NAME)()", "number7"},
			{"(() => { try { throw 7 } catch (NAME) { return NAME } })()", "7"},
			{"(() => { for (const NAME of [7]) return NAME })()", "7"},
			{"({NAME: 7}).NAME", "7"},
		} {
			give = append(give, strings.ReplaceAll(tt[0], "NAME", name))
			want = append(want, tt[1])
		}
		got := evaluateScript(t, "return ["+strings.Join(give, ", ")+"].join()").String()
		if got != strings.Join(want, ",") {
			t.Errorf("%s = %s, want %s", give, got, want)
		}
	}
	if got := evaluateScript(t, "const process = 1, fetch = 2; { const crypto = 3 }; return process + fetch").String(); got != "3" {
		t.Errorf("names of one's own give %s, want 3", got)
	}
}

func TestScriptsReadNoFiles(t *testing.T) {
	t.Parallel()
	// A source map that is read fails to parse, or moves positions.
	for _, give := range []string{
		"eval('throw new Error(1)\\n//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbIngiXSwibmFtZXMiOltdLCJtYXBwaW5ncyI6IkFBU0EifQ==')",
		"new Function('throw new Error(1)\\n//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbIngiXSwibmFtZXMiOltdLCJtYXBwaW5ncyI6IkFBU0EifQ==')()",
	} {
		got := evaluateScript(t, "try { "+give+" } catch (e) { return e.stack }").String()
		if strings.Contains(got, "at x:") || strings.Contains(got, "(x:") {
			t.Errorf("the stack of %s follows a source map:\n%s", give, got)
		}
	}
}

func TestRecursionEnds(t *testing.T) {
	t.Parallel()
	all := []string{
		"const f = () => f(); f()",
		"const f = () => [1].map(f); f()",
		"const o = {get a() { return this.a }}; o.a",
		"const o = {toString() { return `${o}` }}; `${o}`",
		"const o = {toJSON() { return JSON.stringify(o) }}; JSON.stringify(o)",
		"const f = async () => { await f() }; await f()",
		"class A { constructor() { new A() } }; new A()",
		"const p = new Proxy({}, {get(t, k, r) { return r[k] }}); p.a",
	}
	if campaign.Rounds(t, 0, 1) == 1 { // in the gate map stands for all functions that call back
		all = append(all,
			"const f = () => [2, 1].sort(f); f()",
			"const f = () => 'a'.replace(/a/, f); f()",
			"const f = (...a) => Reflect.apply(f, null, a); f()")
	}
	for _, give := range all {
		t.Run(give, func(t *testing.T) {
			t.Parallel()
			p, err := Load(Source{Name: "a.js", Text: give})
			if err != nil {
				t.Fatal(err)
			}
			_, err = call(t, newRuntime(), p.Code)
			var e *goja.StackOverflowError
			if !errors.As(err, &e) {
				t.Errorf("%s ended with %v, want a full stack", give, err)
			}
		})
	}
}

func TestLaterEditionsAreThere(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		"JSON.stringify(Object.groupBy([1, 2, 3], n => n % 2 ? 'odd' : 'even'))":                                             `{"odd":[1,3],"even":[2]}`,
		"Object.getPrototypeOf(Object.groupBy([], x => x)) === null":                                                         "true",
		"Map.groupBy([1, 2, 3], n => n % 2).get(1).join()":                                                                   "1,3",
		"JSON.stringify(Object.groupBy('aba', (c, i) => c + (i > 1)))":                                                       `{"afalse":["a"],"bfalse":["b"],"atrue":["a"]}`,
		"await (() => { const {promise, resolve} = Promise.withResolvers(); resolve(4); return promise })()":                 "4",
		"await (() => { const {promise, reject} = Promise.withResolvers(); reject(5); return promise })().catch(x => x + 1)": "6",
		"(await Array.fromAsync([Promise.resolve(1), 2], async x => x * 2)).join()":                                          "2,4",
		"(await Array.fromAsync({length: 2, 0: 'a', 1: 'b'})).join()":                                                        "a,b",
		"(await Array.fromAsync(new Set([1, 2]))).join()":                                                                    "1,2",
		"await Array.fromAsync(null).catch(e => e.name)":                                                                     "TypeError",
		"Object.keys(Promise).length + Object.keys(globalThis).includes('structuredClone')":                                  "0",
		"Object.keys(globalThis).join()":                                                                                     "",
	} {
		if got := evaluateScript(t, "return "+give).String(); got != want {
			t.Errorf("%s = %s, want %s", give, got, want)
		}
	}
}

func TestStructuredClone(t *testing.T) {
	t.Parallel()
	const given = `const o = {a: [1, , {b: 2}], d: new Date(5), r: /x/gi, m: new Map([[{k: 1}, new Set([1])]]), n: null, u: undefined,
		e: new RangeError('no'), s: new String('x'), y: new Uint8Array([1, 2]), big: 3n, f: 1.5};
		o.self = o; o.a.push(o.a); o.m.set('m', o.m);
		Object.defineProperty(o, 'hidden', {value: 1, enumerable: false});
		const c = structuredClone(o);`
	for give, want := range map[string]string{
		"c !== o && c.self === c && c.a.at(-1) === c.a && c.m.get('m') === c.m":  "true",
		"JSON.stringify(c.a[2]) + (c.a[2] !== o.a[2]) + (1 in c.a) + c.a.length": `{"b":2}truefalse4`,
		"c.d.getTime() + String(c.d !== o.d)":                                    "5true",
		"String(c.r) + (c.r !== o.r)":                                            "/x/gitrue",
		"[...c.m.keys()][0].k + [...c.m.values()][0].size":                       "2",
		"c.n === null && 'u' in c && c.u === undefined":                          "true",
		"c.e instanceof RangeError && c.e.message":                               "no",
		"typeof c.s + c.s": "objectx",
		"c.y instanceof Uint8Array && c.y.join() + (c.y !== o.y)": "1,2true",
		"c.big === 3n && c.f":                       "1.5",
		"'hidden' in c":                             "false",
		"structuredClone(7) + structuredClone('a')": "7a",
		"(class A { x = 1 }, structuredClone(new (class A { x = 1 })).constructor === Object)": "true",
	} {
		if got := evaluateScript(t, given+"return "+give).String(); got != want {
			t.Errorf("%s = %s, want %s", give, got, want)
		}
	}
	for _, give := range []string{"() => 1", "{a: () => 1}", "[Symbol('x')]", "Promise.resolve(1)", "new WeakMap()", "{get a() { return Math.max }}", "class A {}"} {
		got := evaluateScript(t, "try { structuredClone("+give+") } catch (e) { return e.name + ': ' + e.message }\nreturn 'nothing was thrown'").String()
		if !strings.HasPrefix(got, "DataCloneError: ") {
			t.Errorf("structuredClone(%s) gives %q, want a DataCloneError", give, got)
		}
	}
}
