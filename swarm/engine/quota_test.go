package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/governor"
	"agentswarm/swarm/limit"
	"agentswarm/swarm/task"
)

// simulated is a clock that a test moves.
type simulated struct {
	mu    sync.Mutex // guards the fields below
	now   time.Time
	moved chan struct{} // closed when it moves
}

// noon is the start time of the clocks of tests.
func noon() time.Time { return time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC) }

func newSimulated() *simulated { return &simulated{now: noon(), moved: make(chan struct{})} }

func (s *simulated) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// to moves the clock to a time after noon.
func (s *simulated) to(after time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = noon().Add(after)
	close(s.moved)
	s.moved = make(chan struct{})
}

// pass is a wait on the clock.
func (s *simulated) pass(ctx context.Context, gap time.Duration) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancel(ctx)
	until := s.Now().Add(gap)
	go func() {
		defer end()
		for {
			s.mu.Lock()
			now, moved := s.now, s.moved
			s.mu.Unlock()
			if !now.Before(until) {
				return
			}
			select {
			case <-moved:
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, end
}

// onClock has the run go by a simulated clock, and wait for quota windows.
func (r *rig) onClock() *simulated {
	clock := newSimulated()
	r.deps.Now, r.deps.pass = clock.Now, clock.pass
	r.deps.Governor = governor.Alone(governor.Options{Now: clock.Now, Chance: limit.Random})
	r.config.WaitLimits = 8 * 24 * time.Hour
	return clock
}

// waits waits until the run does nothing but wait for quota, with so many agents
// and until a time after noon.
func (r *rig) waits(agents int, until time.Duration) {
	r.t.Helper()
	var last string
	for deadline := time.Now().Add(10 * time.Minute); ; time.Sleep(time.Millisecond) { // a poll for a record
		v := r.view()
		if w := v.QuotaWait(); w != nil && v.Waits() {
			last = fmt.Sprintf("%d agents until %s after noon", w.Agents, w.Until.Sub(noon()))
			if w.Agents == agents && w.Until.Equal(noon().Add(until)) {
				return
			}
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("waits: %s, want %d until %s", last, agents, until)
		}
	}
}

// exhausted is a line of sh that reports a window that is used up, until a time
// after noon.
func exhausted(after time.Duration) string {
	return fmt.Sprintf(`printf '{"type":"error","kind":"quota","message":"used up","quota":{"title":"session limit","resets_at":%d}}\n'; exit`,
		noon().Add(after).Unix())
}

// outOfCredits is a line of sh that reports a quota without an end.
const outOfCredits = `printf '{"type":"error","kind":"quota","message":"no"}\n'; exit`

// quotaText reads the records of windows as text, with times after noon.
func (r *rig) quotaText() string {
	records, err := r.deps.Run.Records()
	if err != nil {
		r.t.Fatal(err)
	}
	var all []string
	for _, rec := range records {
		switch e := rec.Event.(type) {
		case *event.QuotaClosed:
			text := "closed"
			if e.Until != nil {
				text = "closed until " + e.Until.Sub(noon()).String()
			}
			if e.GivenUp != "" {
				text += " given up"
			}
			all = append(all, text)
		case *event.QuotaOpened:
			all = append(all, "opened")
		}
	}
	return strings.Join(all, ", ")
}

// TestQuotaWindow checks that agents refused by a quota wait until its window
// opens and then continue their conversations. Agents that have not begun wait
// with them.
func TestQuotaWindow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	clock := r.onClock()
	call := r.speaks(`1) test -e "$RIG/open" && well; paid 2; touch f1; ` + exhausted(5*time.Hour) + `;; *) paid 1; well;;`)
	r.config.Jobs, r.config.MaxAgents = 1, 3 // waits count for nothing
	e := Open(t.Context(), r.deps, r.config, nil)
	calls := []*task.Call{call, talks("the second"), talks("the third")}
	if _, err := e.StartAll(calls); err != nil {
		t.Fatal(err)
	}
	r.waits(3, 5*time.Hour)
	touch(t, r, "open")
	clock.to(5 * time.Hour)
	for _, s := range r.collect(e, 3) {
		is(t, string(s.Agent), endOf(s.Result), "completed")
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	is(t, "windows", r.quotaText(), "closed until 5h0m0s, opened")
	is(t, "heard", r.heard("2"), "s1 priorxx files: f1")
	is(t, "tokens", r.view().Usage().Output, 3)
	if prompt := r.prompt("a1", 2); strings.Contains(prompt, "the task") {
		t.Errorf("the task is said again: %q", prompt)
	}
	// The second and the third began once the probe was answered.
	for _, id := range []task.ID{"a2", "a3"} {
		is(t, string(id), r.kinds(id), "called leased leased started:agent ended captured settled released")
	}
}

// TestQuotaRefusedAgain checks that a single agent probes at the stated time,
// and that a second refusal moves the time.
func TestQuotaRefusedAgain(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, second string
		until        time.Duration
		windows      string
	}{
		{"a new time", exhausted(10 * time.Hour), 10 * time.Hour, "closed until 5h0m0s, closed until 10h0m0s, opened"},
		{"the same time", exhausted(5 * time.Hour), 5*time.Hour + 5*time.Minute, "closed until 5h0m0s, closed until 5h5m0s, opened"},
		{"no time", outOfCredits, 5*time.Hour + 5*time.Minute, "closed until 5h0m0s, closed until 5h5m0s, opened"},
		{"another error", `fails other`, 5*time.Hour + 5*time.Minute, "closed until 5h0m0s, closed until 5h5m0s, opened"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			clock := r.onClock()
			r.speaks(`*)
				test -e "$RIG/open" && { paid 1; well; }
				echo "$SWARM_AGENT" >> "$RIG/asked"
				test -e "$RIG/again" && { ` + test.second + `; }
				` + exhausted(5*time.Hour) + `;;`)
			e := Open(t.Context(), r.deps, r.config, nil)
			left := 4
			if _, err := e.StartAll([]*task.Call{talks("1"), talks("2"), talks("3"), talks("4")}); err != nil {
				t.Fatal(err)
			}
			r.waits(4, 5*time.Hour)
			begun := len(r.lines("asked"))
			touch(t, r, "again")
			clock.to(5 * time.Hour)
			if test.name == "another error" {
				is(t, "the probe", endOf(settled(e).Result), "failed other")
				left--
			}
			r.waits(left, test.until)
			is(t, "probes", len(r.lines("asked"))-begun, 1)
			touch(t, r, "open")
			clock.to(test.until)
			for _, s := range r.collect(e, left) {
				is(t, string(s.Agent), endOf(s.Result), "completed")
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			is(t, "windows", r.quotaText(), test.windows)
		})
	}
}

// TestQuotaBounds checks that a run which does not wait for a window is paused
// and names its time, while agents of other lanes continue.
func TestQuotaBounds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		set    func(*Config)
		says   string // the agent
		reason string // of its failure
		until  time.Duration
	}{
		{"never", func(c *Config) { c.WaitLimits = 0 }, exhausted(5 * time.Hour), `used up; its account has quota again at`, 5 * time.Hour},
		{"too long", func(c *Config) { c.WaitLimits = 4 * time.Hour }, exhausted(5 * time.Hour), `limits.wait_limits allows 4h0m0s`, 5 * time.Hour},
		{"credits", func(*Config) {}, outOfCredits, "no", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.onClock()
			r.speaks(`*) ` + test.says + `;;`)
			other := *r.config.Agents["t"]
			other.Name, other.Lane, other.Command = "u", "q/m", []string{`*) paid 1; well;;`}
			r.config.Agents["u"] = &other
			test.set(&r.config)
			r.config.Jobs = 1
			last := talks("3")
			last.Agent = "u"
			e := Open(t.Context(), r.deps, r.config, nil)
			if _, err := e.StartAll([]*task.Call{talks("1"), talks("2"), last}); err != nil {
				t.Fatal(err)
			}
			all := r.collect(e, 2)
			<-e.Halted()
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			is(t, "other lane", endOf(all["a3"].Result), "completed")
			is(t, "refused", endOf(all["a1"].Result), "failed quota")
			contains(t, "reason", all["a1"].Result.(*task.Failed).Reason, test.reason)
			v := r.view()
			is(t, "the second", task.Word(v.Agent("a2").Status), "queued")
			if v.Pause == nil {
				t.Fatal("the run is not paused")
			}
			contains(t, "pause", v.Pause.Reason, "a1 has used up its quota")
			if got := v.Pause.Until; test.until > 0 && (got == nil || !got.Equal(noon().Add(test.until))) || test.until == 0 && got != nil {
				t.Errorf("it is paused until %v", got)
			}
		})
	}
}

// TestQuotaMaxWindows checks that a run waits for no more windows than it may.
func TestQuotaMaxWindows(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	clock := r.onClock()
	r.config.MaxWindows = 1
	call := r.speaks(`1) ` + exhausted(5*time.Hour) + `;; *) ` + exhausted(10*time.Hour) + `;;`)
	e := Open(t.Context(), r.deps, r.config, nil)
	if _, err := e.Start(call); err != nil {
		t.Fatal(err)
	}
	r.waits(1, 5*time.Hour)
	clock.to(5 * time.Hour)
	result := settled(e).Result
	is(t, "result", endOf(result), "failed quota")
	contains(t, "reason", result.(*task.Failed).Reason, "it is window 2 of its lane, and limits.max_windows allows 1")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestQuotaFallback checks that agents of a role with a fallback use its model
// while the window of the first is used up.
func TestQuotaFallback(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.onClock()
	r.speaks(`*) case $MODEL in big) ` + exhausted(5*time.Hour) + `;; *) echo "$SWARM_AGENT" >> "$RIG/small"; paid 1; well;; esac;;`)
	r.deps.Kinds["talker"] = func(k agent.Kind) agent.Kind { k.Adapter = modelled{}; return k }(r.deps.Kinds["talker"])
	var calls []*task.Call
	for i := range 3 {
		c := talks(fmt.Sprint(i))
		c.Model, c.Fallbacks = "big", []task.Choice{{Model: "small"}}
		calls = append(calls, c)
	}
	r.config.Jobs = 1
	for id, s := range r.play(calls...) {
		is(t, string(id), endOf(s.Result), "completed")
	}
	is(t, "on the other model", strings.Join(slices.Sorted(slices.Values(r.lines("small"))), " "), "a1 a2 a3")
	contains(t, "why", r.view().Agent("a2").Switched.Reason, "big waits for quota (session limit): it begins with small")
	is(t, "attempts of the second", r.view().Agent("a2").Attempt, 1)
}

// modelled is a speaker whose agents know their model.
type modelled struct{ speaker }

func (m modelled) Launch(r agent.Request) (agent.Launch, error) {
	l, err := m.speaker.Launch(r)
	l.Env = append(l.Env, "MODEL="+r.Spec.Model)
	return l, err
}

// TestQuotaResumed checks that the next owner of a run continues the wait of a
// dead owner, with all conversations.
func TestQuotaResumed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	clock := r.onClock()
	r.speaks(`1) test -e "$RIG/open" && { paid 1; well; }; paid 2; touch f1; ` + exhausted(5*time.Hour) + `;; *) paid 1; well;;`)
	r.config.Jobs = 1
	calls := []*task.Call{talks("1"), talks("2")}
	e := Open(t.Context(), r.deps, r.config, nil)
	if _, err := e.StartAll(calls); err != nil {
		t.Fatal(err)
	}
	r.waits(2, 5*time.Hour)
	if err := e.Stop(&Halt{Cause: task.CauseStopped}); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // owners that die
		if err := Recover(t.Context(), r.deps, r.config, r.view()); err != nil {
			t.Fatal(err)
		}
		r.append(&event.Opened{Resumed: true})
		e = Open(t.Context(), r.deps, r.config, r.view())
		if _, err := e.StartAll(calls); err != nil {
			t.Fatal(err)
		}
		r.waits(2, 5*time.Hour)
		if err := e.Stop(&Halt{Cause: task.CauseStopped}); err != nil {
			t.Fatal(err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	is(t, "attempts while it waited", r.view().Agent("a1").Attempt+r.view().Agent("a2").Attempt, 1)
	if err := Recover(t.Context(), r.deps, r.config, r.view()); err != nil {
		t.Fatal(err)
	}
	r.append(&event.Opened{Resumed: true})
	touch(t, r, "open")
	clock.to(6 * time.Hour)
	for id, s := range r.play(calls...) {
		is(t, string(id), endOf(s.Result), "completed")
	}
	is(t, "heard", r.heard("2"), "s1 priorxx files: f1")
	is(t, "windows", r.quotaText(), "closed until 5h0m0s, opened")
}

// TestQuotaHoldsBack checks that an agent which waits for its slot when its
// lane closes gives its workspace back, and waits with the others.
func TestQuotaHoldsBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	clock := r.onClock()
	r.speaks(`*) touch "$RIG/up.$SWARM_AGENT"; test -e "$RIG/open" && { paid 1; well; }
		while ! test -e "$RIG/go"; do sleep 0.01; done; ` + exhausted(5*time.Hour) + `;;`)
	r.config.Agents["t"].Lane = "p/m"
	r.occupy(7)
	e := r.startAll([]*task.Call{talks("1"), talks("2")})
	r.held(1)
	r.allUp(1)
	touch(t, r, "go")
	r.waits(2, 5*time.Hour)
	for deadline := time.Now().Add(10 * time.Minute); ; time.Sleep(time.Millisecond) { // a poll for a record
		v := r.view()
		if len(v.Agent("a1").Leases)+len(v.Agent("a2").Leases) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("agents have workspaces while they wait")
		}
	}
	is(t, "agents that ran", r.made("up.*"), 1)
	touch(t, r, "open")
	clock.to(5 * time.Hour)
	for _, s := range r.collect(e, 2) {
		is(t, string(s.Agent), endOf(s.Result), "completed")
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestQuotaCancelled checks that an agent which waits for quota can be
// cancelled, and that the run ends once no agent waits.
func TestQuotaCancelled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.onClock()
	r.speaks(`*) ` + exhausted(5*time.Hour) + `;;`)
	e := Open(t.Context(), r.deps, r.config, nil)
	if _, err := e.StartAll([]*task.Call{talks("1"), talks("2")}); err != nil {
		t.Fatal(err)
	}
	r.waits(2, 5*time.Hour)
	if err := e.Cancel([]task.ID{"a1", "a2"}, &Halt{Cause: task.CauseCancelled}); err != nil {
		t.Fatal(err)
	}
	for _, s := range r.collect(e, 2) {
		is(t, string(s.Agent), task.Word(s.Result), "cancelled")
	}
	if !e.Finished() {
		t.Error("the run goes on")
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestQuotaText checks that a time in the text of an error is read, and that
// short waits remain errors that pass.
func TestQuotaText(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind, message string
		told          int64 // ms
		windows       string
	}{
		{"quota", "usage limit. Try again in 2 hours", 0, "closed until 2h0m0s, opened"},
		{"rate_limit", "slow", 2 * 60 * 60 * 1000, "closed until 2h0m0s, opened"},
		{"rate_limit", "Server is temporarily limiting requests (not your usage limit). Try again in 2 hours", 1, ""},
		{"overloaded", "try again in 2 hours", 1, ""},
	} {
		t.Run(test.kind+" "+test.message, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			clock := r.onClock()
			if test.windows == "" {
				r.hurry()
				r.deps.Governor = nil // its slots would wait for the clock
			}
			call := r.speaks(fmt.Sprintf(`1) printf '{"type":"error","kind":"%s","message":"%s","retry_after_ms":%d}\n'; exit;; *) paid 1; well;;`,
				test.kind, test.message, test.told))
			e := Open(t.Context(), r.deps, r.config, nil)
			if _, err := e.Start(call); err != nil {
				t.Fatal(err)
			}
			if test.windows != "" {
				r.waits(1, 2*time.Hour)
				clock.to(2 * time.Hour)
			}
			is(t, "result", endOf(settled(e).Result), "completed")
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			is(t, "windows", r.quotaText(), test.windows)
		})
	}
}

// TestQuotaUsed checks that the use of an open window is journaled for each
// tenth, from the half on.
func TestQuotaUsed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.onClock()
	say := func(percent int) string {
		return fmt.Sprintf(`printf '{"type":"quota_used","window":"five_hour","title":"session limit","percent":%d,"resets_at":%d}\n'; `,
			percent, noon().Add(time.Hour).Unix())
	}
	call := r.speaks(`*) ` + say(20) + say(55) + say(58) + say(91) + say(93) + `paid 1; well;;`)
	is(t, "result", endOf(r.play(call)["a1"].Result), "completed")
	records, err := r.deps.Run.Records()
	if err != nil {
		t.Fatal(err)
	}
	var percents []int
	for _, rec := range records {
		if u, ok := rec.Event.(*event.QuotaUsed); ok {
			percents = append(percents, u.Percent)
		}
	}
	if !slices.Equal(percents, []int{55, 91}) {
		t.Errorf("kept: %v", percents)
	}
	warnings := r.view().QuotaWarnings(noon())
	if len(warnings) != 1 || !strings.HasPrefix(warnings[0], "account: 91 % of the session limit is used; it resets at ") {
		t.Errorf("warnings: %q", warnings)
	}
	if late := r.view().QuotaWarnings(noon().Add(2 * time.Hour)); late != nil {
		t.Errorf("after the window: %q", late)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "heard.1")); err != nil {
		t.Error(err)
	}
}
