package engine

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"agentswarm/worktree"
)

// Walls makes what supervisors make the walls from, around whatever runs in a
// workspace.
type Walls func(WallsRequest) (json.RawMessage, error)

// WallsRequest says what is inside of the walls.
type WallsRequest struct {
	Workspace worktree.Workspace
	Read      []string // more folders that are seen
	Write     []string // and those that may be written to
	// Private is a folder for what is written to outside of the workspace. The
	// caller removes it with all that is in it.
	Private string
}

// walls are those around what runs in the workspace of the attempt. Its
// setup, its agent and its check follow on each other behind the same ones.
func (t *attempt) walls() (json.RawMessage, error) {
	if t.engine.deps.Walls == nil {
		return nil, nil
	}
	return t.engine.deps.Walls(WallsRequest{
		Workspace: *t.space, Read: []string{t.dir},
		Write: []string{filepath.Join(t.dir, "artifacts")}, Private: t.box(),
	})
}

// box is where the attempt's view of HOME and its /tmp keep what is written.
func (t *attempt) box() string { return BoxOf(t.dir) }

// BoxOf is the folder of an attempt that its walls keep things in: of no use
// to anybody once nothing of the attempt runs.
func BoxOf(attempt string) string { return filepath.Join(attempt, "box") }

// clearBox removes that folder.
func (t *attempt) clearBox() {
	if t.dir == "" {
		return
	}
	if err := worktree.RemoveAll(t.box()); err != nil {
		t.engine.deps.Warn(fmt.Sprintf("%s: what it left outside of its workspace stays until gc: %v", t.id, err))
	}
}

// backend is how the attempt's own workspace is made.
func (t *attempt) backend() worktree.Backend { return t.engine.deps.Backend }
