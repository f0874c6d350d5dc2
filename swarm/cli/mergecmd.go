package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/merge"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

func newMergeCommand(env Env) *cli.Command {
	return &cli.Command{
		Name:      "merge",
		Aliases:   []string{"land"},
		Usage:     "merge the patches of a run onto a branch",
		ArgsUsage: "[RUN | AGENT… | -]",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "into", Usage: "land on `BRANCH` (default: the current branch); made at the run's base if missing"},
			&cli.StringFlag{Name: "verify", Usage: "land patches that pass `CMD`, run by sh -c on the result"},
			&cli.BoolFlag{Name: "dry-run", Aliases: []string{"n"}, Usage: "print what would land and what conflicts; move nothing"},
			&cli.StringFlag{Name: "message", Aliases: []string{"m"}, Usage: "message `TEXT` of the commit; for several patches only with --squash"},
			&cli.BoolFlag{Name: "squash", Usage: "make one commit of all patches"},
			&cli.StringSliceFlag{Name: "trailer", Usage: "add the line `KEY:VALUE` to the end of each commit message; may be given again"},
			&cli.StringFlag{Name: "author", Usage: "make `WHO` the author: user (default), with the agent as co-author, or agent"},
			&cli.StringSliceFlag{Name: "drop", Usage: "merge the last patches again without that of `AGENT`; may be given again"},
			&cli.BoolFlag{Name: "resolve", Usage: "open a workspace with the conflict of one agent, and land your result"},
			&cli.BoolFlag{Name: "continue", Usage: "land a resolution"},
			&cli.BoolFlag{Name: "abort", Usage: "give up a resolution; your edits are kept"},
			jsonFlag(),
		}, queueFlags(), endedFlags()),
		Description: `Takes the patches of agents that completed, changed something and did not
fail their check, and that passed their review where the run has reviews; others
only by name. They are merged in the order of the plan, in memory, each as one
commit. One that conflicts is left out, told with its files, and does not stop
the others.

You are the author of the commits, and a Co-authored-by line names the agent and
its model. The subject is the label or the first line of the prompt, or what the
model of the role commit says; see -m, --squash and --trailer.

With --verify the patches that pass the check together land. A patch is refused
after two failed runs on a tree that passed without it, and a third on all that
landed. It is named with the outputs; see swarm show. If the branch itself fails,
no patch is blamed. A check may take three times as long as on the branch itself,
and at least a minute. --screen names a quick check that sorts the patches. It
refuses none.

The branch moves last and only if it is still where it was. Where it is checked
out the files follow, if they are clean; else nothing moves. With --as-they-pass it
moves each time that patches have passed together. swarm undo takes all back.

--drop takes the last merge back, if the branch is where it left it, and merges its
other patches with the same check. Trees that passed are not checked again. The
patch is no longer landed: reject it, or a later merge takes it.

--resolve opens a workspace at the tip of the branch with the patch of one agent
in it. Conflicts are between markers that show both sides and their base. On a
terminal you get a shell there, and leaving it lands the result. Else edit the
files and run --continue. A file that still holds a marker is refused. The
workspace stays until --continue or --abort, also after a crash.

Examples:
  swarm merge
  swarm merge k3x9q2 --into landed --verify 'go test ./...'
  swarm merge k3x9q2/a3 k3x9q2/a7
  swarm merge -n
  swarm merge --squash -m 'Rename Get to Lookup' --trailer 'Refs: #12'
  swarm merge --drop a7
  swarm merge --resolve a7
  swarm merge --continue`,
		Action: func(c *cli.Context) error { return mergeAction(c, env) },
	}
}

func mergeAction(c *cli.Context, env Env) error {
	switch mode, err := resolveMode(c); {
	case err != nil:
		return err
	case c.IsSet("into") && c.String("into") == "":
		return usagef("merge: --into is empty: give the name of a branch, or leave it out")
	case c.IsSet("verify") && strings.TrimSpace(c.String("verify")) == "":
		return usagef("merge: --verify is empty: give a command, or leave it out")
	case mode != "":
		return resolveAction(c, env, mode)
	}
	options, err := queueOf(c)
	switch {
	case err != nil:
		return err
	case len(c.StringSlice("drop")) > 0 && c.Bool("dry-run"):
		return usagef("merge: --drop moves the branch, and --dry-run does not")
	case len(c.StringSlice("drop")) > 0:
		return dropAction(c, env, options)
	}
	p, s, err := openSelection(c, env, 0, -1)
	if err != nil {
		return err
	}
	if err := p.refuseRejected(c.Context, "merge", s, s.named); err != nil {
		return err
	}
	if err := p.narrow(c.Context, s, c.String("into")); err != nil {
		return err
	}
	if err := s.nonePicked("merge"); err != nil {
		return err
	}
	r := mergeRequest{into: c.String("into"), verify: c.String("verify"), queue: options, dry: c.Bool("dry-run")}
	r.works = s.named
	if r.style, err = styleFlags(c); err != nil {
		return err
	}
	owner, err := p.own(c.Context, s.run)
	if err != nil {
		return err
	}
	report, err := p.mergeOwned(c, s, r, owner)
	err = errors.Join(err, owner.Close())
	if nothing, ok := errors.AsType[*NothingError](err); ok && nothing.Done && (report == nil || report.stopped == nil) {
		ref, err := p.targetRef(c.Context, r.into)
		if err != nil {
			return err
		}
		return &noWorkError{text: nothing.Error(), object: mergeObject{
			Schema: "swarm.merge/1", Run: s.run.ID, Ref: ref, Merged: []mergedObject{}, Conflicts: []conflictObject{}, DryRun: r.dry,
		}}
	}
	if err != nil && (report == nil || report.stopped == nil) {
		return err
	}
	return errors.Join(err, p.tellMerge(c, env, report))
}

// tellMerge prints the outcome of a merge, also of one that an error stopped after it had
// moved the branch. The error has its exit code, except for such a merge.
func (p *place) tellMerge(c *cli.Context, env Env, report *mergeReport) (err error) {
	if c.Bool("json") {
		err = printJSON(env.Stdout, newMergeObject(report))
	} else {
		p.printMerge(env.Stdout, report)
	}
	if report.stopped != nil {
		return err
	}
	if code := First(report.codes...); err == nil && code != CodeOK {
		return &ExitError{Code: code}
	}
	return err
}

func (p *place) mergeOwned(c *cli.Context, s *selection, r mergeRequest, owner *store.Owner) (*mergeReport, error) {
	b, err := p.bench(c.Context, s.run, owner)
	if err != nil {
		return nil, err
	}
	if r.queue, err = p.screened(c, r.queue); err != nil {
		return nil, err
	}
	return b.merge(c.Context, r)
}

// mergeObject is swarm.merge/1, described in docs/json.md.
type mergeObject struct {
	Schema    string           `json:"schema"`
	Run       string           `json:"run"`
	Ref       string           `json:"ref"`
	Old       string           `json:"old,omitempty"`
	Commit    string           `json:"commit,omitempty"`
	Moved     bool             `json:"moved"`
	Merged    []mergedObject   `json:"merged"` // on the branch only if it moved
	Conflicts []conflictObject `json:"conflicts"`
	Empty     []string         `json:"empty,omitempty"`
	Skipped   []task.ID        `json:"skipped,omitempty"`
	Lost      []lostObject     `json:"lost,omitempty"`
	Unlinked  []unlinkedObject `json:"missing_submodule_commits,omitempty"`

	Unfiltered []unfilteredObject `json:"failed_filters,omitempty"`
	Verified   *bool              `json:"verified,omitempty"`
	Output     string             `json:"verify_output_file,omitempty"`
	DryRun     bool               `json:"dry_run,omitempty"`
	Blocked    string             `json:"blocked,omitempty"`
	Stopped    string             `json:"error,omitempty"` // ended the merge after it had moved the branch
	queuedObject
}

// lostObject is a patch whose commit is gone from the repository.
type lostObject struct {
	Agent task.ID `json:"agent"`
	File  string  `json:"file"` // holds the patch
}

type mergedObject struct {
	Agent  string `json:"agent"`
	Commit string `json:"commit"`
	// Marked are the first few files that it changes and a person has to look
	// at.
	Marked []string `json:"marked,omitempty"`
}

func newMergeObject(r *mergeReport) mergeObject {
	o := mergeObject{
		Schema: "swarm.merge/1", Run: r.run, Ref: r.ref, Old: string(r.old),
		Moved: r.didMove(), Merged: []mergedObject{}, Conflicts: newConflictObjects(conflicts(r.outcome.Conflicts)),
		Empty: r.outcome.Empty, Verified: r.verified, Output: r.output, DryRun: r.dry,
		queuedObject: newQueuedObject(r),
	}
	if r.blocked != nil {
		o.Blocked = r.blocked.Error()
	}
	if r.stopped != nil {
		o.Stopped = r.stopped.Error()
	}
	if len(r.outcome.Landed) > 0 {
		o.Commit = string(r.new)
	}
	for _, l := range r.outcome.Landed {
		merged := mergedObject{Agent: l.ID, Commit: string(l.Commit)}
		if p := patchOf(r.view.Agent(task.ID(l.ID))); p != nil {
			merged.Marked = p.Marked
		}
		o.Merged = append(o.Merged, merged)
	}
	for _, a := range r.skipped {
		o.Skipped = append(o.Skipped, a.ID)
	}
	o.Unlinked, o.Unfiltered = r.unlinkedObjects(), r.unfilteredObjects()
	for _, a := range r.lost {
		o.Lost = append(o.Lost, lostObject{Agent: a.ID, File: patchOf(a).File})
	}
	return o
}

// didMove reports whether the branch is at the merged commit now.
func (r *mergeReport) didMove() bool {
	return len(r.outcome.Landed) > 0 && !r.dry && (r.verified == nil || *r.verified)
}

// printMerge tells what a merge did.
func (p *place) printMerge(w io.Writer, r *mergeReport) {
	out, branch := r.outcome, Printable(branchName(r.ref))
	verb := "landed"
	if r.dry {
		verb = "would land"
	}
	switch n := len(out.Landed); {
	case r.branchFails() && n == 0:
		fmt.Fprintf(w, "nothing landed on %s: the branch itself fails the check; output: %s\n", branch, Printable(r.output))
	case n == 0:
		fmt.Fprintf(w, "nothing landed on %s\n", branch)
	case r.verified != nil && !*r.verified:
		fmt.Fprintf(w, "nothing landed on %s: the merged result is not verified; output: %s\n", branch, Printable(r.output))
	default:
		at := ""
		if !r.dry {
			at = " " + r.new.Short()
		}
		fmt.Fprintf(w, "%s %s on %s%s\n", verb, Count(n, "patch", "patches"), branch, at)
		if found := r.unfounded(); len(found) > 0 {
			fmt.Fprintf(w, "without what they were built on: %s\n", Printable(listed(found, 5)))
		}
	}
	if r.branchFails() && len(out.Landed) > 0 {
		fmt.Fprintf(w, "then the branch itself failed the check; output: %s\n", Printable(r.output))
	}
	for _, l := range out.Landed {
		if text := markedText(r.view.Agent(task.ID(l.ID))); text != "" {
			fmt.Fprintf(w, "%s: %s\n", l.ID, Printable(text))
		}
	}
	for _, dir := range r.moved {
		fmt.Fprintf(w, "updated the checkout %s\n", Printable(dir))
	}
	if len(out.Empty) > 0 {
		fmt.Fprintf(w, "already there: %s\n", strings.Join(out.Empty, ", "))
	}
	r.printBlocked(w)
	r.printLost(w)
	r.printUnlinked(w)
	r.printUnfiltered(w)
	r.printModules(w)
	if len(r.skipped) > 0 {
		fmt.Fprintf(w, "only by name: %s\n", Printable(labels(r.skipped)))
	}
	for _, c := range out.Conflicts {
		r.printConflict(w, c)
	}
	r.printRefused(w)
	r.printLeft(w)
	r.printUndo(w)
}

// printConflict tells which patch was left out, which one landed before it,
// the files and lines where they meet, and the commits of both.
func (r *mergeReport) printConflict(w io.Writer, c merge.Conflict) {
	name := r.nameOf
	ref := func(id string) string {
		if a := r.view.Agent(task.ID(id)); a != nil && patchOf(a) != nil {
			return git10(patchOf(a).Commit)
		}
		return ""
	}
	with, refs := "the branch itself", []string{ref(c.ID)}
	if len(c.With) > 0 {
		var names []string
		for _, id := range c.With {
			names, refs = append(names, name(id)), append(refs, ref(id))
		}
		with = strings.Join(names, ", ")
	}
	fmt.Fprintf(w, "conflict: %s with %s\n", Printable(name(c.ID)), Printable(with))
	for _, path := range c.Paths {
		if !slices.ContainsFunc(c.Hunks, func(h merge.Hunk) bool { return h.Path == path }) {
			fmt.Fprintf(w, "  %s\n", Printable(path))
		}
	}
	for _, h := range c.Hunks {
		fmt.Fprintf(w, "  %s: %s\n", Printable(h.Path), sides(h))
	}
	if c.Text != "" && len(c.Hunks) == 0 {
		for line := range strings.SplitSeq(c.Text, "\n") {
			fmt.Fprintf(w, "  %s\n", Printable(line))
		}
	}
	fmt.Fprintf(w, "  kept: %s\n", strings.Join(refs, ", "))
	if a := r.view.Agent(task.ID(c.ID)); a != nil && !r.dry {
		at := conflictAt{run: r.run, agent: a, ref: r.ref, modules: len(c.Modules) > 0}
		fmt.Fprintf(w, "  resolve: %s\n", Printable(strings.Join(at.ways(r.calls), orWay)))
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
