package event

import "agentswarm/swarm/task"

// Verified is a verdict: the check of a landing ran on a tree and ended.
type Verified struct {
	Ref string `json:"ref"` // the branch
	// Tip is the commit of the branch, which the check sees too. Empty in records of
	// older versions.
	Tip     string `json:"tip,omitempty"`
	Tree    string `json:"tree"`    // hash of the tree
	Command string `json:"command"` // text of the check
	// Agents are the agents whose patches the tree holds beside the branch. Empty:
	// it is the tree of the branch itself.
	Agents []task.ID `json:"agents,omitempty"`
	Passed bool      `json:"passed"`
	// Screen is set on a verdict of the quick check, which decides about no patch.
	Screen bool `json:"screen,omitempty"`
	// Ahead is set on a verdict that was made while agents worked, ahead of the merge.
	Ahead bool `json:"ahead,omitempty"`
	// Hung is set if the run was ended by the time limit, or killed as for want of memory.
	Hung   bool   `json:"hung,omitempty"`
	Code   int    `json:"code"`       // exit code of the check
	Output string `json:"output"`     // file with its stdout
	MS     int64  `json:"elapsed_ms"` // how long it ran
	// CPUMS is the processor time of all its processes, in milliseconds, and MaxRSS the
	// memory of the largest, in bytes. 0: not known.
	CPUMS  int64 `json:"cpu_ms,omitempty"`
	MaxRSS int64 `json:"max_rss,omitempty"`
}

// The kinds of refusals that need no verdict of a check.
const (
	// RefusedStale is a patch whose changes the branch has already.
	RefusedStale = "stale"
	// RefusedUndoes is a patch that takes lines back that landed after its work began.
	RefusedUndoes = "undoes"
)

// Refusal is a patch that a landing left out for another reason than a conflict.
type Refusal struct {
	Agent task.ID `json:"agent"`
	// Copy names the copy of the workspace whose patch it was, such as a3-1. Empty:
	// the patch is the agent's own.
	Copy    string `json:"copy,omitempty"`
	Kind    string `json:"kind"`    // failed, interaction, dependency, stale or undoes
	Command string `json:"command"` // text of the check; empty: the merge has none
	// Needs are the refused agents whose patches this patch builds on and does not
	// merge without. It is set for the kind dependency, which has no tree.
	Needs []task.ID `json:"needs,omitempty"`
	// On are the agents whose patches passed without this patch. Empty: the branch
	// itself passed. For stale and undoes they are those who made the same changes, and
	// whose lines the patch takes back.
	On      []task.ID `json:"on,omitempty"`
	Tree    string    `json:"tree,omitempty"`    // hash of the tree that failed
	Outputs []string  `json:"outputs,omitempty"` // files with the stdout of the failed runs
	// Lines are the first lines that the patch takes back, and More counts the others. They
	// are set for the kind undoes.
	Lines []TakenBack `json:"lines,omitempty"`
	More  int         `json:"more_lines,omitempty"`
}

// TakenBack is a landed line that a patch takes back. Of a file that is no text it has the
// path only.
type TakenBack struct {
	Path string `json:"path"`
	// Line counts from 1 in the file as it landed, or before the landing if Back is set.
	Line int    `json:"line,omitempty"`
	Text string `json:"text,omitempty"` // cut
	// Back is set for a line that a landed patch had removed and that is there again.
	Back bool `json:"back,omitempty"`
}

// Refused ends a landing: it records the patches that the check refused. A
// landing that moves the branch once records them with its intention, and has
// no such record.
type Refused struct {
	Ref     string    `json:"ref"`
	Tip     string    `json:"tip"` // where the branch was
	Refused []Refusal `json:"refused,omitempty"`
	// BranchFails is set if the branch itself failed the check. No patch is to
	// blame then.
	BranchFails bool `json:"branch_fails,omitempty"`
}

func (*Verified) kind() string { return "verified" }
func (*Refused) kind() string  { return "refused" }
