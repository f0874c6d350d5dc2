package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"agentswarm/merge"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/landing/queue"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
	checkouts "agentswarm/worktree/git/checkout"
)

// progress tells of a verification, as soon as it has ended.
func (m *queuedMerge) progress(v landing.Verification) {
	how := Duration(v.Elapsed)
	if v.Reused {
		how = "reused from an earlier check"
	}
	again := ""
	if v.Run > 1 {
		again = ", again"
	}
	fmt.Fprintf(m.env.Stderr, "%s: %s%s: %s (%s)\n", program, m.checkText(v.Candidate), again, v.Result(), how)
}

// slow tells of a check that has not ended yet, and whose time on the branch itself is
// not known.
func (m *queuedMerge) slow(c landing.Candidate, began time.Time) {
	then := ""
	if len(c.Set) > 0 {
		then = "; the time on " + branchName(m.report.ref) + " itself is needed"
	}
	fmt.Fprintf(m.env.Stderr, "%s: %s: running since %s%s\n", program, m.checkText(c), began.Format(time.TimeOnly), Printable(then))
}

// checkText names the check of a candidate.
func (m *queuedMerge) checkText(c landing.Candidate) string {
	kind := "check"
	if c.Screen {
		kind = "screen"
	}
	return kind + " of " + Printable(m.report.setText(c.Set))
}

// setText names the patches of a set.
func (r *mergeReport) setText(set []string) string {
	if len(set) == 0 {
		return branchName(r.ref) + " itself"
	}
	return Count(len(set), "patch", "patches") + " on " + branchName(r.ref) + ": " + listed(r.idsOf(set), 5)
}

// nameOf names an agent with its title. One of which a copy is merged has the name
// of the copy.
func (r *mergeReport) nameOf(id string) string {
	if a := r.view.Agent(task.ID(id)); a != nil {
		return labels([]*store.Agent{a})
	}
	return id
}

// idsOf are the ids of patches, with the names of copies.
func (r *mergeReport) idsOf(set []string) []string {
	out := slices.Clone(set)
	for i, id := range set {
		if a := r.view.Agent(task.ID(id)); a != nil && a.Copy > 0 {
			out[i] = copyName(a.ID, a.Copy)
		}
	}
	return out
}

// printRefused tells which patches the check refused, and which failures were
// flakes.
func (r *mergeReport) printRefused(w io.Writer) {
	for _, refused := range r.queued.refusals() {
		fmt.Fprintf(w, "refused: %s: %s\n", Printable(r.nameOf(string(refused.Agent))), Printable(landing.RefusalText(r.ref, refused)))
		for _, file := range refused.Outputs {
			fmt.Fprintf(w, "  output: %s\n", Printable(file))
		}
	}
	if r.queued == nil {
		return
	}
	if r.queued.screenFails {
		fmt.Fprintf(w, "the screen fails on %s itself, and was not used\n", Printable(branchName(r.ref)))
	}
	for _, v := range r.queued.flaky {
		fmt.Fprintf(w, "flaky: the check failed, and passed at another time, with %s; output: %s\n",
			Printable(r.setText(v.Set)), Printable(v.Output))
	}
}

// branchFails reports whether the branch itself failed the check.
func (r *mergeReport) branchFails() bool { return r.queued != nil && r.queued.branchFails }

// verificationObject is a run of the check of a merge.
type verificationObject struct {
	Agents  []string `json:"agents"` // whose patches the tree holds; none: the branch itself
	Tree    string   `json:"tree"`
	Passed  bool     `json:"passed"`
	Run     int      `json:"run"`
	Screen  bool     `json:"screen,omitempty"`
	Hung    bool     `json:"hung,omitempty"`
	Reused  bool     `json:"reused,omitempty"`
	Output  string   `json:"output_file"`
	Elapsed int64    `json:"elapsed_ms"`
}

// refusedObject is a patch that the check of a merge refused.
type refusedObject struct {
	Agent   task.ID   `json:"agent,omitempty"`
	Copy    string    `json:"copy,omitempty"`
	Kind    string    `json:"kind"`
	Ref     string    `json:"ref"`
	Command string    `json:"command"`
	On      []task.ID `json:"on,omitempty"`
	Needs   []task.ID `json:"needs,omitempty"`
	Tree    string    `json:"tree,omitempty"`
	Outputs []string  `json:"output_files,omitempty"`
}

func newRefusedObject(ref string, r event.Refusal) refusedObject {
	return refusedObject{
		Agent: r.Agent, Copy: r.Copy, Kind: r.Kind, Ref: ref, Command: r.Command, On: r.On, Needs: r.Needs,
		Tree: r.Tree, Outputs: r.Outputs,
	}
}

// queuedObject holds the fields that a landing queue adds to swarm.merge/1.
type queuedObject struct {
	Verifications []verificationObject `json:"verifications,omitempty"`
	Rounds        int                  `json:"rounds,omitempty"`
	Refused       []refusedObject      `json:"refused,omitempty"`
	Flaky         []verificationObject `json:"flaky,omitempty"`
	BranchFails   bool                 `json:"branch_fails,omitempty"`
	ScreenFails   bool                 `json:"screen_fails,omitempty"`
}

func newQueuedObject(r *mergeReport) queuedObject {
	if r.queued == nil {
		return queuedObject{}
	}
	o := queuedObject{Rounds: r.queued.rounds, BranchFails: r.branchFails(), ScreenFails: r.queued.screenFails}
	for _, v := range r.queued.verifications {
		o.Verifications = append(o.Verifications, newVerificationObject(v))
	}
	for _, refused := range r.queued.refused {
		o.Refused = append(o.Refused, newRefusedObject(r.ref, refused))
	}
	for _, v := range r.queued.flaky {
		o.Flaky = append(o.Flaky, newVerificationObject(v))
	}
	return o
}

func newVerificationObject(v landing.Verification) verificationObject {
	set := v.Set
	if set == nil {
		set = []string{}
	}
	return verificationObject{
		Agents: set, Tree: string(v.Tree), Passed: v.Passed, Run: v.Run, Reused: v.Reused, Screen: v.Screen, Hung: v.Hung,
		Output: v.Output, Elapsed: v.Elapsed.Round(time.Millisecond).Milliseconds(),
	}
}

// refusedBlock is the evidence of a refusal, for show: the command and the end of
// each output.
func refusedBlock(r *refusedObject) string {
	if r == nil || r.Kind == string(queue.Dependency) {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "command: %s\ntree: %s\n", r.Command, r.Tree)
	for _, file := range r.Outputs {
		fmt.Fprintf(&b, "%s:\n%s%s", file, readTail(file), readTail(strings.TrimSuffix(file, ".out")+".err"))
	}
	return b.String()
}

// refusedMove gives the errors of a branch or a tree that is not as it has
// to be the code of a refusal.
func refusedMove(err error) error {
	var dirty *git.DirtyError
	var moved *merge.MovedError
	var busy *merge.BusyError
	var held *merge.HeldError
	var refs *git.RefMovedError
	var clash *git.RefClashError
	var locked *checkouts.LockedError
	var module *merge.ModuleError
	var line *merge.ModuleBranchError
	var open *checkouts.OpenError
	if errors.As(err, &open) {
		return err
	}
	if errors.As(err, &dirty) || errors.As(err, &moved) || errors.As(err, &busy) || errors.As(err, &held) ||
		errors.As(err, &refs) || errors.As(err, &clash) || errors.As(err, &locked) || errors.As(err, &module) || errors.As(err, &line) {
		return refused(err)
	}
	return err
}
