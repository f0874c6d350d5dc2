package inspect

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/review"
	"agentswarm/swarm/review/collect"
	"agentswarm/swarm/review/mark"
	"agentswarm/swarm/review/verdict"
	"agentswarm/swarm/store"
)

// TestReviewIsBounded: a review prints so many classes, and lines of an example of
// bounded length. --all prints all of it.
func TestReviewIsBounded(t *testing.T) {
	t.Parallel()
	const classes, lines = mostClasses + 7, mostExampleLines + 5
	var patch strings.Builder
	for i := range classes {
		fmt.Fprintf(&patch, "diff --git a/f%[1]d b/f%[1]d\nnew file mode 100644\n--- /dev/null\n+++ b/f%[1]d\n@@ -0,0 +1,%[2]d @@\n", i, lines)
		fmt.Fprintf(&patch, "+begin%d %s\n", i, strings.Repeat("x", 2*mostLineBytes))
		patch.WriteString(strings.Repeat("+line\n", lines-1))
	}
	files, err := review.Read(patch.String())
	if err != nil {
		t.Fatal(err)
	}
	rules, err := mark.Load()
	if err != nil {
		t.Fatal(err)
	}
	r := &collect.Review{Review: verdict.New(verdict.Input{Rules: rules, Works: []verdict.Work{{ID: "a1", Attempt: 1, Files: files}}})}
	s := &selection.Selection{Run: &store.Run{ID: "k3x9q2"}, View: &store.View{Agents: []*store.Agent{{ID: "a1"}}}}
	for _, all := range []bool{false, true} {
		var out strings.Builder
		if err := (&reviewText{Review: r, s: s, all: all, stderr: io.Discard}).print(&out); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		heads := strings.Count(text, "== C")
		more := strings.Contains(text, "\n… and 7 more classes; swarm review k3x9q2 --all\n") &&
			strings.Contains(text, "\n  … and 5 more lines; swarm review k3x9q2 --all\n")
		long := strings.Contains(text, strings.Repeat("x", 2*mostLineBytes))
		if want := map[bool]int{false: mostClasses, true: classes}[all]; heads != want || more == all || long != all {
			t.Errorf("all: %t: %d classes, says that there is more: %t, whole lines: %t", all, heads, more, long)
		}
	}
}
