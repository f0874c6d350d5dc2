package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/command"
	"agentswarm/swarm/event"
	"agentswarm/swarm/governor"
	"agentswarm/swarm/limit"
	"agentswarm/swarm/task"
)

// lane puts the agent called mine into a lane that this process alone is in.
func (r *rig) lane(text string) {
	r.config.Agents = specs("mine", "read -r prompt\n"+text)
	r.config.Agents["mine"].Lane = "p/m"
	r.deps.Governor = governor.Alone(governor.Options{Now: time.Now, Chance: limit.Random})
}

// held waits until n agents are held back, and returns the reasons.
func (r *rig) held(n int) (why []string) {
	r.t.Helper()
	for deadline := time.Now().Add(10 * time.Minute); ; time.Sleep(time.Millisecond) { // a poll for a record
		why = nil
		for _, a := range r.view().Agents {
			if a.Held != "" {
				why = append(why, string(a.ID)+" "+a.Held)
			}
		}
		if len(why) == n {
			return why
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("held: %q, want %d", why, n)
		}
	}
}

const refusedTwice = `
	if test $SWARM_ATTEMPT = 3; then printf '{"type":"result","text":"ok"}\n'
	else printf '{"type":"error","kind":"KIND","message":"slow","retry_after_ms":10}\n'; fi`

// TestRefusedWaits checks that an agent refused by its provider waits. The wait
// is neither a retry nor another agent.
func TestRefusedWaits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind, lane string
		want       string
		attempts   int
	}{
		{"rate_limit", "p/m", "completed", 3},
		{"overloaded", "p/m", "completed", 3},
		{"rate_limit", "", "failed rate_limit", 1}, // nobody knows its provider
		{"other", "p/m", "failed other", 1},
	} {
		t.Run(test.kind+test.lane, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.hurry()
			r.lane(strings.ReplaceAll(refusedTwice, "KIND", test.kind))
			r.config.Agents["mine"].Lane = test.lane
			r.config.MaxAgents = 1
			result := r.play(mine())["a1"].Result
			is(t, "result", endOf(result), test.want)
			is(t, "attempts", result.Done().Attempts, test.attempts)
		})
	}
}

// TestWaitsOfAnEarlierOwner checks that such waits do not count under a later
// owner either.
func TestWaitsOfAnEarlierOwner(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.hurry()
	r.lane(`
		if test $SWARM_ATTEMPT -ge 3; then printf '{"type":"result","text":"ok"}\n'
		else printf '{"type":"error","kind":"rate_limit","message":"slow","retry_after_ms":10}\n'; fi
		test -e $RIG/again`)
	r.config.MaxAgents = 2
	is(t, "at first", endOf(r.play(mine())["a1"].Result), "failed other")
	if err := os.WriteFile(filepath.Join(r.dir, "again"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	is(t, "resumed", endOf(r.play(mine())["a1"].Result), "completed")
}

// TestWaitsEnd checks that an agent waits for its provider for an hour in all.
func TestWaitsEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.lane("")
	e := Open(t.Context(), r.deps, r.config, nil)
	defer func() { is(t, "close", e.Close(), nil) }()
	a := &agentState{call: mine()}
	failed := &task.Failed{Kind: task.RateLimit}
	var total time.Duration
	n := 0
	for ; n < 1000; n++ {
		gap, ok := e.waitsInLane(a, failed, time.Minute)
		if !ok {
			break
		}
		total += gap
	}
	if total < maxWaited/2 || total > maxWaited {
		t.Errorf("it waited %s in %d waits, want most of an hour", total, n)
	}
	if _, ok := e.waitsInLane(&agentState{call: mine()}, failed, 2*time.Hour); ok {
		t.Error("it waits for longer than that at once")
	}
	a.refusals, a.waited = 40, 58*time.Minute
	for _, test := range []struct {
		a       *agentState
		kind    task.ErrorKind
		told    time.Duration
		want    string
		retried int
	}{
		{a, task.Overloaded, 0, "it has waited for its provider 40 times, 58m0s in all, and waits for no more than 1h0m0s", 0},
		{
			a, task.RateLimit, 0, "it has waited for its provider 40 times, 58m0s in all, and waits for no more than 1h0m0s; " +
				"after that it was tried again once, as retries allow", 1,
		},
		{&agentState{}, task.RateLimit, 2 * time.Hour, "the provider asked for a wait of 2h0m0s; swarm waits for 1h0m0s at most", 0},
		{&agentState{}, task.RateLimit, 0, "", 0},
		{a, task.Auth, 0, "", 0},
	} {
		test.a.retried = test.retried
		is(t, "why it gave up", e.gaveUp(test.a, &task.Failed{Kind: test.kind}, test.told), test.want)
	}
}

const untilGo = `touch f $RIG/up.$SWARM_AGENT; while ! test -e $RIG/go; do sleep 0.01; done; printf '{"type":"result","text":"ok"}\n'`

// five are calls of which a window that knows nothing lets in four.
func five() (calls []*task.Call) {
	for i := range 5 {
		c := mine()
		c.Item = fmt.Sprint(i)
		calls = append(calls, c)
	}
	return calls
}

// allUp waits until so many agents of untilGo run.
func (r *rig) allUp(n int) {
	r.t.Helper()
	for deadline := time.Now().Add(10 * time.Minute); r.made("up.*") < n; time.Sleep(time.Millisecond) { // a poll for processes
		if time.Now().After(deadline) {
			r.t.Fatalf("%d of %d agents run", r.made("up.*"), n)
		}
	}
}

func (r *rig) startAll(calls []*task.Call) *Engine {
	r.t.Helper()
	r.config.Jobs = len(calls)
	e := Open(r.t.Context(), r.deps, r.config, r.view())
	if _, err := e.StartAll(calls); err != nil {
		r.t.Fatal(err)
	}
	return e
}

// occupy takes slots of the lane, as agents of another run do, until the test ends.
func (r *rig) occupy(slots int) {
	r.t.Helper()
	for range slots {
		p, err := r.deps.Governor.Enter(r.t.Context(), governor.Request{Lane: "p/m"})
		if err != nil {
			r.t.Fatal(err)
		}
		r.t.Cleanup(p.Done)
	}
}

// TestLaneHolds holds back those for whom there is no slot, after their
// workspaces are set up, and says why.
func TestLaneHolds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.lane(untilGo)
	r.config.Setup = "true"
	r.occupy(4)
	e := r.startAll(five())
	why := r.held(1)[0]
	contains(t, "reason", why, "waiting for a slot (p/m: 8 of 8)")
	id, _, _ := strings.Cut(why, " ")
	if a := r.view().Agent(task.ID(id)); task.Word(a.Status) != "queued" || a.Lease() == nil {
		t.Errorf("%s is %s, with workspace %v", id, task.Word(a.Status), a.Lease())
	}
	touch(t, r, "go")
	for _, s := range r.collect(e, 5) {
		is(t, string(s.Agent), task.Word(s.Result), "completed")
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	is(t, "records", r.kinds(task.ID(id)),
		"called leased leased started:setup held started:agent ended captured settled released")
	if a := r.view().Agent(task.ID(id)); a.Held != "" {
		t.Errorf("it still waits for %q", a.Held)
	}
}

// TestBrokenStream checks that a broken connection of an agent holds no other
// agent back, and that a refusal does. On its clock the wait after a refusal
// does not end.
func TestBrokenStream(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name, event string
		held        bool
		until       string // of the lane
	}{
		{"a retry", `{"type":"retry","kind":"overloaded","message":"stream disconnected before completion"}`, false, ""},
		{"an error", `{"type":"error","kind":"overloaded","message":"the connection was dropped"}`, false, ""},
		{"a refusal", `{"type":"retry","kind":"overloaded","message":"529 overloaded"}`, true, ""},
		{"a wait that was told", `{"type":"retry","kind":"overloaded","message":"connection reset","retry_after_ms":1000}`, true, ":01"},
		{"a refused connection", `{"type":"retry","kind":"overloaded","message":"connection refused"}`, true, ":02"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.hurry()
			r.lane(`test "$SWARM_AGENT$SWARM_ATTEMPT" = a11 && printf '` + test.event + `\n'
				printf '{"type":"result","text":"ok"}\n'`)
			r.deps.Governor = governor.Alone(governor.Options{Now: func() time.Time { return noon }, Chance: limit.Random})
			r.config.Jobs = 1
			e := Open(t.Context(), r.deps, r.config, nil)
			if _, err := e.StartAll([]*task.Call{mine(), mine()}); err != nil {
				t.Fatal(err)
			}
			if test.held {
				held := r.held(1)[0]
				contains(t, "reason", held, "a2 waiting for a slot (p/m: ")
				contains(t, "until", held, test.until)
				if err := e.Stop(&Halt{Cause: task.CauseStopped}); err != nil {
					t.Fatal(err)
				}
			}
			r.collect(e, 2)
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			if held := strings.Contains(r.kinds("a2"), "held"); held != test.held {
				t.Errorf("the next agent was held back: %t, want %t", held, test.held)
			}
		})
	}
}

// TestLaneWidens checks that all agents of a new lane begin once its provider
// reports room for many more requests. Each waits for all others, so none ends
// if any of them is held back.
func TestLaneWidens(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.lane(`printf '{"type":"usage","input":1,"output":1,"requests_left":2000}\n'
		mkdir -p "$RIG/begun" && touch "$RIG/begun/$SWARM_AGENT"
		n=0
		while test "$(ls "$RIG/begun" | wc -l)" -lt 5; do
			n=$((n+1)); test $n -lt 6000 || exit 3
			sleep 0.1
		done
		printf '{"type":"result","text":"ok"}\n'`)
	r.config.Jobs = 5
	r.occupy(7)
	for id, s := range r.play(five()...) {
		is(t, string(id), endOf(s.Result), "completed")
	}
}

// TestPausedWhileHeld leaves those that have not started for a resume.
func TestPausedWhileHeld(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.lane(untilGo)
	r.occupy(4)
	calls := five()
	r.config.MaxAgents = len(calls) // held agents do not count
	e := r.startAll(calls)
	id, _, _ := strings.Cut(r.held(1)[0], " ")
	r.allUp(4) // an agent with a slot that has not started would be left, too
	if err := e.Pause("enough"); err != nil {
		t.Fatal(err)
	}
	r.held(0)
	touch(t, r, "go")
	r.collect(e, 4)
	<-e.Halted()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	a := r.view().Agent(task.ID(id))
	is(t, "status", task.Word(a.Status), "queued")
	is(t, "its workspace", len(a.Leases), 0)
	is(t, "tried again after", r.reasons(a.ID), "1:stopped")

	r.append(&event.Closed{Status: "paused"}, &event.Opened{Resumed: true})
	all := r.play(calls...)
	is(t, "after a resume", task.Word(all[a.ID].Result), "completed")
	is(t, "attempts", all[a.ID].Result.Done().Attempts, 2)
}

// TestCancelledWhileHeld ends an agent that waits.
func TestCancelledWhileHeld(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.lane(untilGo)
	r.occupy(4)
	e := r.startAll(five())
	id, _, _ := strings.Cut(r.held(1)[0], " ")
	if err := e.Cancel([]task.ID{task.ID(id)}, &Halt{Cause: task.CauseCancelled}); err != nil {
		t.Fatal(err)
	}
	s := settled(e)
	is(t, "who", s.Agent, id)
	is(t, "result", task.Word(s.Result), "cancelled")
	touch(t, r, "go")
	r.collect(e, 4)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestRetryIsTold has other agents wait for the time that an agent was told,
// while that agent continues by itself.
func TestRetryIsTold(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.lane(`
		printf '{"type":"retry","kind":"rate_limit","message":"m","retry_after_ms":3600000}\n'
		while ! test -e $RIG/go; do sleep 0.01; done
		printf '{"type":"result","text":"ok"}\n'`)
	calls := five()[:2]
	e := r.startAll(calls[:1])
	// Its word comes in its own time: anybody is let in until then.
	ctx, enough := context.WithCancel(t.Context())
	defer enough()
	for why := ""; why == ""; {
		p, err := r.deps.Governor.Enter(ctx, governor.Request{Lane: "p/m", Waits: func(text string) {
			why = text
			enough()
		}})
		if err == nil {
			p.Done()
		}
	}
	e.SetJobs(2)
	if _, err := e.Start(calls[1]); err != nil {
		t.Fatal(err)
	}
	contains(t, "reason", r.held(1)[0], "a2 waiting for a slot (p/m: told to wait until ")
	touch(t, r, "go")
	is(t, "the one that was refused", task.Word(settled(e).Result), "completed")
	if err := e.Stop(&Halt{Cause: task.CauseStopped}); err != nil {
		t.Fatal(err)
	}
	is(t, "the other", task.Word(settled(e).Result), "cancelled")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestMemoryHolds starts agents in turn if the memory is enough for a single
// agent.
func TestMemoryHolds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.lane(untilGo)
	r.deps.Governor = nil
	var measured atomic.Int32
	now := time.Now() // no agent gets old enough to count with its full memory
	r.deps.Memory = &limit.Memory{
		Available: func() limit.Room { return limit.Room{Free: 1<<30 + 150<<20} }, Now: func() time.Time { return now },
		Used: func(pid int) int64 {
			if pid > 0 {
				measured.Add(1)
			}
			return 0
		},
	}
	kind := command.Kind()
	kind.Footprint, kind.Gap = 100<<20, time.Millisecond
	r.deps.Kinds[agent.KindCommand] = kind
	e := r.startAll(five()[:2])
	contains(t, "reason", r.held(1)[0],
		"waiting for memory: command needs 100 MiB, and of the 1174 MiB that are free 1024 are kept")
	touch(t, r, "go")
	r.collect(e, 2)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestSoftLimit asks an agent that can be told so for its final answer, once,
// and stops it where it does not listen. Its work is captured either way.
func TestSoftLimit(t *testing.T) {
	t.Parallel()
	const turns = `
		touch f; N=0
		while test $N -lt 4; do N=$((N + 1)); printf '{"type":"turn","n":%d}\n' $N; done`
	const tokens = `touch f; printf '{"type":"usage","output":80}\n'`
	const usd = `touch f; printf '{"type":"usage","cost_usd":0.8}\n'`
	const steered = `printf '{"type":"session","can":["steer"]}\n'`
	const obeys = `read -r word; echo "$word" | tr ' ' _ >> $RIG/words; printf '{"type":"result","text":"ok"}\n'; cat | tr ' ' _ >> $RIG/words`
	const goesOn = `read -r word; echo "$word" | tr ' ' _ >> $RIG/words; printf '{"type":"turn","n":5}\n{"type":"turn","n":6}\n{"type":"usage","output":20,"cost_usd":0.2}\n'; exec sleep 1000`
	for _, test := range []struct {
		name, agent string
		give        task.Limits
		run         int // turns that the run allows
		want        string
		word        string
	}{
		{"obeys turns", steered + turns + "\n" + obeys, task.Limits{Turns: 5}, 0, "completed ok", "You_are_at_turn_4_of_the_5"},
		{"obeys tokens", steered + "\n" + tokens + "\n" + obeys, task.Limits{Tokens: 100}, 0, "completed ok", "You_have_used_80_of_the_100_tokens"},
		{"obeys dollars", steered + "\n" + usd + "\n" + obeys, task.Limits{USD: 1}, 0, "completed ok", "You_have_cost_$0.8_of_the_$1"},
		{"obeys the run", steered + turns + "\n" + obeys, task.Limits{}, 5, "completed ok", "You_are_at_turn_4_of_the_5"},
		{"ignores turns", steered + turns + "\n" + goesOn, task.Limits{Turns: 5}, 0, "cancelled budget: limits.turns: it began turn 6, and may take 5", "turn_4"},
		{"ignores tokens", steered + "\n" + tokens + "\n" + goesOn, task.Limits{Tokens: 100}, 0, "cancelled budget: limits.tokens: it used 100 of 100", "80_of_the_100"},
		{"ignores the run", steered + turns + "\n" + goesOn, task.Limits{Turns: 9}, 5, "cancelled budget: --max-turns: it began turn 6, and may take 5", "turn_4"},
		{"cannot be told", turns + `
			printf '{"type":"turn","n":5}\n{"type":"turn","n":6}\n'; exec sleep 1000`, task.Limits{Turns: 5}, 0, "cancelled budget: limits.turns: it began turn 6, and may take 5", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.config.Agents = specs("mine", "read -r prompt\n"+test.agent)
			r.config.MaxTurns = test.run
			call := mine()
			call.Limits = test.give
			result := r.play(call)["a1"].Result
			end := word(result)
			if c, ok := result.(*task.Cancelled); ok {
				end += ": " + c.Reason
			}
			is(t, "result", end, test.want)
			if result.Done().Patch == nil {
				t.Error("what it left is not captured")
			}
			words := strings.Join(r.lines("words"), "\n")
			contains(t, "word", words, test.word)
			want := min(1, len(test.word))
			is(t, "words", strings.Count(words, `"steer"`), want)
			is(t, "words in the journal", strings.Count(r.kinds("a1"), "sent"), want)
		})
	}
}

// TestSoftLimitOfOneAttempt checks that a new attempt is not asked to end
// because the attempt before was near its limit.
func TestSoftLimitOfOneAttempt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Retries = 1
	r.config.Agents = specs("mine", `
		read -r prompt
		printf '{"type":"session","can":["steer"]}\n'
		if test $SWARM_ATTEMPT = 1; then
			printf '{"type":"turn","n":1}\n'
			read -r word; echo "$word" >> $RIG/words; printf '{"type":"error","kind":"rate_limit"}\n'
		else
			printf '{"type":"result","text":"ok"}\n'; cat >> $RIG/words
		fi`)
	call := mine()
	call.Limits.Turns = 1
	is(t, "result", word(r.play(call)["a1"].Result), "completed ok")
	is(t, "words", strings.Count(strings.Join(r.lines("words"), " "), "You are at turn"), 1)
	is(t, "words of somebody", r.view().Agent("a1").Words, "[]")
}

// TestSoftBudget asks the running agents for their final answers when the
// budget of the run is spent; they may still use their reservations.
func TestSoftBudget(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Agents = specs("mine", `read -r prompt
		printf '{"type":"session","can":["steer"]}\n{"type":"usage","output":100}\n'
		read -r word; printf '%s' "$word" | tr ' ' _ > $RIG/words; printf '{"type":"result","text":"ok"}\n'`)
	r.config.Budget = task.Amount{Tokens: 100}
	is(t, "result", word(r.play(mine())["a1"].Result), "completed ok")
	contains(t, "word", strings.Join(r.lines("words"), ""), "The_agents_have_used_up_the_budget_of_the_run:_100_of_100_tokens")
}

// TestMaxTurnsNeedsTurns refuses agents that do not report their turns.
func TestMaxTurnsNeedsTurns(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.MaxTurns = 3
	e := Open(t.Context(), r.deps, r.config, nil)
	_, err := e.Start(sh("true"))
	if err == nil || !strings.Contains(err.Error(), `--max-turns: agent "command" does not show its turns`) {
		t.Errorf("Start = %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
