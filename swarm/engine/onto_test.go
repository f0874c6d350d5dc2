package engine

import (
	"strings"
	"testing"

	"agentswarm/merge"
)

// TestOntoBrief: a short text tells an agent the state of its files, the places
// where both sides meet, and the task of the other side.
func TestOntoBrief(t *testing.T) {
	t.Parallel()
	fits := OntoBrief{Branch: "main"}.Text()
	if !strings.Contains(fits, "fit without a conflict") || strings.Contains(fits, "marker") {
		t.Errorf("of a patch that fits: %s", fits)
	}
	c := &merge.Conflict{
		Paths: []string{"f", "logo.png"}, Text: "CONFLICT (binary): logo.png",
		Hunks: []merge.Hunk{{Path: "f", Text: "<<<<<<< target\nours\n=======\ntheirs\n>>>>>>> patch\n"}},
	}
	b := OntoBrief{
		Branch: "main", Conflict: c, Marked: []string{"f"}, Said: "Keep both.",
		Others: []OntoOther{{ID: "a1", Title: "web", Task: strings.Repeat("long ", 1000)}},
	}
	text := b.Text()
	for _, want := range []string{
		"Files with conflict markers (<<<<<<<, |||||||, =======, >>>>>>>): f\n", "without markers: logo.png", "CONFLICT (binary)",
		"ours\n=======\ntheirs", "The other side is a1 (web).", "Keep both.", "Do not take the other side's change back.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the brief lacks %q:\n%s", want, text)
		}
	}
	for range 100 {
		c.Hunks = append(c.Hunks, merge.Hunk{Path: "f", Text: strings.Repeat("x\n", 500)})
		c.Paths = append(c.Paths, "some/long/path/to/a/file.go")
	}
	if text := b.Text(); len(text) > 6000 || !strings.Contains(text, "There are more places") {
		t.Errorf("the brief of a large conflict has %d bytes, want at most 6000", len(text))
	}
}
