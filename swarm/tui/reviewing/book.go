package reviewing

import (
	"context"
	"fmt"
	"strings"

	"agentswarm/swarm/task"
	"agentswarm/swarm/tui"
)

// Edit is an edit of a class.
type Edit struct {
	Patch   task.ID
	Hunk    tui.Hunk // its text is foreign
	Verdict task.Verdict
	// Withheld is set where no verdict on the class covers the edit.
	Withheld bool
	Reasons  []string // its marks
	Remarks  []string
}

// Class is a set of equal edits.
type Class struct {
	ID      string
	Head    string // kind, language and the like
	Weight  int    // of its marks
	Changed bool   // since the person looked
	Edits   []*Edit
	// Beside are notes about the class: edits that stand elsewhere, agents that lack
	// it, and places that still have the removed words.
	Beside []string
}

// open counts the edits without a verdict, and those of them that a verdict on
// the class covers.
func (c *Class) open() (all, covered int) {
	for _, e := range c.Edits {
		if e.Verdict == "" {
			all++
			if !e.Withheld {
				covered++
			}
		}
	}
	return all, covered
}

// Book is a review of a run.
type Book struct {
	Run     string
	Classes []*Class // those to be read first come first
}

// Choice is a verdict or a remark of a person.
type Choice struct {
	Verdict task.Verdict // empty: a remark
	Text    string       // the remark, or the reason
	// Class is decided, or only Edit of it where that is not nil.
	Class *Class
	Edit  *Edit
}

// Outcome is the effect of a choice.
type Outcome struct {
	Covered []*Edit
	Said    string
}

// Desk takes choices, and opens the work of agents.
type Desk interface {
	// Decide records a choice. Its calls do not overlap.
	Decide(context.Context, Choice) (Outcome, error)
	// Send has agents tried again with all remarks that were not sent. It has the
	// terminal.
	Send(context.Context) (said string, err error)
	// Open opens an edit in the person's editor, and Shell a shell at the patch.
	// Both have the terminal.
	Open(context.Context, *Edit) (said string, err error)
	Shell(context.Context, *Edit) (said string, err error)
}

// progress says how far the review has come.
func (b *Book) progress(read map[*Edit]bool) string {
	classes, edits, done := 0, 0, 0
	patches, undone := map[task.ID]bool{}, map[task.ID]bool{}
	for _, c := range b.Classes {
		left := 0
		for _, e := range c.Edits {
			patches[e.Patch] = true
			if e.Verdict == "" {
				undone[e.Patch] = true
				left++
			}
		}
		edits, done = edits+len(c.Edits), done+len(c.Edits)-left
		if left == 0 {
			classes++
		}
	}
	text := fmt.Sprintf("%d of %d classes, %d %% of the edits, %d of %d patches done",
		classes, len(b.Classes), 100*done/max(1, edits), len(patches)-len(undone), len(patches))
	if n := len(read); n > 0 {
		text += fmt.Sprintf(", %d read", n)
	}
	return text
}

// state is the state of a class in a letter or two.
func (c *Class) state(read map[*Edit]bool) string {
	count := map[task.Verdict]int{}
	seen := 0
	for _, e := range c.Edits {
		count[e.Verdict]++
		if read[e] {
			seen++
		}
	}
	var all []string
	for _, part := range []struct {
		n    int
		sign string
	}{{count[task.Accepted], "+"}, {count[task.Rejected], "-"}} {
		switch {
		case part.n == len(c.Edits):
			return part.sign
		case part.n > 0:
			all = append(all, fmt.Sprintf("%s%d", part.sign, part.n))
		}
	}
	if len(all) == 0 && seen == len(c.Edits) {
		return "r"
	}
	return strings.Join(all, "")
}
