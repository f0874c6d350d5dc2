package cli

import (
	"context"
	"strings"

	"agentswarm/internal/statefile"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/manifest"
	"agentswarm/swarm/task"
	"agentswarm/swarm/workflow"
	"agentswarm/worktree/git"
)

// evidenceRequest is work that a reviewer is to be told of.
type evidenceRequest struct {
	config   engine.Config
	result   task.Result     // required
	from, to git.Hash        // what differs; the same: nothing does
	store    *git.Quarantine // required
	place    *place          // required
	modules  []task.ModulePatch
}

// evidence is what the harness knows of a work: which files changed, and how
// setup and check went. Nothing is run for it.
func evidence(ctx context.Context, r evidenceRequest) (*manifest.Manifest, error) {
	m := &manifest.Manifest{Files: []manifest.File{}, Steps: []manifest.Step{}}
	if r.from != r.to {
		files, err := changedFiles(ctx, r.store, r.from, r.to)
		if err != nil {
			return nil, err
		}
		m.Files = files
	}
	for _, module := range r.modules {
		files, err := r.place.moduleFiles(ctx, module)
		if err != nil {
			return nil, err
		}
		m.Files = append(m.Files, files...)
	}
	work := r.result.Done()
	if r.config.Setup != "" {
		// No agent begins after one that fails.
		m.Steps = append(m.Steps, manifest.Step{Name: "setup", Command: r.config.Setup, OK: true})
	}
	if done, ok := r.result.(*task.Completed); ok && done.Verified != nil {
		m.Steps = append(m.Steps, manifest.Step{
			Name: "verify", Command: r.config.Verify, OK: *done.Verified, Code: work.CheckCode,
			Tail: manifest.Tail(checkOutput(work.Check)),
		})
	}
	return m, nil
}

// changedFiles are the files that differ between two commits.
func changedFiles(ctx context.Context, store *git.Quarantine, from, to git.Hash) ([]manifest.File, error) {
	changes, err := store.Outline(ctx, from, to)
	if err != nil {
		return nil, err
	}
	return readableFiles(changes), nil
}

// moduleFiles are the files that differ in a submodule.
func (p *place) moduleFiles(ctx context.Context, m task.ModulePatch) ([]manifest.File, error) {
	changes, err := p.moduleChanges(ctx, m)
	outline := make([]git.Outline, len(changes))
	for i, c := range changes {
		outline[i].Change = c
	}
	return readableFiles(outline), err
}

func readableFiles(changes []git.Outline) []manifest.File {
	files := manifest.Files(changes)
	for i := range files {
		files[i].Path = readable(files[i].Path)
	}
	return files
}

// checkOutput is the end of what a check printed, what it complained of last.
func checkOutput(file string) string {
	return outputEnd(file) + outputEnd(strings.TrimSuffix(file, ".out")+".err")
}

// outputEnd is the end of a file, and nothing of one that is gone.
func outputEnd(path string) string {
	text, _, err := statefile.Tail(path, 4*manifest.MaxTail)
	if err != nil {
		return ""
	}
	return string(text)
}

// Evidence is what is known of the work of an agent that has ended.
func (t *scriptTools) Evidence(ctx context.Context, r workflow.EvidenceRequest) (*workflow.Evidence, error) {
	request := evidenceRequest{config: t.config, result: r.Result, from: git.Hash(r.Base), to: git.Hash(r.Base), store: t.store, place: &t.bench.place}
	patch := r.Result.Done().Patch
	if patch != nil {
		request.from, request.to, request.modules = git.Hash(patch.Base), git.Hash(patch.Commit), patch.Modules
	}
	if r.Since != "" {
		request.from, request.modules = git.Hash(r.Since), nil
	}
	m, err := evidence(ctx, request)
	if err != nil {
		if patch != nil {
			if lost := t.lost(ctx, patch); lost != nil {
				return nil, lost
			}
		}
		return nil, err
	}
	out := &workflow.Evidence{Text: m.Text(), Manifest: m}
	if done, ok := r.Result.(*task.Completed); ok {
		out.Verified = done.Verified
	}
	return out, nil
}
