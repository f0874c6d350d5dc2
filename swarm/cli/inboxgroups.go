package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"agentswarm/risk"
	"agentswarm/swarm/inbox"
	"agentswarm/swarm/task"
)

// alike are open questions of a run that ask for the same, the oldest first.
type alike []asked

// groupAlike puts together what asks for the same. What has a secret in it
// stands alone: two that look the same may differ in that.
func groupAlike(all []asked) (groups []alike) {
	at := map[string]int{}
	for _, q := range all {
		key := q.sameAs()
		if n, found := at[key]; found && key != "" {
			groups[n] = append(groups[n], q)
			continue
		}
		at[key] = len(groups)
		groups = append(groups, alike{q})
	}
	return groups
}

// sameAs is one text for all questions that ask for the same; empty for one that
// is like no other.
func (q asked) sameAs() string {
	if none := strings.TrimSpace(string(q.Action)); q.Agent == "" || q.Redacted || none == "" || none == "null" {
		return ""
	}
	found := "-"
	if q.Risk != nil {
		found = q.Risk.Tier + "\x00" + q.Risk.Reason
	}
	return strings.Join([]string{q.run, inbox.Digest(q.Action), found}, "\x00")
}

// from is who asks: one, or how many, and which.
func (g alike) from() string {
	if len(g) == 1 {
		return g[0].from()
	}
	var ids []task.ID
	for _, q := range g {
		ids = append(ids, q.Agent)
	}
	return fmt.Sprintf("%s: %s/%s", Count(len(g), "question", "questions"), g[0].run, idRanges(ids))
}

// idRanges names agents in the order of their numbers, those in a row as
// a1–a3.
func idRanges(ids []task.ID) string {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, func(a, b task.ID) int { return a.Number() - b.Number() })
	ids = slices.Compact(ids)
	var parts []string
	for i := 0; i < len(ids); {
		last := i
		for last+1 < len(ids) && ids[last+1].Number() == ids[last].Number()+1 {
			last++
		}
		switch last - i {
		case 0:
			parts = append(parts, string(ids[i]))
		case 1:
			parts = append(parts, string(ids[i]), string(ids[last]))
		default:
			parts = append(parts, string(ids[i])+"–"+string(ids[last]))
		}
		i = last + 1
	}
	return strings.Join(parts, ", ")
}

// labels are those of the agents that ask, each once.
func (g alike) labels() string {
	var all []string
	for _, q := range g {
		if q.label != "" && !slices.Contains(all, q.label) {
			all = append(all, q.label)
		}
	}
	return strings.Join(all, ", ")
}

// hint says how several are answered; empty for one.
func (g alike) hint() string {
	if len(g) == 1 {
		return ""
	}
	var ids []string
	for _, q := range g {
		ids = append(ids, q.ID)
	}
	named := strings.Join(ids, " ")
	if g[0].Risk != nil && g[0].Risk.Tier == risk.Destructive.String() {
		return fmt.Sprintf("each of these is allowed on its own, or all of them by --all; a no is for all: %s", named)
	}
	if g[0].Risk != nil {
		return fmt.Sprintf("an answer to one of these is for all of them: %s", named)
	}
	return fmt.Sprintf("these ask the same; answer one by its id, or all: %s approve %s", program, named)
}

// printHints tells what a person may want to know beside the questions.
func printHints(w io.Writer, all []asked) {
	for _, g := range groupAlike(all) {
		if hint := g.hint(); hint != "" {
			fmt.Fprintln(w, "hint: "+Printable(hint))
		}
		if q := g[0]; q.Risk != nil && q.Risk.Hint != "" {
			fmt.Fprintln(w, "hint: "+Printable(q.Risk.Hint))
		}
	}
}

func inboxTable(all []asked) *Table {
	groups := groupAlike(all)
	t := &Table{Columns: []Column{
		{Title: "ID"}, {Title: "AGENT", Flex: len(groups) < len(all)}, {Title: "LABEL", Flex: true},
		{Title: "AGE", Right: true}, {Title: "WANTS", Flex: true},
	}}
	now := time.Now()
	for _, g := range groups {
		t.Row(g[0].ID, g.from(), g.labels(), Duration(now.Sub(g[0].Time)), g[0].wants)
	}
	return t
}
