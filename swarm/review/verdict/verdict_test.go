package verdict

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/review"
	"agentswarm/swarm/review/mark"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

const (
	rename = "-\tx := old.Call(a%d)\n+\tx := new.Call(a%d)\n"
	skip   = "+\tt.Skip(\"later\")\n"
	own    = "-\towner := %d\n+\towner := name(%d)\n"
)

func diff(path, hunk string) string {
	before, after := 0, 0
	for line := range strings.Lines(hunk) {
		if line[0] != '+' {
			before++
		}
		if line[0] != '-' {
			after++
		}
	}
	return fmt.Sprintf("diff --git a/%[1]s b/%[1]s\nindex 1..2 100644\n--- a/%[1]s\n+++ b/%[1]s\n@@ -1,%[2]d +1,%[3]d @@\n%[4]s", path, before, after, hunk)
}

func numbered(hunk string, n int) string { return strings.ReplaceAll(hunk, "%d", fmt.Sprint(n)) }

func work(t *testing.T, id task.ID, text string) Work {
	t.Helper()
	files, err := review.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	return Work{ID: id, Attempt: 1, Files: files}
}

// fleet are six works: all rename; a2 also switches a test off in the same file,
// and a3 has an edit of its own.
func fleet(t *testing.T) []Work {
	t.Helper()
	var works []Work
	for i := 1; i <= 6; i++ {
		id := task.ID(fmt.Sprintf("a%d", i))
		hunk := numbered(rename, i)
		switch i {
		case 2:
			hunk += " between\n" + skip
		case 3:
			hunk += " between\n" + numbered(own, i)
		}
		works = append(works, work(t, id, diff(fmt.Sprintf("p%d/a_test.go", i), hunk)))
	}
	return works
}

func rules(t *testing.T) *mark.Rules {
	t.Helper()
	all, err := mark.Load()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func open(t *testing.T, works []Work) *Review {
	t.Helper()
	return New(Input{Rules: rules(t), Works: works})
}

// large is the class of the rename.
func large(t *testing.T, r *Review) *review.Class {
	t.Helper()
	for _, c := range r.Classes {
		if len(c.Members) == 6 {
			return c
		}
	}
	t.Fatal("there is no class of six")
	return nil
}

// apply puts the records of a verdict into works, as a journal does.
func apply(works []Work, s *Spread) {
	for i := range works {
		for k := range s.Edits {
			if s.Edits[k].Agent == works[i].ID {
				works[i].Made = append(works[i].Made, store.EditVerdict{EditsReviewed: &s.Edits[k]})
			}
		}
		for _, p := range s.Patches {
			if p.Agent == works[i].ID {
				works[i].Verdict = p.Verdict
			}
		}
	}
}

func agents(s *Spread) (edits, patches []task.ID) {
	for _, e := range s.Edits {
		edits = append(edits, e.Agent)
	}
	for _, p := range s.Patches {
		patches = append(patches, p.Agent)
	}
	return edits, patches
}

func want(t *testing.T, s *Spread, edits, patches string, leftOut map[Why]int) {
	t.Helper()
	gotEdits, gotPatches := agents(s)
	if fmt.Sprint(gotEdits) != edits || fmt.Sprint(gotPatches) != patches {
		t.Errorf("edits of %v, patches %v; want %s, %s", gotEdits, gotPatches, edits, patches)
	}
	got := map[Why]int{}
	for why, all := range s.LeftOut {
		got[why] = len(all)
	}
	if !reflect.DeepEqual(got, leftOut) {
		t.Errorf("left out: %v, want %v", got, leftOut)
	}
}

// TestSpread: a verdict on a class covers its members, and accepts the patches
// that have no other edit. It leaves out files with a mark.
func TestSpread(t *testing.T) {
	t.Parallel()
	works := fleet(t)
	r := open(t, works)
	if n := r.LinesLeft(); n != r.ToRead {
		t.Errorf("%d of %d lines are left at first", n, r.ToRead)
	}
	s := r.Spread(Request{Verdict: task.Accepted, Classes: []*review.Class{large(t, r)}})
	want(t, s, "[a1 a3 a4 a5 a6]", "[a1 a4 a5 a6]", map[Why]int{Marked: 1})
	apply(works, s)

	r = open(t, works)
	s = r.Spread(Request{Verdict: task.Rejected, Classes: []*review.Class{large(t, r)}})
	want(t, s, "[]", "[]", map[Why]int{Marked: 1, Decided: 5})
	if r.LinesLeft() >= r.ToRead+1 || r.LinesLeft() == 0 {
		t.Errorf("%d of %d lines are left", r.LinesLeft(), r.ToRead)
	}

	// The rest of a3 by its file: then all of a3 is accepted.
	s = r.Spread(Request{Verdict: task.Accepted, Files: []string{"p3/a_test.go"}, Only: []task.ID{"a3"}})
	want(t, s, "[a3]", "[a3]", map[Why]int{})
	// A named agent and file decide a marked file.
	s = r.Spread(Request{Verdict: task.Accepted, Files: []string{"p2/a_test.go"}, Only: []task.ID{"a2"}})
	want(t, s, "[a2]", "[a2]", map[Why]int{})
	// A selector names no agent.
	s = r.Spread(Request{Verdict: task.Rejected, Classes: []*review.Class{large(t, r)}, Only: []task.ID{"a1"}, Picked: true})
	want(t, s, "[]", "[]", map[Why]int{Decided: 1})
	// Naming an agent decides again.
	s = r.Spread(Request{Verdict: task.Rejected, Reason: "no", Classes: []*review.Class{large(t, r)}, Only: []task.ID{"a1", "a2"}})
	want(t, s, "[a1]", "[a1]", map[Why]int{Marked: 1})
	if reason := s.Patches[0].Reason; reason != "no\n\nRejected changes:\np1/a_test.go:1" {
		t.Errorf("the agent is told %q", reason)
	}
}

// TestSpreadFile: a file without names of agents is decided like a class: without
// edits that have a verdict, and without files with a mark.
func TestSpreadFile(t *testing.T) {
	t.Parallel()
	works := fleet(t)
	r := open(t, works)
	files := []string{"p1/a_test.go", "p2/a_test.go"}
	s := r.Spread(Request{Verdict: task.Accepted, Files: files})
	want(t, s, "[a1]", "[a1]", map[Why]int{Marked: 2})
	apply(works, s)
	want(t, open(t, works).Spread(Request{Verdict: task.Rejected, Files: files}), "[]", "[]", map[Why]int{Marked: 2, Decided: 1})
}

// TestSpreadTogether: several classes at once accept a patch that is made of
// them.
func TestSpreadTogether(t *testing.T) {
	t.Parallel()
	r := open(t, fleet(t))
	var both []*review.Class
	for _, c := range r.Classes {
		if len(c.Members) == 6 || c.Example.Patch == "a3" {
			both = append(both, c)
		}
	}
	s := r.Spread(Request{Verdict: task.Accepted, Classes: both})
	if _, patches := agents(s); !slices.Contains(patches, "a3") {
		t.Errorf("patches %v, want a3 too", patches)
	}
}

// TestSpreadLeavesOut: landed patches and patches that a script passed over
// stay.
func TestSpreadLeavesOut(t *testing.T) {
	t.Parallel()
	works := fleet(t)
	works[3].Landed, works[4].PassedOver = true, true
	r := open(t, works)
	class := []*review.Class{large(t, r)}
	want(t, r.Spread(Request{Verdict: task.Accepted, Classes: class}), "[a1 a3 a6]", "[a1 a6]", map[Why]int{Marked: 1, Landed: 1, PassedOver: 1})
	want(t, r.Spread(Request{Verdict: task.Accepted, Classes: class, Only: []task.ID{"a5"}}), "[a5]", "[a5]", map[Why]int{})
	want(t, r.Spread(Request{Verdict: task.Rejected, Classes: class}), "[a1 a3 a5 a6]", "[a1 a3 a5 a6]", map[Why]int{Marked: 1, Landed: 1})
}

// TestLaterAttempts: verdicts hold in later attempts for edits that remain,
// three attempts later and in a moved file. A rejected edit that remains has a
// mark, and a removed edit is outdated.
func TestLaterAttempts(t *testing.T) {
	t.Parallel()
	first := work(t, "a1", diff("p/a.go", numbered(rename, 1)+" between\n"+numbered(own, 1)))
	r := open(t, []Work{first})
	s := r.Spread(Request{Verdict: task.Rejected, Files: []string{"p/a.go"}, Only: []task.ID{"a1"}})
	journal := s.Edits
	for attempt, path := range []string{"p/a.go", "p/a.go", "q/a.go"} {
		again := work(t, "a1", diff(path, " more\n"+numbered(rename, 1)))
		again.Attempt = attempt + 2
		for i := range journal {
			again.Made = append(again.Made, store.EditVerdict{EditsReviewed: &journal[i]})
		}
		r = open(t, []Work{again})
		e := r.Classes[0].Example
		if r.Verdict(e) != task.Rejected || len(r.Marks[e]) != 1 || r.Marks[e][0].ID != "rejected-before" || !r.Withheld(e) {
			t.Errorf("attempt %d: verdict %q, marks %v", again.Attempt, r.Verdict(e), r.Marks[e])
		}
		if gone := r.Outdated("a1"); len(gone) != 1 || gone[0].Verdict != task.Rejected {
			t.Errorf("attempt %d: outdated %v", again.Attempt, gone)
		}
		// A person accepts it after all, by name.
		s = r.Spread(Request{Verdict: task.Accepted, Files: []string{path}, Only: []task.ID{"a1"}})
		want(t, s, "[a1]", "[a1]", map[Why]int{})
	}
}

// TestWhole: the keys of a whole patch decide all its edits.
func TestWhole(t *testing.T) {
	t.Parallel()
	w := fleet(t)[2]
	w.Made = []store.EditVerdict{{EditsReviewed: &event.EditsReviewed{Agent: w.ID, Attempt: 1, Verdict: task.Accepted, Edits: Whole(w.ID, w.Files)}}}
	r := open(t, []Work{w})
	if r.LinesLeft() != 0 || len(r.Outdated(w.ID)) != 0 {
		t.Errorf("%d lines are left, %v outdated", r.LinesLeft(), r.Outdated(w.ID))
	}
}

// TestAcceptedEditsOfALaterAttempt: a verdict on a class accepts the patch of a
// later attempt whose edits are all accepted already.
func TestAcceptedEditsOfALaterAttempt(t *testing.T) {
	t.Parallel()
	works := fleet(t)
	apply(works, open(t, works).Spread(Request{Verdict: task.Rejected, Files: []string{"p3/a_test.go"}, Only: []task.ID{"a3"}}))
	r := open(t, works)
	apply(works, r.Spread(Request{Verdict: task.Accepted, Classes: []*review.Class{large(t, r)}, Only: []task.ID{"a3"}}))
	if works[2].Verdict != task.Rejected {
		t.Fatalf("a3 is %q", works[2].Verdict)
	}
	again := work(t, "a3", diff("p3/a_test.go", numbered(rename, 3)))
	again.Attempt, again.Made = 2, works[2].Made
	accept := func(of Work, v task.Verdict) *Spread {
		all := fleet(t)
		all[2] = of
		r := open(t, all)
		return r.Spread(Request{Verdict: v, Classes: []*review.Class{large(t, r)}, Only: []task.ID{"a3"}, Picked: true})
	}
	s := accept(again, task.Accepted)
	want(t, s, "[]", "[a3]", map[Why]int{Decided: 1})
	if wanted := []event.Reviewed{{Agent: "a3", Attempt: 2, Verdict: task.Accepted}}; !reflect.DeepEqual(s.Patches, wanted) {
		t.Errorf("verdicts on patches are %+v, want %+v", s.Patches, wanted)
	}
	want(t, accept(again, task.Rejected), "[]", "[]", map[Why]int{Decided: 1})
	for name, verdict := range map[string]task.Verdict{"it is accepted": task.Accepted, "it was rejected as a whole": task.Rejected} {
		marked := again
		marked.Verdict = verdict
		if s := accept(marked, task.Accepted); len(s.Patches) != 0 {
			t.Errorf("%s: %v", name, s.Patches)
		}
	}
	landed := again
	landed.Landed = true
	want(t, accept(landed, task.Accepted), "[]", "[]", map[Why]int{Landed: 1})
	open := work(t, "a3", diff("p3/a_test.go", numbered(rename, 3)+" between\n"+numbered(own, 9)))
	open.Attempt, open.Made = 2, works[2].Made
	want(t, accept(open, task.Accepted), "[]", "[]", map[Why]int{Decided: 1})
}

// TestPartly: it names patches that have other edits which are not accepted, and
// no patch that is accepted as a whole.
func TestPartly(t *testing.T) {
	t.Parallel()
	works := fleet(t)
	r := open(t, works)
	if s := r.Spread(Request{Verdict: task.Accepted, Classes: []*review.Class{large(t, r)}}); fmt.Sprint(s.Partly) != "[a3]" {
		t.Errorf("Partly = %v, want a3", s.Partly)
	}
	works[2].Verdict = task.Accepted
	r = open(t, works)
	if s := r.Spread(Request{Verdict: task.Accepted, Classes: []*review.Class{large(t, r)}}); len(s.Partly) != 0 {
		t.Errorf("Partly = %v, want none", s.Partly)
	}
}

// TestWholeEdits: patches that cannot be read are named, and the end of a context
// is an error.
func TestWholeEdits(t *testing.T) {
	t.Parallel()
	works := fleet(t)
	marks := []event.Reviewed{
		{Agent: "a1", Attempt: 1, Verdict: task.Accepted, Reason: "r"}, {Agent: "a2", Attempt: 1, Verdict: task.Accepted},
	}
	broken := errors.New("its commit is gone")
	read := func(_ context.Context, id task.ID) ([]review.File, error) {
		if id == "a2" {
			return nil, broken
		}
		return works[0].Files, nil
	}
	all, unread, err := WholeEdits(t.Context(), marks, read)
	wanted := []event.EditsReviewed{{Agent: "a1", Attempt: 1, Verdict: task.Accepted, Reason: "r", Edits: Whole("a1", works[0].Files)}}
	if err != nil || !reflect.DeepEqual(all, wanted) || !reflect.DeepEqual(unread, []Unread{{"a2", broken}}) {
		t.Errorf("WholeEdits = %v, %v, %v", all, unread, err)
	}
	ended := errors.New("interrupted")
	ctx, end := context.WithCancelCause(t.Context())
	stopped := func(context.Context, task.ID) ([]review.File, error) {
		end(ended)
		return nil, broken
	}
	if all, unread, err := WholeEdits(ctx, marks, stopped); !errors.Is(err, ended) || all != nil || unread != nil {
		t.Errorf("WholeEdits of a context that ended = %v, %v, %v", all, unread, err)
	}
}
