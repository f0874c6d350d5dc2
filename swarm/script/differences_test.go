package script

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// claudeRun runs a text in the form of Claude Code.
func claudeRun(t *testing.T, d *desk, text string) Outcome {
	t.Helper()
	return Run(t.Context(), Start{Source: Source{Name: "plan.js", Form: FormClaude, Text: text}}, d)
}

// gives reports a text that does not give a value.
func gives(t *testing.T, d *desk, text, want string) {
	t.Helper()
	if out := claudeRun(t, d, text); out.Error != nil || string(out.Value) != want {
		t.Errorf("%s gave %s and %v, want %s", text, out.Value, out.Error, want)
	}
}

// scripted reports a part that is missing in a script test of the command.
func scripted(t *testing.T, name, part string) {
	t.Helper()
	text, err := os.ReadFile("../../testdata/script/" + name)
	if err != nil || !strings.Contains(string(text), part) {
		t.Errorf("%s (%v) does not hold %q", name, err, part)
	}
}

// differences returns the tests of the differences from Claude Code, by the
// first words of each in docs/workflows.md.
func differences() map[string]func(*testing.T) {
	return map[string]func(*testing.T){
		"Where agents work": func(t *testing.T) {
			d := &desk{}
			claudeRun(t, d, `await agent('a'); await agent('b', {isolation: 'worktree'})`)
			if len(d.calls) != 2 || d.calls[0].Isolation != "shared" || d.calls[1].Isolation != "worktree" {
				t.Errorf("calls = %+v, want the first in the shared workspace", d.calls)
			}
			scripted(t, "script_shared.txtar", "# Scripts of .claude/workflows share unless they say otherwise.")
		},
		"Refusals": func(t *testing.T) {
			for _, code := range []Code{CodeOption, CodePolicy, CodeLimit, CodeBudget} {
				d := &desk{refuse: func(r Request) error {
					if _, ok := r.(*Call); ok {
						return &Error{Name: "Error", Code: code, Message: "no"}
					}
					return nil
				}}
				if out := claudeRun(t, d, `return parallel([() => agent('a')])`); out.Error == nil || out.Error.Code != code {
					t.Errorf("%s gave %s and %v", code, out.Value, out.Error)
				}
			}
		},
		"Our options": func(t *testing.T) {
			d := &desk{}
			claudeRun(t, d, `await agent('a', {limits: {turns: 2}, tools: ['read'], role: 'smol'}); await agent('b', {limits: 'few', tools: 7})`)
			if c := d.calls; len(c) != 2 || c[0].Limits.Turns != 2 || !slices.Equal(c[0].Tools, []string{"read"}) || c[0].Role != "smol" || c[1].Tools != nil {
				t.Errorf("calls = %+v", d.calls)
			}
			if n := len(d.lines("log")); n != 2 {
				t.Errorf("%d lines, want a warning for each option of the second call", n)
			}
		},
		"`meta.args`": func(t *testing.T) {
			gives(t, &desk{}, `export const meta = {name: 'a', description: 'd', args: {type: 'object', required: ['x']}}
				return args === undefined`, `true`)
		},
		"Models": func(t *testing.T) {
			d := &desk{}
			claudeRun(t, d, `await agent('a', {model: 'opus', effort: 'max'})`)
			if len(d.calls) != 1 || d.calls[0].Model != "opus" || d.calls[0].Effort != "max" {
				t.Errorf("calls = %+v, want the words of the script", d.calls)
			}
			scripted(t, "workflow_agents.txtar", "model: agent worker is a command")
		},
		"Budget": func(t *testing.T) {
			d := &desk{}
			out := Run(t.Context(), Start{BudgetTokens: 50, Source: Source{Name: "plan.js", Form: FormClaude,
				Text: `const before = budget.spent(); await agent('spend:20'); return [budget.total, before, budget.spent(), budget.remaining()]`}}, d)
			if string(out.Value) != `[50,0,20,30]` {
				t.Errorf("gave %s and %v", out.Value, out.Error)
			}
		},
		"Names": func(t *testing.T) {
			gives(t, &desk{}, `try { fetch('x') } catch (e) { return [typeof fetch, e.name, e.message.startsWith('fetch is not defined: a script has no network')] }`,
				`["undefined","ReferenceError",true]`)
		},
		"More names": func(t *testing.T) {
			gives(t, &desk{}, `return [race, run, join, cancel, sa, std, lib, check, merge, land, ask, repo, failures].every(Boolean)`, `true`)
			gives(t, &desk{}, `const race = 1, run = () => 2; function check() { return 3 }; let failures = []; class repo {}; return [race, run(), check(), failures]`, `[1,2,3,[]]`)
		},
		"Started promises": func(t *testing.T) {
			gives(t, &desk{}, `return [await parallel([agent('a'), () => agent('b')]), await parallel({c: () => agent('c')})]`, `[["did a","did b"],{"c":"did c"}]`)
		},
		"Lines": func(t *testing.T) {
			d := &desk{}
			claudeRun(t, d, `await agent('a', {nope: 1}); await parallel([() => { throw new Error('why') }]); Promise.reject('left'); return 1`)
			want := []string{`unknown option "nope"`, "parallel: item 0 is null: why", "unhandled rejection: left"}
			lines := logLines(t, d)
			if len(lines) != len(want) {
				t.Fatalf("logged %q", lines)
			}
			for i, part := range want {
				if !strings.Contains(lines[i], part) {
					t.Errorf("line %d = %q, want %q", i, lines[i], part)
				}
			}
		},
		"Called workflows": func(t *testing.T) {
			d := &desk{texts: map[string]string{"child": childWorkflow}}
			gives(t, d, `return (await workflow('child', {path: 'p'})).given`, `{"path":"p"}`)
			d = &desk{refuse: func(r Request) error {
				if _, ok := r.(*Nested); ok {
					return &Error{Name: "Error", Code: CodePolicy, Message: "not approved"}
				}
				return nil
			}}
			if out := claudeRun(t, d, `return parallel([() => workflow('child')])`); out.Error == nil || out.Error.Code != CodePolicy {
				t.Errorf("gave %s and %v, want the refusal", out.Value, out.Error)
			}
		},
		"Digits": func(t *testing.T) {
			// In node: [-0.4875060250875107, "2hqbczu2ow6…", 1e+308].
			gives(t, &desk{}, `const d = Math.sin(1e10) + 0.4875060250875107; return [d !== 0 && Math.abs(d) < 1e-15, (1e100).toString(36).slice(0, 11), 10 ** 308]`,
				`[true,"2hqbczu2ow5",1e+308]`)
		},
		"Blanks": func(t *testing.T) {
			// In node: [null,1,0,null].
			gives(t, &desk{}, `let a = '\u00a0'; a++; return ['\u0085' * 1, a, Math.abs('\u00a0'), Number('\u0085')]`, `[0,null,null,null]`)
		},
		"Folds": func(t *testing.T) {
			// In node: [true,true,true].
			gives(t, &desk{}, `return [/[\w--k]/iv.test('\u212a'), /[ſ--s]/iv.test('s'), /[\u212a]/iv.test('K')]`, `[false,false,true]`)
		},
		"Pairs": func(t *testing.T) {
			// In node: [["\ud83d","\ude00"],2,["a\ud83d","\ude00"],1].
			gives(t, &desk{}, `const p = '\ud83d\ude00'; return [p.split(/(?<!^)/u), p.replace(/(?<!^)/gv, '-').indexOf('-'), ('a' + p).split(/\B/v), p.search(/(?!^)/u)]`,
				`[["😀"],2,["a😀"],2]`)
		},
		"Messages": func(t *testing.T) {
			// In node: "Cannot read properties of undefined (reading 'c')".
			gives(t, &desk{}, `try { ({}).b.c } catch (e) { return [e.name, e.message] }`, `["TypeError","Cannot read property 'c' of undefined"]`)
		},
		"Resume": func(t *testing.T) {
			scripted(t, "script_claude.txtar", "# A timer that has fired is on record: a resume does not wait again.")
			scripted(t, "script_claude.txtar", "# A resume keeps what completed, also behind a change.")
		},
	}
}

// TestClaudeDifferences: each difference in the documentation has a test, and
// each test is of a documented difference.
func TestClaudeDifferences(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/workflows.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(text), "What differs from Claude\nCode")
	if !found {
		t.Fatal("the documentation has no list of differences")
	}
	var told []string
	for _, m := range regexp.MustCompile(`(?m)^- (?:\*\*)?(.*?)\*\*`).FindAllStringSubmatch(list, -1) {
		told = append(told, m[1])
	}
	if n := strings.Count(list, "\n- "); n != len(told) {
		t.Errorf("%d of %d lines have a name", len(told), n)
	}
	all := differences()
	for _, name := range told {
		if all[name] == nil {
			t.Errorf("no test of %q", name)
			continue
		}
		t.Run(name, all[name])
		delete(all, name)
	}
	for name := range all {
		t.Errorf("the documentation does not tell of %q", name)
	}
}
