package lander

import (
	"time"

	"agentswarm/swarm/landing"
	"agentswarm/worktree/git"
)

// Progress is a fact about a merge that goes on: [*Verified], [*Overdue], [*PartLanded],
// [*BranchMoved], [*MergedAgain], [*NotOnBranch] or [*GivenBack].
//
//sumtype:decl
type Progress interface{ progress() }

// Verified is a verification that has ended.
type Verified struct {
	landing.Verification
	Ref string   // of the branch
	IDs []string // of the patches, with the names of copies
}

// Overdue is a check that has not ended, and whose time on the branch itself is not known.
type Overdue struct {
	landing.Candidate
	Ref   string
	IDs   []string // as in Verified
	Began time.Time
}

// PartLanded says that the branch has moved to patches that passed together.
type PartLanded struct {
	Ref     string
	Commit  git.Hash
	Patches int
}

// BranchMoved says that another process moved the branch during the checks. The merge
// begins again on the new tip.
type BranchMoved struct{ Ref string }

// MergedAgain names patches that are merged again, since their landing is no longer on the
// branch.
type MergedAgain struct {
	Ref string
	IDs []string
}

// NotOnBranch says that the commit of a landing is not on the branch, and how its patches
// are merged again.
type NotOnBranch struct{ Text string }

// GivenBack says that a patch goes back to its author, or to a neutral agent.
type GivenBack struct {
	Name string // of the patch
	To   string // as in event.HandedBack
	Why  string // such as "text with a7"
}

func (*GivenBack) progress()   {}
func (*Verified) progress()    {}
func (*Overdue) progress()     {}
func (*PartLanded) progress()  {}
func (*BranchMoved) progress() {}
func (*MergedAgain) progress() {}
func (*NotOnBranch) progress() {}
