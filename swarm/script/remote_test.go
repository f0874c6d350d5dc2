package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// remotely runs a script on a desk in a process of its own.
func remotely(t *testing.T, d Host, text string) (Outcome, error) {
	t.Helper()
	return RunRemote(t.Context(), start(t, nil), Start{Source: Source{Name: "plan.js", Text: text}}, d)
}

func TestAScriptIsTheSameInAProcessOfItsOwn(t *testing.T) {
	t.Parallel()
	for _, give := range []string{
		"", "return 1", "return {a: '<&>\u2028', b: [1, null]}",
		"return await agent('x', {label: '<b>'})",
		"return (await parallel([() => agent('a @5'), () => agent('b'), () => agent('fail:other no')])).concat(failures())",
		"const h = await sa.run({prompt: 'x @50'}); try { await sa.join(h.id, {timeout: 5}) } catch (e) { return [e.code, await sa.cancel(h.id)] }",
		"phase('one'); log('<x>', {a: 1}); return await race([() => agent('a @9'), () => agent('b')])",
		"throw new TypeError('no')", "\n  await sa.join('zz')", "const a = ;", "await new Promise(() => {})",
		"return lib.double(args.n)",
	} {
		t.Run(give, func(t *testing.T) {
			t.Parallel()
			begin := Start{
				Source: Source{Name: "plan.js", Text: give}, Args: json.RawMessage(`{"n":4}`),
				Lib: []Source{{Name: "lib.js", Text: "export const double = n => 2 * n"}},
			}
			here, there := &desk{}, &desk{}
			want := Run(t.Context(), begin, here)
			p := start(t, nil)
			got, err := RunRemote(t.Context(), p, begin, there)
			if err != nil {
				t.Fatal(err)
			}
			if g, w := jsonOf(t, got), jsonOf(t, want); g != w {
				t.Errorf("the outcome is %s, want %s", g, w)
			}
			if g, w := strings.Join(there.asked, "\n"), strings.Join(here.asked, "\n"); g != w {
				t.Errorf("the script asked\n%s\nwant\n%s", g, w)
			}
			if code := p.exit(); code != servedWell && code != servedGone {
				t.Errorf("the process ended with %d", code)
			}
		})
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTimesOfAProcessAreUTC(t *testing.T) {
	t.Parallel()
	out, err := remotely(t, &desk{}, "return [new Date('2026-07-02T03:04').toISOString(), new Date(0).getHours(), String(new Date(0)), new Date(2026, 0, 1).getTime()]")
	if want := `["2026-07-02T03:04:00.000Z",0,"Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)",1767225600000]`; err != nil || string(out.Value) != want {
		t.Errorf("the script returned %s, %v, want %s", out.Value, err, want)
	}
}

func TestTheHostRefusesAcrossThePipe(t *testing.T) {
	t.Parallel()
	policy := &desk{refuse: func(r Request) error {
		if Verb(r) == "call" {
			return &Error{Name: "RangeError", Code: CodeBudget, Message: "spent"}
		}
		return nil
	}}
	out, err := remotely(t, policy, "try { await agent('x') } catch (e) { return [e instanceof RangeError, e.code, e.message] }")
	if want := `[true,"budget","spent"]`; err != nil || string(out.Value) != want {
		t.Errorf("the script returned %s, %v, want %s", out.Value, err, want)
	}
	errDisk := errors.New("the disk is full")
	broken := &desk{refuse: func(Request) error { return errDisk }}
	if _, err := remotely(t, broken, "try { await agent('x') } catch {} return 1"); !errors.Is(err, errDisk) {
		t.Errorf("RunRemote = %v, want what the host could not do", err)
	}
	silent := &desk{next: func(context.Context) (Delivery, error) { return Delivery{}, errDisk }}
	if _, err := remotely(t, silent, "await agent('x')"); !errors.Is(err, errDisk) {
		t.Errorf("RunRemote = %v, want what the host could not do", err)
	}
}

func TestTheEndOfTheContextEndsAProcess(t *testing.T) {
	t.Parallel()
	for name, give := range map[string]string{
		"a loop":     "await agent('x'); for (;;) {}",
		"a regexp":   "await agent('x'); /^(?=a)(a+)+$/.test('a'.repeat(50) + '!')",
		"in finally": "await agent('x'); try { for (;;) {} } finally { for (;;) {} }",
		"a wait":     "await agent('wait')",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			errEnough := errors.New("enough")
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			d := &desk{}
			d.next = func(ctx context.Context) (Delivery, error) {
				if name == "a wait" {
					cancel(errEnough)
					<-ctx.Done()
					return Delivery{}, ctx.Err()
				}
				// The script has asked, and goes on when it has heard.
				time.AfterFunc(50*time.Millisecond, func() { cancel(errEnough) })
				output := "done"
				return Delivery{Result: &Result{ID: "a1", Status: "completed", Output: &output}}, nil
			}
			p := start(t, nil)
			_, err := RunRemote(ctx, p, Start{Source: Source{Name: "plan.js", Text: give}}, d)
			if !errors.Is(err, errEnough) {
				t.Errorf("RunRemote = %v, want the cause of the context", err)
			}
			if code := p.exit(); code != servedGone {
				t.Errorf("the process ended with %d, want %d", code, servedGone)
			}
		})
	}
}

func TestRunawaysAreEnded(t *testing.T) {
	t.Parallel()
	wall := Bounds{Memory: 512 << 20, Wall: 300 * time.Millisecond, CPU: time.Hour, Every: 10 * time.Millisecond}
	cpu := Bounds{Memory: 512 << 20, Wall: time.Hour, CPU: 300 * time.Millisecond, Every: 10 * time.Millisecond}
	memory := Bounds{Memory: 200 << 20, Wall: time.Hour, CPU: time.Hour, Every: 10 * time.Millisecond}
	tests := []struct {
		name, give string
		bounds     Bounds
		want       string
	}{
		{"a loop", "for (;;) {}", wall, "ran for 300ms without asking"},
		{"a loop behind an agent", "await agent('x'); for (;;) {}", wall, "ran for 300ms without asking"},
		{"a loop of promises", "for (;;) await null", wall, "ran for 300ms without asking"},
		{"a regexp", "/^(?=a)(a+)+$/.test('a'.repeat(50) + '!')", wall, "ran for 300ms without asking"},
		{"processor", "for (;;) {}", cpu, "used the processor for 300ms"},
		{"one array", "const a = new Array(2e7).fill(0); for (;;) a.length", memory, "more than 200 MiB"},
		{"many", "const a = []; for (;;) a.push('x'.repeat(10000) + a.length)", memory, "more than 200 MiB"},
		{"reading", "eval('1' + '+1'.repeat(200000))", wall, "ran for 300ms without asking"},
		{"the stack", "JSON.parse('['.repeat(5e6))", Bounds{Memory: 8 << 30, Wall: time.Hour, CPU: time.Hour, Every: time.Second}, "ended without a word"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := start(t, &tt.bounds)
			out, err := RunRemote(t.Context(), p, Start{Source: Source{Name: "plan.js", Text: tt.give}}, &desk{})
			if e := out.Error; err != nil || e == nil || e.Code != CodeRunaway || !strings.Contains(e.Message, tt.want) {
				t.Errorf("RunRemote = %v, %v, want a runaway: %q", e, err, tt.want)
			}
			if code := p.exit(); code == servedWell {
				t.Errorf("the process ended with %d", code)
			}
		})
	}
}

// TestWaitingIsNotRunning has its host take longer than a script may run. A busy
// machine may not let the process begin, or end, within that: then it gets more.
func TestWaitingIsNotRunning(t *testing.T) {
	t.Parallel()
	for wall := 2 * time.Second; ; wall *= 2 {
		bounds := Bounds{Memory: 512 << 20, Wall: wall, CPU: time.Hour, Every: 5 * time.Millisecond}
		d := &desk{}
		d.next = func(context.Context) (Delivery, error) {
			time.Sleep(2 * wall)
			d.next = nil
			return d.Next(t.Context())
		}
		out, err := RunRemote(t.Context(), start(t, &bounds), Start{Source: Source{Name: "plan.js", Text: "return await agent('x')"}}, d)
		if out.Error != nil && out.Error.Code == CodeRunaway && wall < 16*time.Second {
			continue
		}
		if err != nil || string(out.Value) != `"did x"` {
			t.Errorf("RunRemote = %s, %v, %v, want the answer", out.Value, out.Error, err)
		}
		return
	}
}

func TestLoadRemote(t *testing.T) {
	t.Parallel()
	sources := []Source{
		{Name: "a.js", Text: "export const meta = {name: 'a', description: 'd', phases: ['x'], args: {type: 'object'}}"},
		{Name: "b.js", Text: "return 1"},
		{Name: "c.js", Text: "\nconst a = ;"},
	}
	lib := []Source{{Name: "l.js", Text: "export function f() {}"}, {Name: "m.js", Text: "export default 1"}}
	got, err := LoadRemote(t.Context(), start(t, nil), sources, lib)
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"name":"a.js","meta":{"name":"a","description":"d","phases":[{"title":"x"}],"args":{"type":"object"}}},` +
		`{"name":"b.js"},` +
		`{"name":"c.js","error":{"name":"SyntaxError","code":"syntax","message":"unexpected token ;","where":"c.js:2:11","line":"const a = ;"}},` +
		`{"name":"l.js","exports":["f"]},` +
		`{"name":"m.js","error":{"name":"SyntaxError","code":"syntax","message":"` + notExported + `","where":"m.js:1:1","line":"export default 1"}}]`
	if g := jsonOf(t, got); g != want {
		t.Errorf("LoadRemote =\n%s\nwant\n%s", g, want)
	}
}

func TestAHostileTextIsARunaway(t *testing.T) {
	t.Parallel()
	// Most of the stack of a process, in statements without brackets.
	bounds := Bounds{Memory: 40 << 20, Wall: time.Minute, CPU: time.Minute, Every: time.Millisecond}
	text := strings.Repeat("while(1)\n", MaxSource/9)
	_, err := LoadRemote(t.Context(), start(t, &bounds), []Source{{Name: "a.js", Text: text}}, nil)
	var e *Error
	if !errors.As(err, &e) || e.Code != CodeRunaway {
		t.Errorf("LoadRemote = %v, want a runaway", err)
	}
}

func TestAProcessKnowsItsWords(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"{}\n", "x\n", `{"open":"run"}` + "\n", `{"open":"walk"}` + "\n", `{"open":"hooks"}` + "\nx\n"} {
		p := start(t, nil)
		if _, err := p.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
		if code := p.exit(); code != servedBadly {
			t.Errorf("a process that is told %q ends with %d, want %d", line, code, servedBadly)
		}
	}
	p := start(t, nil)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if code := p.exit(); code != servedGone {
		t.Errorf("a process that is told nothing ends with %d, want %d", code, servedGone)
	}
}

// hasty calls left after each line that is written.
type hasty struct {
	*process
	left func()
}

func (h *hasty) Write(line []byte) (int, error) {
	defer h.left()
	return h.process.Write(line)
}

func TestHooksInAProcessOfTheirOwn(t *testing.T) {
	t.Parallel()
	p := &hasty{start(t, nil), func() {}}
	h, err := NewHooksRemote(p)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			got, err := h.Decide(t.Context(), "s => s.i * 2", json.RawMessage(fmt.Sprintf(`{"i":%d}`, i)))
			if want := fmt.Sprint(i * 2); err != nil || string(got) != want {
				t.Errorf("Decide(%d) = %s, %v, want %s", i, got, err, want)
			}
		})
	}
	wg.Wait()
	for source, want := range map[string]Code{"s => limit": CodeOption, "s => { for (;;) {} }": CodeTimeout, "s => { throw 1 }": ""} {
		_, err := h.Decide(t.Context(), source, json.RawMessage(`{}`))
		var e *Error
		if !errors.As(err, &e) || e.Code != want {
			t.Errorf("Decide(%q) = %v, want the code %q", source, err, want)
		}
	}
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		p.left = cancel
		if _, err := h.Decide(ctx, "s => 1", json.RawMessage(`{}`)); !errors.Is(err, context.Canceled) {
			t.Errorf("Decide of a context that ends = %v, want that it was canceled", err)
		}
		p.left = func() { t.Error("a question was asked in an ended context") }
		if _, err := h.Decide(ctx, "s => 1", json.RawMessage(`{}`)); !errors.Is(err, context.Canceled) {
			t.Errorf("Decide of an ended context = %v, want that it was canceled", err)
		}
	}
	p.left = func() {}
	if got, err := h.Decide(t.Context(), "s => 2", json.RawMessage(`{}`)); err != nil || string(got) != "2" {
		t.Errorf("Decide after questions nobody waited for = %s, %v, want 2", got, err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if code := p.exit(); code != servedGone {
		t.Errorf("the process ended with %d, want %d", code, servedGone)
	}
	if _, err := h.Decide(t.Context(), "s => 1", json.RawMessage(`{}`)); err == nil {
		t.Error("Decide of a closed process = nil, want an error")
	}
}

func TestAHookThatCannotBeInterrupted(t *testing.T) {
	t.Parallel()
	h, err := NewHooksRemote(start(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	for range 2 {
		_, err = h.Decide(t.Context(), "s => Array.prototype.indexOf.call({length: 2 ** 50}, 1)", json.RawMessage(`{}`))
		var e *Error
		if !errors.As(err, &e) || e.Code != CodeRunaway {
			t.Errorf("Decide = %v, want a runaway", err)
		}
	}
}
