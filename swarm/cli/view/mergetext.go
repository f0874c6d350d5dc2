package view

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"agentswarm/internal/termtext"
	"agentswarm/merge"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// PrintMerge prints the outcome of a merge.
func PrintMerge(p *cmdline.Place, w io.Writer, r *lander.Report) {
	out, branch := r.Outcome, termtext.Line(lander.BranchName(r.Ref))
	verb := "landed"
	if r.DryRun {
		verb = "would land"
	}
	switch n := len(out.Landed); {
	case branchFails(r) && n == 0:
		fmt.Fprintf(w, "nothing landed on %s: the branch itself fails the check; output: %s\n", branch, termtext.Line(r.Output))
	case n == 0:
		fmt.Fprintf(w, "nothing landed on %s\n", branch)
	case r.Verified != nil && !*r.Verified:
		fmt.Fprintf(w, "nothing landed on %s: the merged result is not verified; output: %s\n", branch, termtext.Line(r.Output))
	default:
		at := ""
		if !r.DryRun {
			at = " " + r.New.Short()
		}
		fmt.Fprintf(w, "%s %s on %s%s\n", verb, termtext.Count(n, "patch", "patches"), branch, at)
		if found := r.Unfounded(); len(found) > 0 {
			fmt.Fprintf(w, "without their dependencies: %s\n", termtext.Line(termtext.List(found, 5)))
		}
	}
	if branchFails(r) && len(out.Landed) > 0 {
		fmt.Fprintf(w, "then the branch itself failed the check; output: %s\n", termtext.Line(r.Output))
	}
	for _, l := range out.Landed {
		if text := markedText(r.View.Agent(task.ID(l.ID))); text != "" {
			fmt.Fprintf(w, "%s: %s\n", l.ID, termtext.Line(text))
		}
	}
	if len(out.Landed) > 0 && r.Committer == git.Swarm(time.Time{}) {
		fmt.Fprintf(w, "committed as %s: git has no user.name and user.email of yours here; set both with `git config`\n", r.Committer)
	}
	for _, dir := range r.Checkouts {
		fmt.Fprintf(w, "updated the checkout %s\n", termtext.Line(dir))
	}
	if len(out.Empty) > 0 {
		fmt.Fprintf(w, "already there: %s\n", strings.Join(out.Empty, ", "))
	}
	printBlocked(w, r)
	printLost(w, r)
	printUnlinked(w, r)
	printUnfiltered(w, r)
	printModules(w, r)
	if len(r.Skipped) > 0 {
		fmt.Fprintf(w, "only by name: %s\n", termtext.Line(lander.Names(r.Skipped)))
	}
	for _, c := range out.Conflicts {
		printConflict(p, w, r, c)
	}
	printRefused(p, w, r)
	printHandedBack(w, r)
	if r.Attested != nil {
		fmt.Fprintln(w, session.AttestedText(r.Attested))
	}
	printLeft(w, r)
	printUndo(p, w, r)
}

// printConflict names the patch that was left out, the patch that landed before
// it, the files and lines where they meet, and the commits of both.
func printConflict(p *cmdline.Place, w io.Writer, r *lander.Report, c merge.Conflict) {
	name := r.Name
	commit := func(id string) string {
		if a := r.View.Agent(task.ID(id)); a != nil && a.Patch() != nil {
			return Git10(a.Patch().Commit)
		}
		return ""
	}
	with, commits := "the branch itself", []string{commit(c.ID)}
	if len(c.With) > 0 {
		var names []string
		for _, id := range c.With {
			names, commits = append(names, name(id)), append(commits, commit(id))
		}
		with = strings.Join(names, ", ")
	}
	fmt.Fprintf(w, "conflict: %s with %s\n", termtext.Line(name(c.ID)), termtext.Line(with))
	for _, path := range c.Paths {
		if !slices.ContainsFunc(c.Hunks, func(h merge.Hunk) bool { return h.Path == path }) {
			fmt.Fprintf(w, "  %s\n", termtext.Line(path))
		}
	}
	for _, h := range c.Hunks {
		fmt.Fprintf(w, "  %s: %s\n", termtext.Line(h.Path), sides(h))
	}
	if c.Text != "" && len(c.Hunks) == 0 {
		for line := range strings.SplitSeq(c.Text, "\n") {
			fmt.Fprintf(w, "  %s\n", termtext.Line(line))
		}
	}
	fmt.Fprintf(w, "  kept: %s\n", strings.Join(commits, ", "))
	if a := r.View.Agent(task.ID(c.ID)); a != nil && !r.DryRun {
		at := ConflictAt{Run: r.Run, Agent: a, Ref: r.Ref, Modules: len(c.Modules) > 0}
		fmt.Fprintf(w, "  resolve: %s\n", termtext.Line(strings.Join(at.Ways(p.Env.Calls), OrWay)))
	}
}

// sides names the lines where a conflict is, in the branch and in the patch.
func sides(h merge.Hunk) string {
	ours, theirs := span(h.OursStart, h.OursLines), span(h.TheirsStart, h.TheirsLines)
	word := "line "
	if h.OursLines > 1 {
		word = "lines "
	}
	if ours == theirs {
		return word + ours + " on both sides"
	}
	return word + ours + " of the branch, " + theirs + " of the patch"
}

// span is a range of lines: "4", "4-6", or "4 (none)" for a place.
func span(start, lines int) string {
	switch lines {
	case 0:
		return fmt.Sprintf("%d (none)", start)
	case 1:
		return fmt.Sprint(start)
	default:
		return fmt.Sprintf("%d-%d", start, start+lines-1)
	}
}

// printBlocked prints the reason that would stop a merge.
func printBlocked(w io.Writer, r *lander.Report) {
	if r.Blocked == nil {
		return
	}
	fmt.Fprintf(w, "blocked: %s\n", termtext.Line(r.Blocked.Error()))
	if hint := exit.HintOf(r.Blocked); hint != "" {
		fmt.Fprintf(w, "  %s\n", termtext.Line(hint))
	}
}

// printLost names patches whose commits are gone.
func printLost(w io.Writer, r *lander.Report) {
	for _, a := range r.Lost {
		fmt.Fprintf(w, "left out: the commit of %s (%s) is gone from the repository; its patch is still there: git apply --index %s\n",
			a.ID, termtext.Line(engine.Title(a.ID, a.Call)), termtext.Line(a.Patch().File))
	}
}

// printUnlinked names the patches that lack commits of submodules, a line for each commit.
func printUnlinked(w io.Writer, r *lander.Report) {
	for _, u := range r.Unlinked {
		for _, m := range u.Missing {
			fmt.Fprintf(w, "left out: %s: %s\n", termtext.Line(lander.Names([]*store.Agent{u.Agent})), termtext.Line(m.String()))
		}
	}
}

// printModules says where the commits of submodules that landed are kept: a push
// of the parent alone would publish a commit that refers to them.
func printModules(w io.Writer, r *lander.Report) {
	if !r.Moved() {
		return
	}
	for _, l := range r.Outcome.Landed {
		p := r.View.Agent(task.ID(l.ID)).Patch()
		if p == nil {
			continue
		}
		for _, m := range p.Modules {
			fmt.Fprintf(w, "submodule %s: commit %s of %s/%s; push it before %s\n",
				termtext.Line(m.Path), Git10(m.Commit), l.ID, termtext.Line(m.Path), termtext.Line(lander.BranchName(r.Ref)))
		}
	}
}

func printUnfiltered(w io.Writer, r *lander.Report) {
	for _, u := range r.Unfiltered {
		fmt.Fprintf(w, "left out: %s: %s\n", termtext.Line(lander.Names([]*store.Agent{r.View.Agent(u.Agent)})), u.Failed)
	}
}

// printRefused names the patches that were refused, and which failures were flakes.
func printRefused(p *cmdline.Place, w io.Writer, r *lander.Report) {
	for _, refused := range r.Refusals() {
		if refused.Kind == event.RefusedStale {
			continue // "already there" names it
		}
		fmt.Fprintf(w, "refused: %s: %s\n", termtext.Line(r.Name(string(refused.Agent))), termtext.Line(landing.RefusalText(r.Ref, refused)))
		for _, file := range refused.Outputs {
			fmt.Fprintf(w, "  output: %s\n", termtext.Line(file))
		}
		for _, l := range refused.Lines {
			fmt.Fprintf(w, "  %s\n", termtext.Line(landing.TakenBackText(l)))
		}
		printWays(p, w, r, refused)
	}
	if r.Queue == nil {
		return
	}
	if r.Queue.ScreenFails {
		fmt.Fprintf(w, "the screen fails on %s itself, and was not used\n", termtext.Line(lander.BranchName(r.Ref)))
	}
	for _, v := range r.Queue.Flaky {
		fmt.Fprintf(w, "flaky: the check failed, and passed at another time, with %s; output: %s\n",
			termtext.Line(session.SetText(r.Ref, r.IDs(v.Set))), termtext.Line(v.Output))
	}
}

// printWays names the commands for a refused patch that is the person's now: a
// patch that takes landed lines back, or was handed back.
func printWays(p *cmdline.Place, w io.Writer, r *lander.Report, refused event.Refusal) {
	a := r.View.Agent(refused.Agent)
	if a == nil || r.DryRun {
		return
	}
	at := ConflictAt{Run: r.Run, Agent: a, Ref: r.Ref}
	switch {
	case refused.Kind == event.RefusedUndoes:
		fmt.Fprintf(w, "  resolve: %s\n", termtext.Line(strings.Join(at.undoingWays(p.Env.Calls), OrWay)))
	case slices.ContainsFunc(r.Returned, func(b lander.Returned) bool { return b.Agent == refused.Agent }):
		fmt.Fprintf(w, "  resolve: %s\n", termtext.Line(strings.Join(at.Ways(p.Env.Calls), OrWay)))
	}
}

// printHandedBack names the patches that were handed back, and which of them landed.
func printHandedBack(w io.Writer, r *lander.Report) {
	for _, back := range r.Returned {
		to, outcome := "its author", "left out"
		if back.To == event.ToNeutral {
			to = "a neutral agent"
		}
		if back.Landed {
			outcome = "landed"
		}
		fmt.Fprintf(w, "handed back: %s to %s: %s\n", termtext.Line(r.Name(string(back.Agent))), to, outcome)
	}
}

// branchFails reports whether the branch itself failed the check.
func branchFails(r *lander.Report) bool { return r.Queue != nil && r.Queue.BranchFails }

// printLeft names patches that are no longer on the branch, and the error that stopped the
// merge.
func printLeft(w io.Writer, r *lander.Report) {
	if len(r.Left) > 0 {
		fmt.Fprintf(w, "landed, and no longer on %s: %s\n", termtext.Line(lander.BranchName(r.Ref)), termtext.List(r.IDs(r.Left), 5))
	}
	if r.Stopped != nil {
		fmt.Fprintf(w, "the merge stopped before its end: %s\n", termtext.Line(r.Stopped.Error()))
	}
}

// printUndo says how the merge is taken back, and how much of it an undo takes back.
func printUndo(p *cmdline.Place, w io.Writer, r *lander.Report) {
	undoes, landed := len(r.Undoes), len(r.Outcome.Landed)
	switch {
	case !r.Moved():
	case !r.Queue.HasMoved() && !r.Several || undoes == landed:
		fmt.Fprintf(w, "take it back with: %s undo %s\n", p.Env.Calls, r.Run)
	case undoes == 0:
		fmt.Fprintf(w, "no undo takes it back: %s has moved since\n", termtext.Line(lander.BranchName(r.Ref)))
	default:
		fmt.Fprintf(w, "take %s back (%s) with: %s undo %s\n",
			termtext.Count(undoes, "patch", "patches"), termtext.List(r.IDs(r.Undoes), 5), p.Env.Calls, r.Run)
	}
}
