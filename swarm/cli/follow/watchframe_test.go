package follow

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/activity"
	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// hundred is a run with a hundred agents in all of their states, with their
// activities, by a clock that stands still. A second is the number of the
// record.
func hundred() (w *Watcher, now time.Time) {
	began := time.Unix(1_700_000_000, 0).UTC()
	at := func(s float64) time.Time { return began.Add(time.Duration(s * float64(time.Second))) }
	var records []event.Record
	add := func(s float64, e event.Event) {
		records = append(records, event.Record{N: int64(len(records) + 1), Time: at(s), Event: e})
	}
	add(0, &event.Opened{Pid: 1})
	for i := range 100 {
		add(0, &event.Called{Agent: task.AgentID(i + 1), Call: &task.Call{
			Label: fmt.Sprintf("pkg/service-%02d", i), Input: &task.TypedAgentInput{Prompt: "do it"},
		}})
	}
	no, yes := false, true
	for i := range 75 {
		id, s := task.AgentID(i+1), float64(i)/4
		add(s, &event.Leased{Agent: id, Attempt: 1})
		if i >= 65 {
			add(s, &event.Held{Agent: id, Attempt: 1, Reason: "waiting for a slot (openai/gpt-5: 4 of 4)"})
			continue
		}
		add(s+0.5, &event.Started{Agent: id, Attempt: 1, Step: "agent"})
		if i >= 47 {
			if i == 50 {
				add(s+8, &event.Questioned{
					ID: "k3x9q2-1", Agent: id, Attempt: 1, Action: []byte(`"git push origin main"`),
					Risk: &event.Risk{Tier: "VISIBLE"},
				})
			}
			continue
		}
		work := task.Work{Attempts: 1, Usage: task.Usage{Input: 9000, Output: int64(1000 + 10*i), CostUSD: 0.05}}
		switch {
		case i >= 43:
			add(s+6, &event.Ended{Agent: id, Attempt: 1})
			add(s+6, &event.Held{Agent: id, Attempt: 1, Step: "verify", Reason: "waiting for a check (2 at once)"})
		case i >= 41:
			add(s+6, &event.Ended{Agent: id, Attempt: 1})
			add(s+7, &event.Started{Agent: id, Attempt: 1, Step: "verify"})
		case i%10 == 9:
			add(s+5, &event.Settled{Agent: id, Attempt: 1, Result: &task.Failed{Work: work, Kind: task.Other, Reason: "cannot find symbol frobnicate"}})
		case i%10 == 5:
			work.Notes = []string{"verify: exit status 1: FAIL pkg/kv 0.3s"}
			add(s+7, &event.Settled{Agent: id, Attempt: 1, Result: &task.Completed{Work: work, Verified: &no}})
		default:
			add(s+7, &event.Settled{Agent: id, Attempt: 1, Result: &task.Completed{Work: work, Verified: &yes}})
		}
	}
	w = &Watcher{Began: began, View: store.Fold(store.Identity{Run: "k3x9q2"}, records), Doing: map[task.ID]activity.Now{}}
	for i := 47; i < 65; i++ {
		w.Doing[task.AgentID(i+1)] = activity.Now{
			Text:    fmt.Sprintf("edit pkg/service-%02d/internal/kv.go", i),
			Attempt: 1,
			Usage:   task.Usage{Input: 4000, Output: int64(100 * i), CostUSD: 0.02},
		}
	}
	for _, i := range []int{41, 42} {
		w.Doing[task.AgentID(i+1)] = activity.Now{Text: "ok  pkg/almanac  0.31s"}
	}
	return w, at(31.5)
}

// TestHundredAgents draws the frame of a run with a hundred agents at two sizes.
func TestHundredAgents(t *testing.T) {
	t.Parallel()
	w, now := hundred()
	for _, size := range [][2]int{{80, 24}, {200, 50}} {
		lines := rendered(w.frame(now), size[0], size[1])
		golden(t, fmt.Sprintf("hundred_%dx%d", size[0], size[1]), strings.Join(lines, "\n")+"\n")
		all := !strings.Contains(strings.Join(lines, "\n"), "more agents")
		if !all && len(lines) != size[1]-1 || all && size[1] < 50 {
			t.Errorf("at %dx%d %d rows are used; all agents are shown: %v", size[0], size[1], len(lines), all)
		}
	}
}

// TestFrameOfAScript holds that the frame of a script shows its phase, no bar and
// no time left, until the script has returned.
func TestFrameOfAScript(t *testing.T) {
	t.Parallel()
	w, now := hundred()
	if f := w.frame(now); f.Growing || f.Left <= 0 {
		t.Errorf("no script: growing %v, %s left", f.Growing, f.Left)
	}
	w.View.Apply(event.Record{N: 1000, Time: now, Event: &event.Scripted{Name: "w.js"}})
	w.View.Apply(event.Record{N: 1001, Time: now, Event: &event.Phased{Title: "build"}})
	f := w.frame(now)
	if !f.Growing || f.Left != 0 || f.Phase != "build" {
		t.Errorf("a script: growing %v, %s left, phase %q", f.Growing, f.Left, f.Phase)
	}
	if line := rendered(f, 200, 50)[0]; strings.Contains(line, "[") || !strings.HasPrefix(line, "41 done of 100 so far") {
		t.Errorf("the first line is %q", line)
	}
	w.View.Apply(event.Record{N: 1002, Time: now, Event: &event.Returned{}})
	if f := w.frame(now); f.Growing {
		t.Error("a script that has returned may start more")
	}
}

// TestSpentIsLive checks that the usage that agents report in their current
// attempts counts, with a budget and without.
func TestSpentIsLive(t *testing.T) {
	t.Parallel()
	w, now := hundred()
	if got, want := w.spent(now), "590k tok  $2.41"; got != want {
		t.Errorf("spent = %q, want %q", got, want)
	}
	// An agent that has ended meanwhile counts once: its usage is in that of the run.
	last := task.AgentID(65)
	does := w.Doing[last]
	w.View.Apply(event.Record{N: 999, Time: now, Event: &event.Settled{Agent: last, Attempt: 1, Result: &task.Completed{Work: task.Work{Usage: does.Usage}}}})
	if got, want := w.spent(now), "590k tok  $2.41"; got != want {
		t.Errorf("spent = %q after the end of an agent, want %q", got, want)
	}
	w.View.Apply(event.Record{N: 1000, Time: now, Event: &event.Opened{Pid: 2, Budget: &task.Amount{USD: 20}}})
	if got, want := w.spent(now), "$2.41 of $20.00  590k tok"; got != want {
		t.Errorf("spent = %q, want %q", got, want)
	}
}
