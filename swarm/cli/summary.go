package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"agentswarm/swarm/engine"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// printTable prints a run's agents: what became of each, and how large its
// patch is.
func printTable(w io.Writer, width int, v *store.View, now time.Time) error {
	t := Table{Columns: []Column{
		{Title: "AGENT"}, {Title: "LABEL", Flex: true}, {Title: "RESULT"},
		{Title: "FILES", Right: true}, {Title: "+", Right: true}, {Title: "-", Right: true},
		{Title: "VERIFIED"}, {Title: "LANDED"}, {Title: "TIME", Right: true},
	}}
	for _, a := range v.Agents {
		o := newAgentObject(v, a, now)
		files, added, deleted := "", "", ""
		if o.Patch != nil {
			files, added, deleted = fmt.Sprint(o.Patch.Files), fmt.Sprint(o.Patch.Added), fmt.Sprint(o.Patch.Deleted)
		}
		t.Row(o.ID, engine.Title(a.ID, a.Call), o.Status, files, added, deleted,
			yesNo(o.Verified), yesNo(o.Landed), Duration(time.Duration(o.Duration)*time.Millisecond))
	}
	return t.Print(w, width)
}

func yesNo(b *bool) string {
	switch {
	case b == nil:
		return ""
	case *b:
		return "yes"
	default:
		return "no"
	}
}

// maxCauses bounds the causes a summary tells; status and show have the
// rest.
const maxCauses = 10

// printNotes tells what a capture could not take, or took differently.
func printNotes(w io.Writer, v *store.View) {
	told := 0
	for _, a := range v.Agents {
		if a.Captured == nil {
			continue
		}
		for _, note := range a.Captured.Notes {
			if told++; told > maxCauses {
				continue
			}
			fmt.Fprintf(w, "%s: note: %s\n", a.ID, Printable(note))
		}
	}
	if told > maxCauses {
		fmt.Fprintf(w, "and %s more; show tells all\n", Count(told-maxCauses, "note", "notes"))
	}
}

// printCauses tells why agents did not complete, those with the same cause
// together.
func printCauses(w io.Writer, v *store.View) {
	var order []string
	who := map[string][]string{}
	for _, a := range v.Agents {
		r := a.Result()
		if r == nil {
			continue
		}
		cause := causeOf(r)
		if cause == "" {
			continue
		}
		if who[cause] == nil {
			order = append(order, cause)
		}
		who[cause] = append(who[cause], string(a.ID))
	}
	for i, cause := range order {
		if i == maxCauses {
			fmt.Fprintf(w, "and %s more\n", Count(len(order)-i, "cause", "causes"))
			break
		}
		ids := who[cause]
		if len(ids) > 5 {
			ids = append(slices.Clone(ids[:5]), fmt.Sprintf("and %d more", len(who[cause])-5))
		}
		fmt.Fprintf(w, "%s: %s\n", strings.Join(ids, ", "), Printable(cause))
	}
}

// printSummary is the end of a run for a person: the table, the causes of
// failures, and what to type next.
func (p *place) printSummary(v *store.View) error {
	w := p.env.Stderr
	width, _ := detect(w, p.env.Getenv).Size()
	now := time.Now()
	if err := printTable(w, width, v, now); err != nil {
		return err
	}
	printCauses(w, v)
	printNotes(w, v)
	fmt.Fprintf(w, "run %s %s in %s\n", v.Identity.Run, statusText(v), Duration(v.Ended.Sub(v.Began)))
	p.printNext(w, v)
	return nil
}

func statusText(v *store.View) string {
	if v.Reason == "" {
		return string(v.Status)
	}
	return fmt.Sprintf("%s (%s)", v.Status, Printable(v.Reason))
}

// printNext suggests the command that usually comes next.
func (p *place) printNext(w io.Writer, v *store.View) {
	calls, run := p.env.Calls, v.Identity.Run
	unlanded, group, decided := 0, "", map[string]bool{} // groups of alternatives
	for _, a := range v.Agents {
		if a.Call.Group != "" && len(a.Landings) > 0 {
			decided[a.Call.Group] = true
		}
	}
	for _, a := range v.Agents {
		if landable(a) == nil && len(a.Landings) == 0 && !decided[a.Call.Group] {
			unlanded++
			group = a.Call.Group
		}
	}
	switch {
	case v.Status == store.RunRunning:
		fmt.Fprintf(w, "next: %s wait %s\n", calls, run)
	case v.Status == store.RunStopped:
		fmt.Fprintf(w, "next: %s resume %s\n", calls, run)
	case unlanded > 0 && group != "":
		fmt.Fprintf(w, "next: %s diff %s/AGENT, then %s merge %s/AGENT\n", calls, run, calls, run)
	case unlanded > 0:
		fmt.Fprintf(w, "next: %s diff %s, then %s merge %s\n", calls, run, calls, run)
	case slices.ContainsFunc(v.Agents, func(a *store.Agent) bool { return !isCompleted(a) }):
		fmt.Fprintf(w, "next: %s show %s/AGENT, or %s resume %s\n", calls, run, calls, run)
	}
}

func isCompleted(a *store.Agent) bool {
	_, ok := a.Status.(*task.Completed)
	return ok
}
