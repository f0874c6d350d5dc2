package reviewer

import (
	"context"
	"strings"

	"agentswarm/swarm/engine"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/manifest"
	"agentswarm/swarm/patch"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// EvidenceRequest names the work that a reviewer is shown.
type EvidenceRequest struct {
	Config   engine.Config
	Result   task.Result     // required
	From, To git.Hash        // the change between them is shown; equal: none
	Store    *git.Quarantine // with both commits; required
	Repo     *git.Repo       // required
	Modules  []task.ModulePatch
}

// Evidence returns the facts about a work: its changed files, and the results of its
// setup and check. It runs no command. The error is that of git.
func Evidence(ctx context.Context, r EvidenceRequest) (*manifest.Manifest, error) {
	m := &manifest.Manifest{Files: []manifest.File{}, Steps: []manifest.Step{}}
	if r.From != r.To {
		files, err := changedFiles(ctx, r.Store, r.From, r.To)
		if err != nil {
			return nil, err
		}
		m.Files = files
	}
	for _, module := range r.Modules {
		changes, err := patch.Reader{Repo: r.Repo}.ModuleChanges(ctx, module)
		if err != nil {
			return nil, err
		}
		outline := make([]git.Outline, len(changes))
		for i, c := range changes {
			outline[i].Change = c
		}
		m.Files = append(m.Files, validFiles(outline)...)
	}
	work := r.Result.Done()
	if r.Config.Setup != "" {
		// An agent begins only after a setup that succeeded.
		m.Steps = append(m.Steps, manifest.Step{Name: "setup", Command: r.Config.Setup, OK: true})
	}
	if done, ok := r.Result.(*task.Completed); ok && done.Verified != nil {
		m.Steps = append(m.Steps, manifest.Step{
			Name: "verify", Command: r.Config.Verify, OK: *done.Verified, Code: work.CheckCode,
			Tail: manifest.Tail(landing.CheckOutput(work.Check)),
		})
	}
	return m, nil
}

// changedFiles returns the files that differ between two commits.
func changedFiles(ctx context.Context, store *git.Quarantine, from, to git.Hash) ([]manifest.File, error) {
	changes, err := store.Outline(ctx, from, to)
	if err != nil {
		return nil, err
	}
	return validFiles(changes), nil
}

// validFiles returns changed files with paths in UTF-8, as JSON needs them.
func validFiles(changes []git.Outline) []manifest.File {
	files := manifest.Files(changes)
	for i := range files {
		files[i].Path = strings.ToValidUTF8(files[i].Path, "\uFFFD")
	}
	return files
}
