package workflow

import (
	"context"

	"agentswarm/swarm/manifest"
	"agentswarm/swarm/script"
	"agentswarm/swarm/script/repository"
	"agentswarm/swarm/task"
)

// Tools carry out the requests of a script beside agents. A [*script.Error]
// goes to the script; any other error is swarm's own and ends the run.
type Tools interface {
	Reader
	Patcher
	Worker
}

// Reader answers from the base of the run. The same question has the same
// answer for as long as the run is kept.
type Reader interface {
	Files(ctx context.Context, glob string) ([]string, error)
	Read(ctx context.Context, path string) (string, error)
	Grep(ctx context.Context, r *script.Repo) ([]repository.Match, error)
	Log(ctx context.Context, r *script.Repo) ([]repository.Commit, error)
}

// Patcher knows patches and trees. Patches are named by their commits, and are
// those of agents of the run.
type Patcher interface {
	// Text is a patch as git prints it.
	Text(ctx context.Context, p *task.Patch) (string, error)
	// Paths are all paths that a patch changes, sorted.
	Paths(ctx context.Context, p *task.Patch) ([]string, error)
	// Evidence returns the known facts of the work of an ended agent.
	Evidence(ctx context.Context, r EvidenceRequest) (*Evidence, error)
	// Merge merges patches onto a commit in memory and pins the result. The
	// Tree of the answer is a commit. The same patches give the same answer.
	Merge(ctx context.Context, r MergeRequest) (*script.Merged, error)
	// Resolve is the commit and the tree that a script names as a base: a
	// commit of the repository.
	Resolve(ctx context.Context, name string) (commit, tree string, err error)
}

// MergeRequest lists the patches to merge, in their order.
type MergeRequest struct {
	Onto    string // a commit
	Patches []Patch
}

// Patch is the patch of an agent.
type Patch struct {
	Agent task.ID
	*task.Patch
}

// EvidenceRequest is work that a reviewer is to be told of.
type EvidenceRequest struct {
	Result task.Result // required
	Base   string      // the commit that it started from; required
	// Since is the base of the changes, a commit; empty: the base of the agent.
	Since string
}

// Evidence is the input of a reviewer, and its text.
type Evidence struct {
	Text     string `json:"text"`
	Verified *bool  `json:"verified,omitempty"`
	*manifest.Manifest
}

// Worker does work that takes time or moves something. Many goroutines call its
// methods at once.
type Worker interface {
	// Check runs a configured check on a commit, in a workspace of its own.
	Check(ctx context.Context, r CheckRequest) (*script.CheckResult, error)
	// Land moves a branch to the merge of patches. If an earlier owner of the
	// run began a landing with the same key, it returns the result of that
	// landing, and does nothing more.
	Land(ctx context.Context, r LandRequest) (*script.Landing, error)
}

// CheckRequest is a check that a script asks for.
type CheckRequest struct {
	Key string // tells it apart from others of the run
	*script.Check
	Commit string // the commit that it runs on
}

// LandRequest is a landing that a script asks for.
type LandRequest struct {
	Key string // of the request, unique in the run
	*script.Land
	Patches []Patch
}
