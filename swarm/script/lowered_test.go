package script

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"
)

// TestLoweredSyntaxKeepsPlaces: an error in syntax that is rewritten names its
// line and column in the text of the script.
func TestLoweredSyntaxKeepsPlaces(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, give, where, line string }{
		{"for await", "const a = [1]\nfor await (const x of a) {\n  missing(x)\n}", "a.js:3:3", "  missing(x)"},
		{"head of for await", "for await (const x of [1, missing]) {}", "a.js:1:27", "for await (const x of [1, missing]) {}"},
		{"behind for await", "for await (const x of []) {} missing()", "a.js:1:30", "for await (const x of []) {} missing()"},
		{"not iterable", "const n = 5\nfor await (const x of n) {}", "a.js:2:23", "for await (const x of n) {}"},
		{"async generator", "async function* g() {\n  yield 1; missing()\n}\nfor await (const x of g()) {}", "a.js:2:12", "  yield 1; missing()"},
		{"behind an await", "async function* g() {\n  await null\n  yield missing()\n}\nawait g().next()", "a.js:3:9", "  yield missing()"},
		{"async method", "const o = { async *m() { yield missing() } }\nawait o.m().next()", "a.js:1:32", "const o = { async *m() { yield missing() } }"},
		{"behind an async method", "const o = { async *m() {}, async *n() {} }; missing()", "a.js:1:45", "const o = { async *m() {}, async *n() {} }; missing()"},
		{"line behind an async method", "const o = {\n  async *[Symbol.asyncIterator]() {},\n}\n  missing()", "a.js:4:3", "  missing()"},
		{"method of a class", "class A {\n  async *m() {\n    yield super.m()\n  }\n}\nawait new A().m().next()", "a.js:3:11", "    yield super.m()"},
		{"default of an element", "const f = ([a = missing, b = 2] = []) => a\nf()", "a.js:1:17", "const f = ([a = missing, b = 2] = []) => a"},
		{"behind such a default", "const f = ([a = 1, [b = 2] = []] = []) => missing\nf()", "a.js:1:43", "const f = ([a = 1, [b = 2] = []] = []) => missing"},
		{"behind a regular expression", "const é = /\\p{L}/u.test('é'); missing()", "a.js:1:31", "const é = /\\p{L}/u.test('é'); missing()"},
		{"callback of replace", "'a'.replace(/\\p{L}/u, () => missing())", "a.js:1:29", "'a'.replace(/\\p{L}/u, () => missing())"},
		{"callback of a helper", "[1].values().map(() => missing()).toArray()", "a.js:1:24", "[1].values().map(() => missing()).toArray()"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out := Run(t.Context(), Start{Source: Source{Name: "a.js", Text: tt.give}}, mute{})
			if out.Error == nil || out.Error.Where != tt.where || out.Error.Line != tt.line {
				t.Errorf("Run(%q) = %+v, want an error at %s: %q", tt.give, out.Error, tt.where, tt.line)
			}
		})
	}
}

// TestAMatchIsInterrupted: a pattern that goes back and forth ends with the run.
func TestAMatchIsInterrupted(t *testing.T) {
	t.Parallel()
	stopped := errors.New("stopped")
	for _, give := range []string{
		"/^(a+)+$/.test('a'.repeat(100) + '!')",
		"/^(?=(a+)+$)/.test('a'.repeat(100) + '!')",
		"'a'.repeat(100).match(/(a|aa)*b/gu)",
	} {
		t.Run(give, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			// No pattern ends before that: each has 2**50 ways to fail.
			defer time.AfterFunc(50*time.Millisecond, func() { cancel(stopped) }).Stop()
			out := Run(ctx, Start{Source: Source{Name: "a.js", Text: give}}, mute{})
			if out.Error == nil || out.Error.Message != stopped.Error() {
				t.Errorf("Run(%q) = %+v, want the error of the context", give, out.Error)
			}
		})
	}
}

// TestClosedFunctionsHaveTheLanguage: stopWhen and onTool match as scripts do.
func TestClosedFunctionsHaveTheLanguage(t *testing.T) {
	t.Parallel()
	var h Hooks
	for give, want := range map[string]string{
		`s => /^\p{L}+$/u.test(s.text)`:                                    "true",
		`s => s.text.localeCompare('ETE', 'en', {sensitivity: 'base'})`:    "0",
		`s => new Intl.NumberFormat('en-US').format(1234.5)`:               `"1,234.5"`,
		`s => Iterator.from([1, 2]).map((x) => x * 2).toArray().join('+')`: `"2+4"`,
		`s => [10 ** 308, 1e20 | 0, '\u00a01' == 1, s.text != 1]`:          `[1e+308,1661992960,true,true]`,
	} {
		got, err := h.Decide(give, json.RawMessage(`{"text": "été"}`), time.Minute)
		if err != nil || string(got) != want {
			t.Errorf("Decide(%s) = %s, %v, want %s", give, got, err, want)
		}
	}
	if _, err := h.Decide(`s => /^(a+)+$/.test('a'.repeat(100) + '!')`, json.RawMessage(`{}`), 20*time.Millisecond); err == nil {
		t.Error("a pattern that goes back and forth is not ended")
	}
}
