package fleet

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"agentswarm/swarm/script"
)

func TestReport(t *testing.T) {
	t.Parallel()
	suite, err := Read("x.test.toml", []byte(`
[[case]]
name = "as expected"
agent = [{ reply = "1" }]
expect = { agents = 2, result = ["1", "1"], logs = ["be", "end"] }

[[case]]
name = "another result"
agent = [{ reply = "2" }, { label = "never", reply = "3" }]
expect = { max_agents = 1, result = ["1", "2"], logs = ["end", "begin"] }

[[case]]
name = "no error"
agent = [{ reply = "1" }]
expect = { throws = "budget" }

[[case]]
name = "another error"
budget_tokens = 1
agent = [{ reply = "1", tokens = 1 }]
expect = { throws = "limit" }

[[case]]
name = "an error that nobody expects"
budget_tokens = 1
agent = [{ reply = "1", tokens = 1 }]
expect = { result = 1 }

[[case]]
name = "an error that is expected by its code"
budget_tokens = 1
agent = [{ reply = "1", tokens = 1 }]
expect = { throws = "budget" }

[[case]]
name = "an error that is expected by its words"
budget_tokens = 1
agent = [{ reply = "1", tokens = 1 }]
expect = { throws = "is spent" }

[[case]]
name = "no entry"
expect = { result = 1 }
`))
	if err != nil {
		t.Fatal(err)
	}
	report := tested(t, script.Source{Name: "x.js", Text: `
log('begin');
const out = [await agent('a'), await agent('b')];
log('end');
return out;`}, suite)
	want := `ok      as expected  (2 agents)
FAILED  another result  (2 agents)
        result[0]: got "2", want "1"
        agents: 2 were started, want at most 1
        logs: no line with "begin" where it is expected, in ["begin" "end"]
        not used: [[case.agent]] of line 9
FAILED  no error  (2 agents)
        throws: it returned ["1","1"], want an error "budget"
FAILED  another error  (1 agent)
        throws: got x.js:L:C: Error: the budget is spent: 1 of 1 tokens (code budget), want "limit"
FAILED  an error that nobody expects  (1 agent)
        it threw: x.js:L:C: Error: the budget is spent: 1 of 1 tokens (code budget)
ok      an error that is expected by its code  (1 agent)
ok      an error that is expected by its words  (1 agent)
FAILED  no entry  (0 agents)
        no [[case.agent]] answers a1: "a"
x.js: 3 of 8 cases passed; agents: at most 2 by the text; 2 seen
`
	var b strings.Builder
	n, err := report.WriteTo(&b)
	// Where in the line it was is for swarm/script to say.
	got := regexp.MustCompile(`x\.js:3:\d+:`).ReplaceAllString(b.String(), "x.js:L:C:")
	if err != nil || int(n) != b.Len() || got != want {
		t.Errorf("WriteTo = %d, %v:\n%s\nwant:\n%s", n, err, got, want)
	}
	if report.Passed() || report.Failed() != 5 {
		t.Errorf("Failed() = %d, want 5", report.Failed())
	}
}

func TestArgs(t *testing.T) {
	t.Parallel()
	const meta = "export const meta = { name: 'x', description: 'd', args: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } }\n"
	suite, err := Read("x.test.toml", []byte(`
[[case]]
name = "right"
args = { n = 3 }
expect = { result = 3 }
[[case]]
name = "wrong"
args = { n = "3" }
expect = { throws = "at '/n': got string, want integer", agents = 0 }
[[case]]
name = "none"
expect = { throws = "missing property 'n'", agents = 0 }
`))
	if err != nil {
		t.Fatal(err)
	}
	report := tested(t, script.Source{Name: "x.js", Text: meta + "return args.n"}, suite)
	for _, c := range report.Cases {
		if len(c.Wrong) > 0 {
			t.Errorf("%s: %q", c.Name, c.Wrong)
		}
	}
	_, err = Test(t.Context(), Request{
		Source: script.Source{Name: "x.js"}, Meta: &script.Meta{Args: []byte(`{"type":"objekt"}`)}, Suite: suite, Run: Direct,
	})
	if e := (*script.Error)(nil); !errors.As(err, &e) || e.Code != script.CodeMeta {
		t.Errorf("Test with a schema that is none = %v, want the code %s", err, script.CodeMeta)
	}
}

// TestCheckingArgsIsBounded: the parts of a schema double with each level.
func TestCheckingArgsIsBounded(t *testing.T) {
	t.Parallel()
	var defs strings.Builder
	for i := range 40 {
		fmt.Fprintf(&defs, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	s, err := compile("meta.args", []byte(`{"$ref":"#/$defs/d0","$defs":{`+defs.String()+`"d40":{"type":"integer"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.check([]byte(`"x"`)); err == nil || !strings.Contains(err.Error(), "too much to check") {
		t.Errorf("check = %.200v, want it to be too much", err)
	}
}

// TestWhoRuns: an error of the script's runner is no report.
func TestWhoRuns(t *testing.T) {
	t.Parallel()
	suite := &Suite{Cases: []*Case{{Name: "c"}}}
	broken := errors.New("no process")
	_, err := Test(t.Context(), Request{Suite: suite, Run: func(context.Context, script.Start, script.Host) (script.Outcome, error) {
		return script.Outcome{}, broken
	}})
	if !errors.Is(err, broken) {
		t.Errorf("Test = %v, want %v", err, broken)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(broken)
	if _, err := Test(ctx, Request{Suite: suite, Run: Direct}); !errors.Is(err, broken) {
		t.Errorf("Test of an ended context = %v, want %v", err, broken)
	}
}

func TestWorst(t *testing.T) {
	t.Parallel()
	three := 3
	for _, tt := range []struct {
		give Worst
		want string
	}{
		{Worst{Limit: 9, Seen: 2}, "unbounded by the script; at most --max-agents 9; 2 seen"},
		{Worst{Static: &three, Limit: 9, Seen: 2}, "at most 3 by the text; 2 seen"},
		{Worst{Static: &three, Limit: 2, Seen: 2}, "at most 2 by the text; 2 seen"},
	} {
		if got := tt.give.String(); got != tt.want {
			t.Errorf("String() = %q, want %q", got, tt.want)
		}
	}
}

func TestLib(t *testing.T) {
	t.Parallel()
	suite, err := Read("x.test.toml", []byte(`
[[case]]
name = "it is called"
code = "return lib.twice(args)"
args = "p"
agent = [{ reply = "1" }]
expect = { agents = 2, result = ["1", "1"] }
`))
	if err != nil {
		t.Fatal(err)
	}
	lib := script.Source{Name: "x.js", Text: "export const twice = async (p) => [await agent(p), await agent(p)]"}
	report, err := Test(t.Context(), Request{
		Source: script.Source{Name: "case"}, Lib: []script.Source{lib}, Suite: suite, Run: Direct,
	})
	if err != nil {
		t.Fatal(err)
	}
	if wrong := report.Cases[0].Wrong; len(wrong) > 0 {
		t.Errorf("%q", wrong)
	}
}
