package verdict

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/review"
	"agentswarm/swarm/task"
)

// TestLike: an odd agent is shown the example's edits of the classes that it
// lacks, in a fence that the text does not end.
func TestLike(t *testing.T) {
	t.Parallel()
	const other = "+\tlog(\"```\")\n"
	works := fleet(t)
	works[0] = work(t, "a1", diff("p1/a_test.go", numbered(rename, 1)+" between\n"+other+" more\n+\talone()\n"))
	works[3] = work(t, "a4", diff("p4/a_test.go", numbered(rename, 4)+" between\n"+other))
	works[4] = work(t, "a5", diff("p5/a_test.go", numbered(own, 5)))
	r := open(t, works)
	got, err := r.Like("a1", "a5")
	if err != nil {
		t.Fatal(err)
	}
	first := strings.Index(got, "\n\np1/a_test.go:1, as in the patches of 5 agents:\n```diff\n-\tx := old.Call(a1)\n+\tx := new.Call(a1)\n```")
	second := strings.Index(got, "\n\np1/a_test.go:3, as in the patches of 2 agents:\n````diff\n+\tlog(\"```\")\n````")
	if first < 0 || second < first || strings.Contains(got, "alone") {
		t.Errorf("a5 is told %q", got)
	}
	if got, err := r.Like("a1", "a4"); err == nil {
		t.Errorf("a4 is told %q", got)
	} else if wrong, ok := errors.AsType[*LikeError](err); !ok || wrong.Odd != "a4" {
		t.Error(err)
	}
}

// TestPart: a part holds the accepted edits, and is made of some edits only.
func TestPart(t *testing.T) {
	t.Parallel()
	works := fleet(t)
	if _, _, err := open(t, works).Part("a3"); err == nil || err.Error() != "a3: no edit of its patch is accepted" {
		t.Errorf("nothing is accepted: %v", err)
	}
	r := open(t, works)
	hunk, err := r.FindHunk(review.Place{Path: "p3/a_test.go", Line: 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	apply(works, r.Spread(Request{Verdict: task.Accepted, Hunks: hunk}))
	if all, taken, err := open(t, works).Part("a3"); err != nil || len(all) != 2 || len(taken) != 1 || !taken[all[1]] {
		t.Errorf("Part = %d edits, %d taken, %v", len(all), len(taken), err)
	}
	apply(works, open(t, works).Spread(Request{Verdict: task.Accepted, Files: []string{"p3/a_test.go"}, Only: []task.ID{"a3"}}))
	if _, _, err := open(t, works).Part("a3"); err == nil || !strings.HasPrefix(err.Error(), "a3: all edits") {
		t.Errorf("all is accepted: %v", err)
	}
}

// TestRejectedIn: a part holds an edit that was rejected, until that is accepted
// again.
func TestRejectedIn(t *testing.T) {
	t.Parallel()
	works := fleet(t)
	part := works[slices.IndexFunc(works, func(w Work) bool { return w.ID == "a3" })].Files
	for _, test := range []struct {
		verdict task.Verdict
		want    int
	}{{task.Rejected, 1}, {task.Accepted, 0}} {
		r := open(t, works)
		hunk, err := r.FindHunk(review.Place{Path: "p3/a_test.go", Line: 3}, nil)
		if err != nil {
			t.Fatal(err)
		}
		apply(works, r.Spread(Request{Verdict: test.verdict, Hunks: hunk, Only: []task.ID{"a3"}}))
		if got := open(t, works).RejectedIn("a3", part); len(got) != test.want {
			t.Errorf("%s: %d rejected edits, want %d", test.verdict, len(got), test.want)
		}
	}
	if got := open(t, works).RejectedIn("a99", part); got != nil {
		t.Errorf("no work: %v", got)
	}
}

func TestFilePath(t *testing.T) {
	t.Parallel()
	r := open(t, []Work{work(t, "a1", diff("f", "+x\n")), work(t, "a2", diff("pkg/f", "+x\n")), work(t, "a3", diff("pkg/g", "+x\n"))})
	for _, test := range []struct{ folder, name, want string }{
		{"", "f", "f"},
		{"", "./f", "f"},
		{"", "pkg/g", "pkg/g"},
		{"pkg", "g", "pkg/g"},
		{"pkg", "f", "f"}, // as reviews print it
		{"pkg/", "./f", "pkg/f"},
		{"pkg", "../f", "f"},
		{"pkg", "pkg/g", "pkg/g"},
		{"pkg", "none", "none"},
	} {
		if got := r.FilePath(test.folder, test.name); got != test.want {
			t.Errorf("FilePath(%q, %q) = %q, want %q", test.folder, test.name, got, test.want)
		}
	}
}
