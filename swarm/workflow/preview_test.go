package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/script"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// past is a run on record, made from the requests of its script.
type past struct {
	records []event.Record
	ends    map[string]task.Result // by label; any other completes
}

func (p *past) add(e event.Event) {
	p.records = append(p.records, event.Record{N: int64(len(p.records) + 1), Time: time.Unix(0, 0), Event: e})
}

// foresee is the preview of a text against the past.
func (p *past) foresee(t *testing.T, text string) *Preview {
	t.Helper()
	view := store.Fold(store.Identity{Run: "abc234"}, p.records)
	got, err := Foresee(t.Context(), PreviewRequest{
		Prior: view, Recall: engine.NewRecall(engine.Deps{}, engine.Config{}, view), Tools: onlyBase{},
		Script: &event.Scripted{Name: "s.js", Text: text},
		Config: Config{Agent: "worker", Agents: []string{"worker"}, Base: "b", BaseTree: "t", MaxAgents: 100},
		Machine: func(ctx context.Context, start script.Start, host script.Host) (script.Outcome, error) {
			return script.Run(ctx, start, host), nil
		},
	})
	if err != nil {
		t.Fatalf("Foresee(%q): %v", text, err)
	}
	return got
}

// live lets a script run to its end: its requests go on record.
func (p *past) live(t *testing.T, text string) *past {
	t.Helper()
	for range 20 {
		seen := p.foresee(t, text)
		before := len(p.records)
		for _, s := range seen.Steps {
			switch {
			case s.Fate != FateNew:
			case s.Call != nil:
				call := *s.Call
				call.Key = call.Sum()
				p.add(&event.Called{Agent: s.Agent, Call: &call})
				if s.Cancelled {
					p.add(&event.CancelAsked{Agents: []task.ID{s.Agent}, Cause: task.CauseCancelled, Script: true})
					p.add(&event.Settled{Agent: s.Agent, Attempt: 1, Result: &task.Cancelled{Cause: task.CauseCancelled}})
					continue
				}
				end := p.ends[call.Label]
				if end == nil {
					end = &task.Completed{Answer: call.Label, Work: task.Work{Usage: task.Usage{Output: 10, CostUSD: 1}}}
				}
				p.add(&event.Settled{Agent: s.Agent, Attempt: 1, Result: end})
			default:
				p.record(t, s.Request)
			}
		}
		if len(p.records) == before {
			return p // it came to its end, or the failed calls would run again
		}
	}
	t.Fatalf("%q never ends", text)
	return nil
}

// record puts an answer to something other than a call on record.
func (p *past) record(t *testing.T, r script.Request) {
	t.Helper()
	d := newDriver(Request{Tools: onlyBase{}, Config: Config{Base: "b"}})
	about, value := any(r), json.RawMessage(`{"ok":true}`)
	switch r := r.(type) {
	case *script.Check:
		resolved := *r
		resolved.On, about = "b", &resolved
	case *script.Merge:
		about, value = script.Merge{Patches: r.Patches, Onto: "b"}, json.RawMessage(`{"tree":"m","applied":[],"conflicts":[]}`)
	}
	key, err := d.key(r, about)
	if err != nil {
		t.Fatal(err)
	}
	p.add(&event.Entered{Verb: script.Verb(r), Key: key, Value: value})
}

// onlyBase are tools of which a preview may use nothing that does something.
type onlyBase struct{ Tools }

func (onlyBase) Files(context.Context, string) ([]string, error) { return []string{"a.go"}, nil }

func (s Step) String() string {
	what := script.Verb(s.Request)
	if s.Call != nil {
		what = string(s.Agent) + "(" + s.Call.Label + ")"
	}
	text := what + " " + string(s.Fate)
	if s.Earlier != nil && s.Earlier.ID != s.Agent {
		text += " was " + string(s.Earlier.ID)
	}
	if s.Cancelled {
		text += " cancelled"
	}
	return text
}

func (p *Preview) String() string {
	var parts []string
	for _, s := range p.Steps {
		parts = append(parts, s.String())
	}
	for _, a := range p.Dropped {
		parts = append(parts, "drops "+string(a.ID))
	}
	switch {
	case p.Outcome == nil:
		parts = append(parts, "…")
	case p.Outcome.Error != nil:
		parts = append(parts, "throws "+p.Outcome.Error.Message)
	default:
		parts = append(parts, "returns "+string(p.Outcome.Value))
	}
	return strings.Join(parts, "; ")
}

// foreseen is a script that is compared with the records of another.
type foreseen struct {
	name         string
	before, text string
	ends         map[string]task.Result
	want         string
}

func foreseenCases() []foreseen {
	call := func(label string) string { return fmt.Sprintf("await agent('do %s', {label: '%s'})", label, label) }
	abc := "const a = " + call("a") + "; const b = " + call("b") + "; return a + b"
	failed := map[string]task.Result{"b": &task.Failed{Kind: task.Other, Reason: "no"}}
	return []foreseen{
		{"the same", abc, abc, nil, `a1(a) recorded; a2(b) recorded; returns "ab"`},
		{"nothing on record", "return 1", abc, nil, "a1(a) new; …"},
		{"one failed", abc, abc, failed, "a1(a) recorded; a2(b) again; …"},
		{
			"another prompt", abc, strings.Replace(abc, "do b", "do it", 1), nil,
			"a1(a) recorded; a3(b) new was a2; drops a2; …",
		},
		{
			"another order", abc, "const b = " + call("b") + "; const a = " + call("a") + "; return a + b", nil,
			`a2(b) recorded; a1(a) recorded; returns "ab"`,
		},
		{"one call less", abc, "return " + call("a"), nil, `a1(a) recorded; drops a2; returns "a"`},
		{
			"others go on while one would run",
			"return 0", "return parallel([() => agent('x', {label: 'x'}), () => agent('y', {label: 'y'})])", nil,
			"a1(x) new; a2(y) new; …",
		},
		{
			"what is on record goes on beside what is not",
			"const [x, z] = await parallel([() => agent('x', {label: 'x'}), () => agent('z', {label: 'z'})]); " + call("after"),
			"const p = agent('y', {label: 'y'}); const [x, z] = await parallel([() => agent('x', {label: 'x'}), () => agent('z', {label: 'z'})]); " +
				call("after") + "; return p",
			nil, "a4(y) new; a1(x) recorded; a2(z) recorded; a3(after) recorded; …",
		},
		{
			"cancelled by the script", "const p = agent('x', {label: 'x'}); p.cancel(); return await p",
			"const p = agent('x', {label: 'x'}); p.cancel(); return await p", nil,
			`a1(x) recorded; returns null`,
		},
		{
			"one that would be cancelled", "return 0",
			"const p = agent('x', {label: 'x'}); p.cancel(); return await p", nil,
			`a1(x) new cancelled; returns null`,
		},
		{"checks", "await check('unit'); return 1", "await check('unit'); await check('lint'); return 2", nil, "check recorded; check new; …"},
		{"merges", "await merge([]); return 1", "await merge([]); return 2", nil, "merge recorded; returns 2"},
		{"a merge that was not", "return 1", "try { await merge([]) } catch (e) { return 3 } return 2", nil, "merge new; …"},
		{"the base", "return 1", "return (await repo.files('*')).length", nil, "returns 1"},
		{"a throw", "return 1", "throw new Error('no good')", nil, "throws no good"},
		{"logs", "return 1", "log('x'); phase('y'); return 2", nil, "returns 2"},
		{
			"no record is taken twice", "return " + call("a"), call("a") + "; return " + call("a"), nil,
			"a1(a) recorded; a2(a) new; …",
		},
	}
}

func TestForesee(t *testing.T) {
	t.Parallel()
	for _, tt := range foreseenCases() {
		p := &past{ends: tt.ends}
		if tt.before != "" {
			p.live(t, tt.before)
		}
		if got := p.foresee(t, tt.text).String(); got != tt.want {
			t.Errorf("%s: Foresee(%q)\n got  %s\n want %s", tt.name, tt.text, got, tt.want)
		}
	}
}

// TestForeseeEndsWithItsContext holds that a script which never waits is
// not waited for.
func TestForeseeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	view := store.Fold(store.Identity{Run: "abc234"}, nil)
	_, err := Foresee(ctx, PreviewRequest{
		Prior: view, Recall: engine.NewRecall(engine.Deps{}, engine.Config{}, view), Tools: onlyBase{},
		Script: &event.Scripted{Name: "s.js", Text: "while (true) {}"},
		Machine: func(ctx context.Context, start script.Start, host script.Host) (script.Outcome, error) {
			return script.Run(ctx, start, host), nil
		},
	})
	if err == nil {
		t.Error("Foresee of an endless loop has no error")
	}
}
