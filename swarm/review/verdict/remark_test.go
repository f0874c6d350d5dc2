package verdict

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/review"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// TestFindHunk: a place names the changed lines around it, of a single agent.
func TestFindHunk(t *testing.T) {
	t.Parallel()
	works := []Work{
		work(t, "a1", diff("a.go", " one\n-\tx := old(1)\n-\ty := older(2)\n+\tx := new(1)\n+\ty := newer(2)\n four\n-gone\n")),
		work(t, "a2", diff("b.go", "+x\n")), work(t, "a3", diff("b.go", "+y\n")),
		// Others have the pairs of lines that a1's first hunk is cut into.
		work(t, "a4", diff("c.go", "-\tx := old(1)\n+\tx := new(1)\n")), work(t, "a5", diff("d.go", "-\tx := old(1)\n+\tx := new(1)\n")),
		work(t, "a6", diff("e.go", "-\ty := older(2)\n+\ty := newer(2)\n")), work(t, "a7", diff("f.go", "-\ty := older(2)\n+\ty := newer(2)\n")),
	}
	r := open(t, works)
	for _, test := range []struct {
		at    string
		only  []task.ID
		edits int
		fails string
	}{
		{"a.go:2", nil, 2, ""},
		{"a.go:3", nil, 2, ""},
		{"a.go:5", nil, 1, ""}, // a line that is only removed
		{"a.go:4", nil, 0, "no change at a.go:4; the file has changes at a.go:2, a.go:3, a.go:5"},
		{"b.go:1", nil, 0, "b.go:1 is changed by a2, a3; name one of them"},
		{"b.go:1", []task.ID{"a3"}, 1, ""},
		{"none.go:1", nil, 0, "no change of lines of none.go"},
	} {
		at, err := ParseAt(test.at)
		if err != nil {
			t.Fatal(err)
		}
		found, err := r.FindHunk(at, test.only)
		if failed, _ := errors.AsType[*HunkError](err); len(found) != test.edits || (test.fails == "") != (err == nil) || err != nil && failed.Error() != test.fails {
			t.Errorf("FindHunk(%s, %v) = %d edits, %v; want %d, %s", test.at, test.only, len(found), err, test.edits, test.fails)
		}
	}
	for _, wrong := range []string{"", "a.go", "a.go:", ":1", "a.go:0", "a.go:x"} {
		if at, err := ParseAt(wrong); err == nil {
			t.Errorf("ParseAt(%q) = %v", wrong, at)
		}
	}

	// A verdict on a hunk covers both of its edits and nothing else.
	hunk, err := r.FindHunk(review.Place{Path: "a.go", Line: 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := r.Spread(Request{Verdict: task.Accepted, Hunks: hunk})
	want(t, s, "[a1]", "[]", map[Why]int{})
	if s.Covered != 2 || fmt.Sprint(s.Partly) != "[a1]" {
		t.Errorf("%d edits, partly %v", s.Covered, s.Partly)
	}
}

// TestRemarksSurvive: a remark stays with its edit over three attempts and a moved
// file, and a remark on a removed edit is outdated; none is lost.
func TestRemarksSurvive(t *testing.T) {
	t.Parallel()
	first := work(t, "a1", diff("p/a.go", numbered(rename, 1)+" between\n"+numbered(own, 1)))
	r := open(t, []Work{first})
	var made []*store.EditRemark
	for i, line := range []int{1, 3} {
		m, err := r.NewRemark(review.Place{Path: "p/a.go", Line: line}, nil, fmt.Sprintf("remark %d", i+1))
		if err != nil {
			t.Fatal(err)
		}
		m.ID = i + 1
		made = append(made, &store.EditRemark{Remarked: &m})
	}
	first.Remarks = made
	if got, want := open(t, []Work{first}).Feedback(made[:1]), "p/a.go:1\n> -\tx := old.Call(a1)\n> +\tx := new.Call(a1)\nremark 1"; got != want {
		t.Errorf("the agent is told %q, want %q", got, want)
	}
	for attempt, path := range []string{"p/a.go", "q/a.go", "q/b.go"} {
		again := work(t, "a1", diff(path, " more\n lines\n"+numbered(rename, 1)))
		again.Attempt, again.Remarks = attempt+2, made
		r = open(t, []Work{again})
		e := r.Classes[0].Example
		if on, gone := r.Remarks(e), r.OutdatedRemarks("a1"); len(on) != 1 || on[0].ID != 1 || len(gone) != 1 || gone[0].ID != 2 {
			t.Errorf("attempt %d: %d remarks on the edit, %d outdated; want 1, 1", again.Attempt, len(on), len(gone))
		}
		told := r.Feedback(made)
		if !strings.HasPrefix(told, path+":3\n> -\tx := old.Call(a1)\n") || !strings.Contains(told, "\n\np/a.go:3 of attempt 1\n> -\towner := 1\n") {
			t.Errorf("attempt %d: the agent is told %q", again.Attempt, told)
		}
	}
}

// TestRemarkOnClass: a remark on a class is on a single edit of each agent that
// has it.
func TestRemarkOnClass(t *testing.T) {
	t.Parallel()
	r := open(t, fleet(t))
	var agents []task.ID
	for _, m := range r.OnClass(large(t, r), nil, "why?") {
		agents = append(agents, m.Agent)
		if m.Edit.Path == "" || m.Text != "why?" || len(m.Quote) != 2 {
			t.Errorf("the remark is %+v", m)
		}
	}
	if fmt.Sprint(agents) != "[a1 a2 a3 a4 a5 a6]" {
		t.Errorf("remarks on %v", agents)
	}
}

// TestQuoted: a long edit is quoted around the line of the remark.
func TestQuoted(t *testing.T) {
	t.Parallel()
	e := &review.Edit{NewLine: 10, Removed: []string{"old"}}
	for i := range 40 {
		e.Added = append(e.Added, fmt.Sprint("line ", 10+i))
	}
	for _, line := range []int{10, 30, 49} {
		if all := quoted(e, line); len(all) != mostQuoted || !strings.Contains(strings.Join(all, "\n")+"\n", fmt.Sprintf("+line %d\n", line)) {
			t.Errorf("quoted at %d: %q", line, all)
		}
	}
}

// TestChanged: the edits that an agent did not have when a person reviewed it are
// read first.
func TestChanged(t *testing.T) {
	t.Parallel()
	works := fleet(t)
	before := works[2].Files
	works[2] = work(t, "a3", diff("p3/a_test.go", " more\n"+numbered(rename, 3)+" between\n-\tz := 1\n+\tz := 2\n"))
	works[2].Attempt, works[2].Before, works[2].Since = 2, before, 1
	r := open(t, works)
	c := r.Classes[0]
	if !c.Changed || len(c.Members) != 1 || c.Example.Patch != "a3" || !r.Changed(c.Example) || r.Since("a3") != 1 {
		t.Errorf("read first: %+v", c.Example)
	}
	for _, other := range r.Classes[1:] {
		if other.Changed {
			t.Errorf("%s counts as changed: %v", other.ID, other.Patches())
		}
	}
}

// TestMissingIdle: an agent without a change lacks the edit that most patches
// have.
func TestMissingIdle(t *testing.T) {
	t.Parallel()
	works := fleet(t)
	for i := range works {
		works[i].Files[0].Runs = works[i].Files[0].Runs[:1]
	}
	r := New(Input{Rules: rules(t), Works: works, Idle: []task.ID{"a7"}})
	if c := large(t, r); fmt.Sprint(c.Missing) != "[a7]" {
		t.Errorf("missing in %v, want a7", c.Missing)
	}
	if c := large(t, New(Input{Rules: rules(t), Works: works, Idle: []task.ID{"a7", "a8"}})); c.Missing != nil {
		t.Errorf("of 8 agents 6 have it: missing in %v", c.Missing)
	}
}

// TestProgress: counts of decided edits, and minutes by the reader's pace.
func TestProgress(t *testing.T) {
	t.Parallel()
	works := fleet(t)
	r := open(t, works)
	at := time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC)
	if p := r.Progress(); p.ClassesDone+p.EditsDone+p.PatchesDone != 0 || p.MinutesLeft != (p.LinesLeft*60+399)/400 {
		t.Errorf("at first: %+v", p)
	}
	for _, s := range []struct {
		after time.Duration
		req   Request
	}{
		{0, Request{Verdict: task.Accepted, Classes: []*review.Class{large(t, r)}}},
		{time.Minute, Request{Verdict: task.Accepted, Files: []string{"p2/a_test.go"}, Only: []task.ID{"a2"}}},
		{time.Hour, Request{Verdict: task.Accepted, Files: []string{"p3/a_test.go"}, Only: []task.ID{"a3"}}},
	} {
		apply(works, open(t, works).Spread(s.req))
		for i := range works {
			for k := range works[i].Made {
				if works[i].Made[k].Time.IsZero() {
					works[i].Made[k].Time = at.Add(s.after)
				}
			}
		}
		if s.after == 0 {
			if p := open(t, works).Progress(); p.PatchesDone != 4 || p.EditsDone != 5 || p.Patches != 6 || p.Edits != 8 {
				t.Errorf("after a class: %+v", p)
			}
		}
	}
	if p := open(t, works).Progress(); p.LinesLeft != 0 || p.MinutesLeft != 0 || p.ClassesDone != p.Classes || p.PatchesDone != 6 {
		t.Errorf("at the end: %+v", p)
	}
}

// TestPace: the pace is that of the lines decided between verdicts, without
// pauses.
func TestPace(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("+\tline\n", 30)
	var works []Work
	for i := range 4 {
		w := work(t, task.ID(fmt.Sprintf("a%d", i+1)), diff(fmt.Sprintf("f%d.go", i), long+fmt.Sprintf("+\tlast(%d)\n", i)))
		works = append(works, w)
	}
	at := time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC)
	for i, after := range []time.Duration{0, time.Minute, 2 * time.Hour} {
		w := &works[i]
		w.Made = []store.EditVerdict{{EditsReviewed: &event.EditsReviewed{
			Agent: w.ID, Attempt: 1, Verdict: task.Accepted, Edits: Whole(w.ID, w.Files),
		}, Time: at.Add(after)}}
	}
	r := open(t, works)
	if pace := r.pace(); pace != 31*60 { // 31 lines in a minute
		t.Errorf("pace = %v lines an hour", pace)
	}
	if p := r.Progress(); p.LinesLeft != 31 || p.MinutesLeft != 1 {
		t.Errorf("%+v", p)
	}
}
