package engine

import (
	"path/filepath"
	"strings"

	"agentswarm/swarm/stage"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
)

// briefFile is the name of the file that holds a brief too long for a prompt.
const briefFile = "swarm-brief.md"

// briefOf returns the part of a call's task that is too long for the prompt;
// nil: none. A shared workspace gets no file, because other agents would see
// it.
func briefOf(call *task.Call) []byte {
	if call.Stage == nil || call.Stage.Brief == "" || call.Shared {
		return nil
	}
	return []byte(call.Stage.Brief + "\n")
}

// putBrief puts the file into the workspace, and says so in the prompt.
func (t *attempt) putBrief() error {
	text := briefOf(t.call)
	if text == nil {
		return nil
	}
	name, err := t.space.PutAside(briefFile, text)
	if err != nil {
		return err
	}
	t.prompt = strings.TrimRight(t.prompt, "\n") + stage.Whole(name) + "\n"
	return t.engine.deps.Run.WriteFile(filepath.Join(t.dir, "prompt"), []byte(t.prompt))
}

// takeBrief removes the file again before the work is captured.
func takeBrief(call *task.Call, w worktree.Workspace) error {
	if text := briefOf(call); text != nil {
		return w.TakeAside(briefFile, text)
	}
	return nil
}
