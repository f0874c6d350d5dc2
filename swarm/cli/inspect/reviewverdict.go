package inspect

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/review"
	"agentswarm/swarm/review/verdict"
	"agentswarm/swarm/task"
)

// spreadFlags narrow a verdict to edits of patches.
func spreadFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "class", Usage: "only edits of class `C`, as review names it; no files with a mark"},
		&cli.StringSliceFlag{Name: "file", Usage: "only edits of file `PATH`"},
		&cli.StringSliceFlag{Name: "hunk", Usage: "only the changed lines at `FILE:LINE`"},
	}
}

// spreads reports whether a verdict is on edits and not on whole patches.
func spreads(c *cli.Context) bool {
	return len(c.StringSlice("class"))+len(c.StringSlice("file"))+len(c.StringSlice("hunk")) > 0
}

// spreadAction applies a verdict to the edits of classes or files.
func spreadAction(c *cli.Context, p *cmdline.Place, s *selection.Selection, v task.Verdict) error {
	name := c.Command.Name
	if len(c.StringSlice("hunk")) > 0 && len(c.StringSlice("class"))+len(c.StringSlice("file")) > 0 {
		return exit.Usagef("%s: --hunk excludes --class and --file", name)
	}
	if err := s.NonePicked(name); err != nil {
		return err
	}
	r, err := ReviewOfRun(c.Context, p, s)
	if err != nil {
		return err
	}
	req := requestOf(c, s, v)
	for i, file := range req.Files {
		req.Files[i] = r.FilePath(p.Repo.Prefix, file)
	}
	for _, name := range c.StringSlice("class") {
		class, err := findClass(r, s, c.Command.Name, name)
		if err != nil {
			return err
		}
		req.Classes = append(req.Classes, class)
	}
	for _, text := range c.StringSlice("hunk") {
		at, err := verdict.ParseAt(text)
		if err != nil {
			return exit.Usagef("%s: --hunk: %v", name, err)
		}
		at.Path = r.FilePath(p.Repo.Prefix, at.Path)
		hunk, err := r.FindHunk(at, req.Only)
		if err != nil {
			return exit.Usagef("%s: %v", name, err)
		}
		req.Hunks = append(req.Hunks, hunk...)
	}
	spread := r.Spread(req)
	if spread.Covered == 0 && len(spread.Patches) == 0 {
		return nothingCovered(name, s, spread, req.Files)
	}
	if err := recordVerdicts(p, c, s, engine.ReviewRequest{Marks: spread.Patches, Edits: spread.Edits}); err != nil {
		return err
	}
	if c.Bool("json") {
		return printReview(p, c, s, spread.Patches)
	}
	if err := printSpread(p, s, v, spread); err != nil {
		return err
	}
	return sayParts(p, s, v, spread)
}

// sayParts says how the accepted edits of a patch are merged without the others.
func sayParts(p *cmdline.Place, s *selection.Selection, v task.Verdict, spread *verdict.Spread) error {
	if v != task.Accepted || len(spread.Partly) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(p.Env.Stdout, "to merge only the accepted edits of a patch: %s accept %s/%s --part\n", p.Env.Calls, s.Run.ID, spread.Partly[0])
	return err
}

// nothingCovered says why a verdict covers no edit.
func nothingCovered(verb string, s *selection.Selection, spread *verdict.Spread, files []string) error {
	reasons := leftOut(spread)
	switch {
	case len(reasons) == 0 && len(files) > 0:
		return exit.Usagef("%s: run %s has no such edit of the agents that are named in %s", verb, s.Run.ID, termtext.Line(termtext.List(files, 5)))
	case len(reasons) == 0:
		return exit.Usagef("%s: run %s has no such edit of the agents that are named", verb, s.Run.ID)
	}
	text := fmt.Sprintf("%s: no edit is left: %s", verb, strings.Join(reasons, "; "))
	if len(spread.LeftOut[verdict.Marked]) == 0 {
		return &exit.UsageError{Text: text}
	}
	first := spread.LeftOut[verdict.Marked][0]
	return &exit.UsageError{Text: text, Advice: fmt.Sprintf("read each of them, and name its agent and file: %s %s %s --file %s",
		cmdline.Program, verb, first.Patch, termtext.Line(first.Path))}
}

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
		all = append(all, fmt.Sprintf("%s %s (%s)", termtext.Count(len(edits), "edit", "edits"), why, termtext.List(agents, 8)))
	}
	return all
}

// printSpread tells the effect of a verdict on edits.
func printSpread(p *cmdline.Place, s *selection.Selection, v task.Verdict, spread *verdict.Spread) error {
	w := p.Env.Stdout
	if spread.Covered > 0 {
		fmt.Fprintf(w, "%s: %s %s, in %s\n", s.Run.ID, termtext.Count(spread.Covered, "edit", "edits"), v, termtext.Count(len(spread.Edits), "patch", "patches"))
	}
	var whole []string
	for _, m := range spread.Patches {
		whole = append(whole, string(m.Agent))
	}
	if len(whole) > 0 {
		fmt.Fprintf(w, "%s %s: %s\n", termtext.Count(len(whole), "patch is", "patches are"), v, termtext.List(whole, 12))
	}
	if open := len(spread.Partly); open > 0 {
		fmt.Fprintf(w, "%s other edits that are not accepted\n", termtext.Count(open, "patch has", "patches have"))
	}
	for _, text := range leftOut(spread) {
		fmt.Fprintf(w, "left out: %s\n", text)
	}
	after, err := s.Run.View()
	if err != nil {
		return err
	}
	for _, m := range spread.Patches {
		if m.Verdict == task.Accepted {
			view.SayMarked(p, after.Agent(m.Agent))
		}
	}
	return nil
}

// wholeEdits are verdicts on all edits of the patches that are marked, and the
// patches that could not be read.
func wholeEdits(ctx context.Context, p *cmdline.Place, s *selection.Selection, marks []event.Reviewed) ([]event.EditsReviewed, []verdict.Unread, error) {
	return verdict.WholeEdits(ctx, marks, func(ctx context.Context, id task.ID) ([]review.File, error) {
		a := s.View.Agent(id)
		return session.Patches(p).Files(ctx, a, a.Patch())
	})
}

// printUnread names patches whose edits have no verdict.
func printUnread(p *cmdline.Place, unread []verdict.Unread) {
	for _, u := range unread {
		fmt.Fprintf(p.Env.Stderr, "%s: the verdict on %s does not hold for the same edits of later attempts: %s\n",
			cmdline.Program, u.ID, termtext.Line(u.Err.Error()))
	}
}
