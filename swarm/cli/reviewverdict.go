package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/event"
	"agentswarm/swarm/review/verdict"
	"agentswarm/swarm/task"
)

// spreadFlags narrow a verdict to edits of patches.
func spreadFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "class", Usage: "only edits of class `C`, as review names it; no files with a mark"},
		&cli.StringSliceFlag{Name: "file", Usage: "only edits of file `PATH`"},
	}
}

// spreads reports whether a verdict is on edits and not on whole patches.
func spreads(c *cli.Context) bool { return len(c.StringSlice("class"))+len(c.StringSlice("file")) > 0 }

// spreadAction applies a verdict to the edits of classes or files.
func spreadAction(c *cli.Context, p *place, s *selection, v task.Verdict) error {
	name := c.Command.Name
	if len(c.StringSlice("class")) == 0 && len(s.named) == 0 {
		return usagef("%s: --file needs the names of agents, or --class", name)
	}
	if err := s.nonePicked(name); err != nil {
		return err
	}
	r, err := p.reviewOfRun(c.Context, s)
	if err != nil {
		return err
	}
	req := requestOf(c, s, v)
	for _, name := range c.StringSlice("class") {
		class, err := r.findClass(s, c.Command.Name, name)
		if err != nil {
			return err
		}
		req.Classes = append(req.Classes, class)
	}
	spread := r.Spread(req)
	if spread.Covered == 0 {
		return nothingCovered(name, s, spread)
	}
	if err := p.mark(c, s, spread.Patches, spread.Edits); err != nil {
		return err
	}
	if c.Bool("json") {
		return p.printReview(c, s, spread.Patches)
	}
	return p.printSpread(s, v, spread)
}

// nothingCovered says why a verdict covers no edit.
func nothingCovered(verb string, s *selection, spread *verdict.Spread) error {
	reasons := leftOut(spread)
	if len(reasons) == 0 {
		return usagef("%s: run %s has no such edit of the agents that are named", verb, s.run.ID)
	}
	text := fmt.Sprintf("%s: no edit is left to be decided: %s", verb, strings.Join(reasons, "; "))
	if len(spread.LeftOut[verdict.Marked]) == 0 {
		return &UsageError{Text: text}
	}
	return &UsageError{Text: text, Advice: "read each of them, and name its agent: " + program + " " + verb + " " + string(firstOf(spread))}
}

func firstOf(spread *verdict.Spread) task.ID { return task.ID(spread.LeftOut[verdict.Marked][0].Patch) }

// leftOut says which edits a verdict did not cover.
func leftOut(spread *verdict.Spread) []string {
	var all []string
	for _, why := range slices.Sorted(maps.Keys(spread.LeftOut)) {
		edits := spread.LeftOut[why]
		var agents []string
		for _, e := range edits {
			if !slices.Contains(agents, e.Patch) {
				agents = append(agents, e.Patch)
			}
		}
		all = append(all, fmt.Sprintf("%s %s (%s)", Count(len(edits), "edit", "edits"), why, listed(agents, 8)))
	}
	return all
}

// printSpread tells what a verdict on edits did.
func (p *place) printSpread(s *selection, v task.Verdict, spread *verdict.Spread) error {
	w := p.env.Stdout
	fmt.Fprintf(w, "%s: %s %s, in %s\n", s.run.ID, Count(spread.Covered, "edit", "edits"), v, Count(len(spread.Edits), "patch", "patches"))
	var whole []string
	for _, m := range spread.Patches {
		whole = append(whole, string(m.Agent))
	}
	if len(whole) > 0 {
		fmt.Fprintf(w, "%s %s: %s\n", Count(len(whole), "patch is", "patches are"), v, listed(whole, 12))
	}
	if open := len(spread.Edits) - len(whole); open > 0 && v == task.Accepted {
		fmt.Fprintf(w, "%s other edits that are not accepted\n", Count(open, "patch has", "patches have"))
	}
	for _, text := range leftOut(spread) {
		fmt.Fprintf(w, "left out: %s\n", text)
	}
	view, err := s.run.View()
	if err != nil {
		return err
	}
	for _, m := range spread.Patches {
		if m.Verdict == task.Accepted {
			p.sayMarked(view.Agent(m.Agent))
		}
	}
	return nil
}

// wholeEdits are verdicts on all edits of the patches that are marked, so that
// they hold for the same edits of later attempts. A patch that cannot be read
// has none.
func (p *place) wholeEdits(ctx context.Context, s *selection, marks []event.Reviewed) []event.EditsReviewed {
	var all []event.EditsReviewed
	for _, m := range marks {
		files, err := p.patchFiles(ctx, s.view.Agent(m.Agent))
		if err != nil {
			continue
		}
		if keys := verdict.Whole(m.Agent, files); len(keys) > 0 {
			all = append(all, event.EditsReviewed{Agent: m.Agent, Attempt: m.Attempt, Verdict: m.Verdict, Reason: m.Reason, Edits: keys})
		}
	}
	return all
}
