package engine

import (
	"fmt"
	"slices"
	"strings"

	"agentswarm/merge"
)

// OntoBrief tells an agent how its patch fits on a new base.
type OntoBrief struct {
	Branch   string          // the name of the new base
	Conflict *merge.Conflict // nil: the patch fits
	Marked   []string        // the files with conflict markers
	Others   []OntoOther     // agents whose patches landed there and met this patch
	Said     string          // the words of a person; may be empty
}

// OntoOther is an agent whose patch landed before.
type OntoOther struct {
	ID, Title, Task string
}

const (
	maxOntoHunks = 3 << 10 // of all hunks that are shown, in bytes
	maxOntoTask  = 400     // of the task of another agent, in characters
	maxOntoPaths = 20      // files that are named
)

// Text is the brief. It is short: the files hold everything.
func (b OntoBrief) Text() string {
	var t strings.Builder
	fmt.Fprintf(&t, "The branch %s has changed since you began. The current directory holds the branch as it is now, with your changes on top, staged.\n", b.Branch)
	if b.Conflict == nil {
		t.WriteString("Your changes fit without a conflict. Check that they are still right there, and mend what is not.\n")
	} else {
		b.conflict(&t)
	}
	for _, o := range b.Others {
		fmt.Fprintf(&t, "\nThe other side is %s (%s). Its task was: %s\n", o.ID, o.Title, cutText(strings.Join(strings.Fields(o.Task), " "), maxOntoTask))
	}
	if b.Said != "" {
		t.WriteString("\n" + strings.TrimSpace(b.Said) + "\n")
	}
	return t.String()
}

func (b OntoBrief) conflict(t *strings.Builder) {
	t.WriteString("Your changes conflict with it. Keep what the other side did and make your change work with it. ")
	t.WriteString("Remove every conflict marker. Do not take the other side's change back.\n")
	if len(b.Marked) > 0 {
		t.WriteString("Files with conflict markers (<<<<<<<, |||||||, =======, >>>>>>>): " + listed(b.Marked, maxOntoPaths) + "\n")
	}
	var rest []string
	for _, path := range b.Conflict.Paths {
		if !slices.Contains(b.Marked, path) {
			rest = append(rest, path)
		}
	}
	if len(rest) > 0 {
		t.WriteString("Files in conflict without markers: " + listed(rest, maxOntoPaths) + "\n")
		t.WriteString(b.Conflict.Text + "\n")
	}
	left := maxOntoHunks
	for _, h := range b.Conflict.Hunks {
		if left -= len(h.Text); left < 0 {
			t.WriteString("There are more places; search for the markers.\n")
			return
		}
		fmt.Fprintf(t, "\n%s:\n%s", h.Path, h.Text)
	}
}

// cutText is the start of a text, in characters.
func cutText(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
