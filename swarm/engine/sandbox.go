package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
)

// Sandbox builds the sandbox for the programs of a workspace.
type Sandbox func(SandboxRequest) (Enclosure, error)

// Enclosure describes a sandbox.
type Enclosure struct {
	Sandbox json.RawMessage // the description from which the supervisor makes the sandbox
	Ask     string          // where the ask socket is inside; empty: where it is outside
	State   string          // where the agent's state folder is inside; the same
	Tmp     string          // the folder for temporary files inside; empty: the caller's
	Shims   string          // a folder that comes first in PATH; empty: none
	// Written is the folder outside that keeps only the step's writes to its
	// HOME; empty: there is none.
	Written string
	// Guards is the folder before that in PATH, with the guarded programs;
	// empty: none.
	Guards string
	// Env are variables as KEY=VALUE that replace the caller's, such as HOME
	// for an agent with its own HOME at another path.
	Env []string
	// Outside returns a text of a process in the sandbox for people outside of it:
	// no path leads to something else there. nil: paths are the same.
	Outside func(text string) string
	Notes   []string // for people, about the attempt
	// Ended is called once the command of a setup has ended; nil: it is not called.
	Ended func()
}

// Step is the part of an attempt that a sandbox is for.
type Step int

// The steps. Setup and checks are commands of the user. The writes of an agent
// outside of its workspace must not reach a check.
const (
	AgentStep Step = iota
	SetupStep
	CheckStep
)

// String is the word for the step in journals and in names of files.
func (s Step) String() string {
	switch s {
	case SetupStep:
		return "setup"
	case CheckStep:
		return "verify"
	default:
		return "agent"
	}
}

// SandboxRequest describes the content of a sandbox.
type SandboxRequest struct {
	Step      Step
	Workspace worktree.Workspace
	// Sealed is a workspace that can be read only.
	Sealed   bool
	Read     []string // more folders that are seen
	Write    []string // folders that may be written to, too
	Programs []string // programs that run there, at any path
	// Ask is the socket that hooks of the agent ask on; empty: none.
	Ask string
	// State is the folder that the agent keeps its own state in; empty: none.
	State string
	// Private is a folder for the writes outside of the workspace. All steps of an
	// attempt have the same folder. The caller removes it with its content.
	Private string
}

// sandbox makes the sandbox of the attempt's setup or check.
func (t *attempt) sandbox(step Step) (Enclosure, error) { return t.enclose(step, false) }

// enclose makes the sandbox of a step. Sealed is for an agent that only reads:
// it cannot change the workspace, even where its tools allow that.
func (t *attempt) enclose(step Step, sealed bool) (Enclosure, error) {
	if t.engine.deps.Sandbox == nil {
		return Enclosure{}, nil
	}
	r := SandboxRequest{
		Step: step, Workspace: *t.space, Sealed: sealed, Read: []string{t.dir},
		Write:    []string{filepath.Join(t.dir, "artifacts")},
		Programs: slices.Concat(first(t.call.Command), first(t.spec.Command)),
		Ask:      t.askAddress, Private: t.box(),
	}
	if step != CheckStep { // An agent writes to the folders of its kind.
		r.Write = append(r.Write, t.spec.Write...)
	}
	if step == AgentStep && t.kind() != nil {
		r.State = t.state()
	}
	around, err := t.engine.deps.Sandbox(r)
	for _, note := range around.Notes { // of each step
		if !slices.Contains(t.notes, note) {
			t.notes = append(t.notes, note)
		}
	}
	return around, err
}

// first returns the program of a command, if there is any.
func first(argv []string) []string { return argv[:min(len(argv), 1)] }

// box is the folder for the attempt's writes to its HOME and its /tmp.
func (t *attempt) box() string { return BoxOf(t.dir) }

// BoxOf is the folder of an attempt that its sandbox keeps things in: of no use
// to anybody once nothing of the attempt runs.
func BoxOf(attempt string) string { return filepath.Join(attempt, boxName) }

const boxName = "box"

// WarmOf is the folder of a run that its sandboxes kept things in while its caches
// were filled. While the run is driven all its sandboxes are based on that.
func WarmOf(run *store.Run) string { return filepath.Join(run.Dir, warmName) }

const warmName = "warm"

// CachesOf is the folder of a run that the caches belong to which its agents
// share where each has a HOME of its own.
func CachesOf(run *store.Run) string { return filepath.Join(run.Dir, cachesName) }

const cachesName = "caches"

// Boxes returns the folders in which sandboxes have kept files, as a dead
// process left them. It includes those of visits and of checks of merged work.
func Boxes(run *store.Run) (left []string) {
	inside := os.DirFS(run.Dir)
	for _, pattern := range []string{"a/*/*/" + boxName, "a/*/*/visit-*", "landings/*/box-*", "verifications/*/box-*", warmName, cachesName} {
		names, _ := fs.Glob(inside, pattern) // it fails on malformed patterns only
		for _, name := range names {
			left = append(left, filepath.Join(run.Dir, name))
		}
	}
	return left
}

// RemoveBox removes a folder in which a sandbox of a run kept things, and the
// HOME and TMPDIR that belong to it.
func RemoveBox(run *store.Run, private string) error {
	// In a single step: a state folder that is found is complete, and so is the
	// conversation in it.
	if err := os.Rename(filepath.Join(private, stateName), filepath.Join(private, "removed")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// The box goes last: as long as it is there, Boxes finds it. That of a
	// visit is below the visit's own folder.
	for _, dir := range []string{private, filepath.Join(private, boxName)} {
		if err := worktree.RemoveAll(run.Scratch(dir)); err != nil {
			return err
		}
	}
	return worktree.RemoveAll(private)
}

// clearBoxes removes those folders once no process of the run is alive: their
// files belong to no work.
func clearBoxes(d Deps) {
	for _, dir := range Boxes(d.Run) {
		if err := RemoveBox(d.Run, dir); err != nil {
			d.Warn(fmt.Sprintf("files outside of workspaces stay until gc: %v", err))
		}
	}
}

// clearBox removes that folder.
func (t *attempt) clearBox() {
	if t.dir == "" {
		return
	}
	if err := RemoveBox(t.engine.deps.Run, t.box()); err != nil {
		t.engine.deps.Warn(fmt.Sprintf("%s: its files outside of the workspace stay until gc: %v", t.id, err))
	}
}

// backend is the backend of the attempt's own workspace. A whole checkout has
// its own git dir, as other workspaces have. The agent's output causes the
// switch to it, so the switch must not give access to the git dir of the user.
func (t *attempt) backend() worktree.Backend {
	if t.whole {
		return worktree.Copied
	}
	return t.engine.deps.Backend
}

// stumbled reports whether an attempt seems to have failed because folders of
// the base cannot be renamed in its workspace, as in an overlay whose folders
// lie on two layers (EXDEV). In a whole checkout they can.
func (t *attempt) stumbled(r task.Result) bool {
	failed, ok := r.(*task.Failed)
	if !ok || failed.Kind != task.Other || t.space == nil || t.space.Backend != worktree.Overlay {
		return false
	}
	for _, file := range []string{t.file("stderr"), t.file("stdout")} {
		end := lastBytes(file, stumbleTail)
		if bytes.Contains(end, []byte("Invalid cross-device link")) || bytes.Contains(end, []byte("EXDEV")) {
			return true
		}
	}
	return false
}

// stumbleTail bounds the end of the output that is searched, in bytes.
const stumbleTail = 64 << 10

// lastBytes are the end of a file; nothing where it cannot be read.
func lastBytes(path string, limit int64) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil
	}
	text := make([]byte, min(size, limit))
	n, _ := f.ReadAt(text, size-int64(len(text)))
	return text[:n]
}

// elsewhere tries an agent again that stumbled, in a whole checkout, once. It
// reports whether it did.
func (e *Engine) elsewhere(life context.Context, a *agentState, end ending) bool {
	failed, ok := end.result.(*task.Failed)
	if !ok || !end.stumbled || a.whole || e.ending || a.byName {
		return false
	}
	err := e.append(&event.Retried{
		Agent: a.id, Attempt: a.attempt, Error: failed.Kind, Usage: &failed.Usage, Model: failed.Model,
		Reason: failed.Reason + "; in an overlay only mv and git mv can rename folders of the base, so it is tried again in a whole checkout",
	})
	if err != nil {
		return false
	}
	a.whole, a.spent, a.left = true, failed.Usage, failed.Work
	a.left.SessionAttempt = 0 // it begins anew, in another kind of workspace
	e.later(life, a, 0)
	return true
}

// door is the socket for visitors of the attempt's sandbox. It first removes a
// socket that a dead owner's supervisor left.
func (t *attempt) door() string {
	door := t.engine.deps.Run.Door(t.id, t.n)
	_ = os.Remove(door) // if it cannot be removed, the next maker reports it
	return door
}

// place describes the agent's surroundings for its environment.
func (t *attempt) place(around Enclosure) agent.Place {
	place := agent.Place{
		Run: t.engine.deps.Run.ID, Agent: t.id, Attempt: t.n, Item: t.call.Item,
		Worktree: t.space.Path(), Root: t.engine.deps.Root, Base: string(t.start),
		Artifacts: filepath.Join(t.dir, "artifacts"), Workspace: string(cmp.Or(t.space.Backend, worktree.Linked)),
		Tmp: around.Tmp, Shims: around.Shims, Guards: around.Guards, Ask: cmp.Or(around.Ask, t.askAddress),
		Env: around.Env, Pass: t.engine.deps.PassEnv,
	}
	if t.askAddress != "" {
		place.Contract = filepath.Join(t.dir, contractFile)
	}
	if len(t.call.Schema) > 0 {
		place.Schema = filepath.Join(t.dir, schemaFile)
	}
	return place
}
