package workflow

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/inbox"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// value returns the return value of a script.
func value(t *testing.T, r *rig, text string) string {
	t.Helper()
	outcome, err := r.play(text)
	if err != nil {
		t.Fatal(err)
	}
	if outcome.Error != nil {
		t.Fatalf("the script threw: %v", outcome.Error)
	}
	return string(outcome.Value)
}

func TestAResumeOfWhatCompletedRunsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	text := `const [a, b] = await parallel(['one', 'two'].map(w => () => agent('echo ' + w + ' >> $RIG/ran; echo ' + w)))
log('between')
const c = await check('good')
const late = await sa.run({ prompt: 'sleep 60' })
let timeout
try { await sa.join(late.id, { timeout: 30 }) } catch (e) { timeout = e.code }
await sa.cancel(late.id)
return [a.trim(), b.trim(), c.ok, timeout, sa.status(late.id).status, budget.spent(), await repo.files('x')]`
	want := `["one","two",true,"timeout","cancelled",0,["x"]]`
	if got := value(t, r, text); got != want {
		t.Fatalf("the script returned %s, want %s", got, want)
	}
	first, before := r.delivered, len(r.records)
	if got := value(t, r, text); got != want {
		t.Errorf("replayed it returned %s, want %s", got, want)
	}
	if !slices.Equal(r.delivered, first) {
		t.Errorf("replayed, %q entered, want %q", r.delivered, first)
	}
	if ran := strings.Fields(r.ran()); len(ran) != 2 {
		t.Errorf("agents ran: %q", ran)
	}
	for _, rec := range r.records[before:] {
		switch rec.Event.(type) {
		case *event.Scripted, *event.Returned:
		default:
			t.Errorf("the replay journaled %s", event.Kind(rec.Event))
		}
	}
}

func TestAThousandCallsReplayAndStartNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.completed(1000)
	if got := value(t, r, many(1000)); got != "1000" {
		t.Errorf("returned %s", got)
	}
	for _, rec := range r.records[2000:] {
		switch rec.Event.(type) {
		case *event.Scripted, *event.Returned:
		default:
			t.Fatalf("the replay journaled %s", event.Kind(rec.Event))
		}
	}
}

func TestAnEditedScriptRunsOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	value(t, r, `return [await agent('echo a >> $RIG/ran'), await agent('echo b >> $RIG/ran')]`)
	value(t, r, `return [await agent('echo c >> $RIG/ran'), await agent('echo b >> $RIG/ran'), await agent('echo a >> $RIG/ran', {label: 'new'})]`)
	if got := r.ran(); got != "a b c" {
		t.Errorf("agents ran: %s", got)
	}
	if v := r.view(); len(v.Returned.Unasked) != 0 {
		t.Errorf("unasked are %v", v.Returned.Unasked)
	}
	value(t, r, `return await agent('echo c >> $RIG/ran')`)
	if v := r.view(); fmt.Sprint(v.Returned.Unasked) != "[a1 a2]" {
		t.Errorf("unasked are %v, want a1 and a2", v.Returned.Unasked)
	}
}

func TestOverridesOfTheKey(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	value(t, r, `return [await agent('echo a >> $RIG/ran', {id: 'x'}), await agent('echo b >> $RIG/ran', {cache: false})]`)
	value(t, r, `return [await agent('echo changed >> $RIG/ran', {id: 'x'}), await agent('echo b >> $RIG/ran', {cache: false})]`)
	if got := r.ran(); got != "a b b" {
		t.Errorf("agents ran: %s", got)
	}
}

func TestFailedCallsRunAgainAsTheNextAttempt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	text := `const x = await agent('test -e $RIG/mended && echo good'); return [x && x.trim(), failures().length]`
	if got := value(t, r, text); got != `[null,1]` {
		t.Fatalf("returned %s", got)
	}
	value(t, r, `await agent('touch $RIG/mended'); return 1`)
	if got := value(t, r, text); got != `["good",0]` {
		t.Errorf("returned %s", got)
	}
	if a := r.view().Agent("a1"); a.Attempt != 2 {
		t.Errorf("a1 is at attempt %d, want 2", a.Attempt)
	}
}

func TestAgentsNobodyAwaitedAreEnded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	value(t, r, `agent('sleep 60'); agent('sleep 61'); return 1`)
	for _, a := range r.view().Agents {
		c, ok := a.Status.(*task.Cancelled)
		if !ok || c.Cause != task.CauseCancelled || !a.Cancel.Script {
			t.Errorf("%s is %+v, want cancelled by the script", a.ID, a.Status)
		}
	}
	// They were not wanted: a resume does not start them.
	before := len(r.records)
	value(t, r, `agent('sleep 60'); agent('sleep 61'); return 1`)
	for _, rec := range r.records[before:] {
		if s, ok := rec.Event.(*event.Started); ok {
			t.Errorf("%s was started again", s.Agent)
		}
	}
}

// TestAgentsNobodyAwaitedAreEndedInOrder has none of them begin, so that all end at
// once: in the order of their calls.
func TestAgentsNobodyAwaitedAreEndedInOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	value(t, r, `return 1`)
	value(t, r, `for (let i = 0; i < 20; i++) agent('sleep 60 # ' + i); return 2`)
	var asked, ended, want []task.ID
	for _, rec := range r.records {
		switch e := rec.Event.(type) {
		case *event.CancelAsked:
			asked = append(asked, e.Agents...)
		case *event.Settled:
			ended = append(ended, e.Agent)
		}
	}
	for i := range 20 {
		want = append(want, task.AgentID(i+1))
	}
	if !slices.Equal(asked, want) || !slices.Equal(ended, want) {
		t.Errorf("asked to end were %v, and %v ended, want %v", asked, ended, want)
	}
}

// TestARunThatCannotBeWrittenDown has its journal fail while something enters the
// script: that is the engine's to say, which [engine.Engine.Close] does, and not
// said twice now and then.
func TestARunThatCannotBeWrittenDown(t *testing.T) {
	t.Parallel()
	for range 20 {
		r := newRig(t)
		r.stopAt = 1 // the script itself
		_, err := r.playWith(t.Context(), `await check('good'); return 1`, func(*engine.Engine) { r.killed = nil })
		if !errors.Is(err, ErrHalted) {
			t.Errorf("Drive = %v, want %v", err, ErrHalted)
		}
	}
}

func TestAScriptThatThrowsLeavesItsAgentsForAResume(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	outcome, err := r.play(`const p = sa.run({prompt: 'test -e $RIG/ran || sleep 60; echo x >> $RIG/ran; echo fine'}); throw new Error('typo')`)
	if err != nil || outcome.Error == nil || outcome.Error.Message != "typo" {
		t.Fatalf("play = %+v, %v", outcome, err)
	}
	value(t, r, `await agent('echo x >> $RIG/ran'); return 1`)
	got := value(t, r, `const p = await sa.run({prompt: 'test -e $RIG/ran || sleep 60; echo x >> $RIG/ran; echo fine'}); return (await sa.join(p.id)).output`)
	if got != `"fine\n"` {
		t.Errorf("the agent of the script that threw said %s", got)
	}
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text, want string
		reply            string // empty: no answer
	}{
		{name: "answered", text: `return await ask('which?', {choices: ['one', 'two']})`, reply: "TWO", want: `"two"`},
		{name: "default", text: `return await ask('which?', {default: 'one', timeout: 20})`, want: `"one"`},
		{name: "too late", text: `try { await ask('which?', {timeout: 20}) } catch (e) { return e.code }`, want: `"timeout"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			outcome, err := r.playWith(t.Context(), tt.text, func(e *engine.Engine) {
				if tt.reply != "" {
					go answerFirst(t, r, e, tt.reply)
				}
			})
			if err != nil || outcome.Error != nil || string(outcome.Value) != tt.want {
				t.Fatalf("play = %+v, %v, want %s", outcome, err, tt.want)
			}
			if len(r.view().Waiting()) != 0 {
				t.Error("the question is still open")
			}
			if got := value(t, r, tt.text); got != tt.want {
				t.Errorf("replayed it returned %s, want %s", got, tt.want)
			}
		})
	}
}

// answerFirst answers the first question that is asked.
func answerFirst(t *testing.T, r *rig, e *engine.Engine, text string) {
	for t.Context().Err() == nil {
		if waiting := r.view().Waiting(); len(waiting) > 0 {
			q := waiting[0]
			_, err := e.Answer(inbox.Answer{Shown: inbox.Digest(q.Action), Replied: event.Replied{ID: q.ID, Allow: true, Text: text}})
			if err != nil {
				t.Errorf("answer: %v", err)
			}
			return
		}
	}
}

func TestTheCapIsAnErrorOfTheScript(t *testing.T) {
	t.Parallel()
	d := newDriver(Request{Config: Config{MaxAgents: 0}})
	if _, err := d.call(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "--max-agents") {
		t.Errorf("a call above the cap = %v", err)
	}
}

func TestABranchStaysWhatItWas(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	text := `return (await agent('echo x >> $RIG/ran', {base: 'main', full: true})).status`
	value(t, r, text)
	value(t, r, text)
	if got := r.ran(); got != "x" {
		t.Errorf("agents ran: %q; the branch had moved meanwhile", got)
	}
	if a := r.view().Agent("a1"); a.Call.Base != "commit-1" || a.Call.BaseTree != "tree-1" {
		t.Errorf("a1 starts from %s, %s", a.Call.Base, a.Call.BaseTree)
	}
}

func TestRefusalsAreNoRecords(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.questions, r.checks = inbox.Deny, []string{"good"}
	text := `const out = []
const a = agent('echo x')
for (const f of [() => check('later'), () => check('unset'), () => ask('which?'), () => land(['nope'])])
  await f().then((v) => out.push(v.ok ?? v), (e) => out.push(e.code ?? e.message))
await a
return out`
	if got := value(t, r, text); got != `["unknown","unknown","policy","unknown"]` {
		t.Fatalf("returned %s", got)
	}
	if n := len(r.view().Entered); n != 0 {
		t.Errorf("%d refusals are on record", n)
	}
	r.questions, r.checks = inbox.Wait, []string{"later", "unset", "good"}
	outcome, err := r.playWith(t.Context(), text, func(e *engine.Engine) { go answerFirst(t, r, e, "this") })
	if err != nil || outcome.Error != nil {
		t.Fatalf("play = %+v, %v", outcome, err)
	}
	if got := string(outcome.Value); got != `[false,"its setup failed","this","unknown"]` {
		t.Errorf("resumed it returned %s", got)
	}
}

// TestRefusalsComeBeforeRecords has a refusal race the end of an agent: live
// and replayed the same wins.
func TestRefusalsComeBeforeRecords(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	text := `const a = agent('echo x')
await agent('sleep 0.2')
return Promise.race([land(['nope']).catch(() => 'refused'), a.then(() => 'agent', () => 'agent')])`
	first := value(t, r, text)
	if again := value(t, r, text); again != first {
		t.Errorf("returned %s, and replayed %s", first, again)
	}
	text = `const a = agent('echo x')
return Promise.race([land(['nope']).catch(() => 'refused'), a.then(() => 'agent')])`
	if got := value(t, r, text); got != `"refused"` {
		t.Errorf("replayed it returned %s", got)
	}
}

func TestAScriptThatNeverWaitsIsStopped(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`for (;;) log('x')`, `for (;;) await repo.files('x')`} {
		r := newRig(t)
		_, err := r.playWith(t.Context(), text, func(e *engine.Engine) {
			go func() {
				for strings.Contains(text, "log") && len(r.view().Logs) == 0 && t.Context().Err() == nil {
					runtime.Gosched() // until it runs
				}
				if err := e.Stop(&engine.Halt{Cause: task.CauseStopped, Reason: "enough"}); err != nil {
					t.Errorf("stop: %v", err)
				}
			}()
		})
		if err == nil {
			t.Errorf("%s came to an end", text)
		}
		if n := len(r.view().Logs); n > maxLines {
			t.Errorf("%s has %d lines on record", text, n)
		}
	}
}

func TestWhatNobodyWaitsForDoesNotBegin(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	value(t, r, `sa.run({prompt: 'exit 3'}); await agent('sleep 0.5'); return 1`)
	before := len(r.records)
	value(t, r, `sa.run({prompt: 'exit 3'}); await agent('sleep 0.5'); return 1`)
	for _, rec := range r.records[before:] {
		if s, ok := rec.Event.(*event.Started); ok {
			t.Errorf("%s was started to be ended", s.Agent)
		}
	}
}

// program makes a random script: agents in a row and at once, races, time-outs,
// failures, checks and sums.
func program(rng *rand.Rand) string {
	var b strings.Builder
	b.WriteString("const out = []\n")
	n := 0
	prompt := func() string {
		n++
		switch rng.IntN(5) {
		case 0:
			return fmt.Sprintf(`echo %d >> $RIG/ran; exit 3`, n)
		default:
			return fmt.Sprintf(`echo %d >> $RIG/ran; echo say %d`, n, n)
		}
	}
	for range 2 + rng.IntN(3) {
		switch rng.IntN(7) {
		case 6:
			fmt.Fprintf(&b, "out.push(await agent(%q, {agent: 'paid'}), budget.spent())\n", prompt())
		case 0:
			fmt.Fprintf(&b, "out.push(await agent(%q))\n", prompt())
		case 1:
			fmt.Fprintf(&b, "out.push(await parallel([() => agent(%q), () => agent(%q)]))\n", prompt(), prompt())
		case 2:
			n++
			fmt.Fprintf(&b, `{ const [a, b] = [await sa.run({prompt: %q}), await sa.run({prompt: 'sleep 30 # %d'})]
const first = await Promise.race([sa.join(a.id), sa.join(b.id)])
out.push(first.id === a.id); await sa.cancel(b.id); out.push(sa.status(b.id).status) }
`, prompt(), n)
		case 3:
			n++
			fmt.Fprintf(&b, `{ const a = await sa.run({prompt: 'sleep 30 # %d'})
try { out.push(await sa.join(a.id, {timeout: 5})) } catch (e) { out.push(e.code) }
out.push((await sa.cancel(a.id), await sa.join(a.id)).status) }
`, n)
		case 4:
			fmt.Fprintf(&b, "out.push((await check(%q)).ok)\n", []string{"good", "bad"}[rng.IntN(2)])
		case 5:
			fmt.Fprintf(&b, "out.push(budget.spent(), failures().length, sa.list().length); log('at ' + out.length)\n")
			fmt.Fprintf(&b, "if (failures().length > 1) out.push(await agent(%q))\n", prompt())
		}
	}
	b.WriteString("return out\n")
	return b.String()
}

// TestKilledAtAnyRecordAndResumed: a run that is killed at any record and
// resumed returns the same value. The same values enter in the same order. It
// starts nothing that had completed or that the script cancelled.
func TestKilledAtAnyRecordAndResumed(t *testing.T) {
	t.Parallel()
	scripts := 12
	if testing.Short() {
		scripts = 3
	}
	for seed := range uint64(scripts) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 4))
			text := program(rng)
			whole := newRig(t)
			want := value(t, whole, text)
			for range 4 {
				at := 1 + rng.IntN(len(whole.records)-1)
				killedAt(t, whole, text, want, at)
			}
		})
	}
}

func killedAt(t *testing.T, whole *rig, text, want string, at int) {
	t.Helper()
	r := newRig(t)
	r.records = slices.Clone(whole.records)
	r.cut(at)
	before, prefix := r.view(), entered(whole, at)
	from := len(r.records)
	if got := value(t, r, text); got != want {
		t.Errorf("killed at record %d of\n%s\nit returned %s, want %s", at, text, got, want)
	}
	if len(r.delivered) < len(prefix) || !slices.Equal(r.delivered[:len(prefix)], prefix) {
		t.Errorf("killed at record %d of\n%s\n%q entered, want it to begin with %q", at, text, r.delivered, prefix)
	}
	for _, rec := range r.records[from:] {
		s, ok := rec.Event.(*event.Started)
		if !ok {
			continue
		}
		if a := before.Agent(s.Agent); a != nil && over(a) {
			t.Errorf("killed at record %d of\n%s\n%s was started again, which was %s", at, text, a.ID, task.Word(a.Status))
		}
	}
}

// over reports whether an agent completed, or the script cancelled it.
func over(a *store.Agent) bool {
	switch a.Status.(type) {
	case *task.Completed:
		return true
	case *task.Cancelled:
		return a.Cancel != nil && a.Cancel.Script
	default:
		return false
	}
}

// entered returns the names of the values that entered a script up to a record,
// as far as they still hold after a kill: up to the first agent that failed.
func entered(whole *rig, at int) []string {
	v := store.Fold(store.Identity{}, whole.records[:at])
	var names []string
	for _, name := range whole.delivered {
		id, status, agent := strings.Cut(name, " ")
		if !agent {
			// A request's number: its record is there if those after it are.
			names = append(names, name)
			continue
		}
		a := v.Agent(task.ID(id))
		if a == nil || !over(a) || status == "failed" {
			break
		}
		names = append(names, name)
	}
	// The last ones may have come after the record.
	for len(names) > 0 && !strings.Contains(names[len(names)-1], " ") {
		names = names[:len(names)-1]
	}
	return names
}

func TestResultsHaveOnlyWhatTheyHave(t *testing.T) {
	t.Parallel()
	call := &task.Call{Label: "l", Phase: "p"}
	for _, tt := range []struct {
		give task.Result
		want string
	}{
		{&task.Completed{Answer: "x"}, `{"id":"a1","status":"completed","label":"l","phase":"p","output":"x"}`},
		{&task.Failed{Kind: task.Lost, Reason: "r"}, `{"id":"a1","status":"failed","label":"l","phase":"p","error":{"kind":"lost","message":"r"}}`},
		{
			&task.Cancelled{Cause: task.CauseCancelled},
			`{"id":"a1","status":"cancelled","label":"l","phase":"p","error":{"kind":"cancelled","message":"somebody cancelled it"}}`,
		},
		{
			&task.Cancelled{Cause: task.CauseCancelled, Reason: "r", Work: task.Work{
				Usage: task.Usage{Output: 3},
				Patch: &task.Patch{Commit: "c", Base: "b", Files: 1, Added: 2, Deleted: 3, Paths: []string{"f"}},
			}},
			`{"id":"a1","status":"cancelled","label":"l","phase":"p","error":{"kind":"cancelled","message":"r"},` +
				`"patch":{"id":"c","base":"b","files":["f"],"stat":{"files":1,"added":2,"deleted":3}},` +
				`"usage":{"input":0,"output":3,"cacheRead":0,"cacheWrite":0,"costUsd":0}}`,
		},
	} {
		r, err := resultOf("a1", call, tt.give)
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != tt.want {
			t.Errorf("resultOf(%T) = %s, want %s", tt.give, got, tt.want)
		}
	}
}
