package view

import (
	"fmt"
	"strings"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/landing/queue"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// MergeObject is swarm.merge/1, described in docs/json.md.
type MergeObject struct {
	Schema    string           `json:"schema"`
	Run       string           `json:"run"`
	Ref       string           `json:"ref"`
	Old       string           `json:"old,omitempty"`
	Commit    string           `json:"commit,omitempty"`
	Committer string           `json:"committer,omitempty"`
	Moved     bool             `json:"moved"`
	Merged    []MergedObject   `json:"merged"` // on the branch only if it moved
	Conflicts []ConflictObject `json:"conflicts"`
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
	Returned   []returnedObject   `json:"returned,omitempty"`
	Attested   *attestedObject    `json:"attested,omitempty"`
	queuedObject
}

// attestedObject is the note about a merge.
type attestedObject struct {
	Ref     string     `json:"ref"`
	Commit  git.Hash   `json:"commit"`
	Commits []git.Hash `json:"commits"`
	Signed  bool       `json:"signed"`
}

// returnedObject is a patch that a merge handed back.
type returnedObject struct {
	Agent   task.ID   `json:"agent"`
	To      string    `json:"to"`
	Attempt int       `json:"attempt"`
	Kind    string    `json:"kind"`
	With    []task.ID `json:"with,omitempty"`
	Landed  bool      `json:"landed"`
}

// lostObject is a patch whose commit is gone from the repository.
type lostObject struct {
	Agent task.ID `json:"agent"`
	File  string  `json:"file"` // holds the patch
}

type MergedObject struct {
	Agent  string `json:"agent"`
	Commit string `json:"commit"`
	// Marked are the first few files that it changes and a person has to look
	// at.
	Marked []string `json:"marked,omitempty"`
}

func NewMergeObject(r *lander.Report) MergeObject {
	o := MergeObject{
		Schema: "swarm.merge/1", Run: r.Run, Ref: r.Ref, Old: string(r.Old),
		Moved: r.Moved(), Merged: []MergedObject{}, Conflicts: newConflictObjects(lander.Conflicts(r.Outcome.Conflicts)),
		Empty: r.Outcome.Empty, Verified: r.Verified, Output: r.Output, DryRun: r.DryRun,
		queuedObject: newQueuedObject(r),
	}
	if r.Blocked != nil {
		o.Blocked = r.Blocked.Error()
	}
	if r.Stopped != nil {
		o.Stopped = r.Stopped.Error()
	}
	if len(r.Outcome.Landed) > 0 {
		o.Commit, o.Committer = string(r.New), r.Committer.String()
	}
	for _, l := range r.Outcome.Landed {
		merged := MergedObject{Agent: l.ID, Commit: string(l.Commit)}
		if p := r.View.Agent(task.ID(l.ID)).Patch(); p != nil {
			merged.Marked = p.Marked
		}
		o.Merged = append(o.Merged, merged)
	}
	if a := r.Attested; a != nil {
		o.Attested = &attestedObject{a.Ref, a.Commit, a.Commits, a.Signed}
	}
	for _, back := range r.Returned {
		o.Returned = append(o.Returned, returnedObject{back.Agent, back.To, back.Attempt, back.Kind, back.With, back.Landed})
	}
	for _, a := range r.Skipped {
		o.Skipped = append(o.Skipped, a.ID)
	}
	o.Unlinked, o.Unfiltered = unlinkedObjects(r), unfilteredObjects(r)
	for _, a := range r.Lost {
		o.Lost = append(o.Lost, lostObject{Agent: a.ID, File: a.Patch().File})
	}
	return o
}

// unlinkedObject is a patch that was left out because of a submodule.
type unlinkedObject struct {
	Agent     task.ID `json:"agent"`
	Submodule string  `json:"submodule"`
	Commit    string  `json:"commit"`
}

func unlinkedObjects(r *lander.Report) (all []unlinkedObject) {
	for _, u := range r.Unlinked {
		for _, m := range u.Missing {
			all = append(all, unlinkedObject{Agent: u.Agent.ID, Submodule: m.Path, Commit: string(m.Commit)})
		}
	}
	return all
}

// unfilteredObject is such a patch in JSON.
type unfilteredObject struct {
	Agent  task.ID `json:"agent"`
	Filter string  `json:"filter"`
	Path   string  `json:"path"`
}

func unfilteredObjects(r *lander.Report) (all []unfilteredObject) {
	for _, u := range r.Unfiltered {
		all = append(all, unfilteredObject{Agent: u.Agent, Filter: u.Failed.Filter, Path: u.Failed.Path})
	}
	return all
}

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

// RefusedObject is a patch that a merge refused.
type RefusedObject struct {
	Agent   task.ID   `json:"agent,omitempty"`
	Copy    string    `json:"copy,omitempty"`
	Kind    string    `json:"kind"`
	Ref     string    `json:"ref"`
	Command string    `json:"command"`
	On      []task.ID `json:"on,omitempty"`
	Needs   []task.ID `json:"needs,omitempty"`

	Lines   []event.TakenBack `json:"lines,omitempty"`
	More    int               `json:"more_lines,omitempty"`
	Tree    string            `json:"tree,omitempty"`
	Outputs []string          `json:"output_files,omitempty"`
}

func NewRefusedObject(ref string, r event.Refusal) RefusedObject {
	return RefusedObject{
		Agent: r.Agent, Copy: r.Copy, Kind: r.Kind, Ref: ref, Command: r.Command, On: r.On, Needs: r.Needs,
		Tree: r.Tree, Outputs: r.Outputs, Lines: r.Lines, More: r.More,
	}
}

// queuedObject holds the fields that a landing queue adds to swarm.merge/1.
type queuedObject struct {
	Verifications []verificationObject `json:"verifications,omitempty"`
	Rounds        int                  `json:"rounds,omitempty"`
	Refused       []RefusedObject      `json:"refused,omitempty"`
	Flaky         []verificationObject `json:"flaky,omitempty"`
	BranchFails   bool                 `json:"branch_fails,omitempty"`
	ScreenFails   bool                 `json:"screen_fails,omitempty"`
}

func newQueuedObject(r *lander.Report) queuedObject {
	var o queuedObject
	for _, refused := range r.Refusals() {
		o.Refused = append(o.Refused, NewRefusedObject(r.Ref, refused))
	}
	if r.Queue == nil {
		return o
	}
	o.Rounds, o.BranchFails, o.ScreenFails = r.Queue.Rounds, branchFails(r), r.Queue.ScreenFails
	for _, v := range r.Queue.Verifications {
		o.Verifications = append(o.Verifications, newVerificationObject(v))
	}
	for _, v := range r.Queue.Flaky {
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

// RefusedBlock returns the evidence of a refusal for show: the command and the end of each
// output.
func RefusedBlock(r *RefusedObject) string {
	if r == nil || r.Kind == string(queue.Dependency) || r.Kind == event.RefusedStale {
		return ""
	}
	var b strings.Builder
	if r.Kind == event.RefusedUndoes {
		for _, l := range r.Lines {
			b.WriteString(landing.TakenBackText(l) + "\n")
		}
		if r.More > 0 {
			fmt.Fprintf(&b, "and %d more\n", r.More)
		}
		return b.String()
	}
	fmt.Fprintf(&b, "command: %s\ntree: %s\n", r.Command, r.Tree)
	for _, file := range r.Outputs {
		fmt.Fprintf(&b, "%s:\n%s%s", file, ReadTail(file), ReadTail(strings.TrimSuffix(file, ".out")+".err"))
	}
	return b.String()
}
