package policy

import (
	"path/filepath"
	"slices"

	"agentswarm/internal/fspath"
	"agentswarm/risk"
	"agentswarm/risk/repository"
	"agentswarm/swarm/box"
	"agentswarm/swarm/engine"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

// placeOf returns the place of a workspace. A workspace with a git dir of its own
// shares nothing. If the agent has changed its configuration, no remote is plain:
// the target of a push is not known.
func (j *Judge) placeOf(law *runLaw, r engine.JudgeRequest) *risk.Place {
	w, place := r.Workspace, *law.Place
	place.Root = w.Path()
	place.Facts = &workspaceFacts{
		Facts: law.Place.Facts, judge: j, workspace: w, base: git.Hash(r.Base), from: law.Place.Root,
	}
	if scratch := j.scratch(r); j.apart(r) && !j.Open {
		// HOME is a folder of the agent's own, elsewhere, and so is TMPDIR where
		// nothing can be mounted.
		place.Home = box.HomeOf(scratch)
		place.Tmp = append(slices.Clone(place.Tmp), place.Home, box.TmpOf(scratch))
	}
	place.Remotes = slices.Clone(place.Remotes)
	if j.misled(law, r) {
		for i := range place.Remotes {
			place.Remotes[i].Plain = false
		}
	}
	if w.Private() {
		place.GitDir = filepath.Join(place.Root, ".git")
		place.CommonDir, place.Shared, place.Others = place.GitDir, false, nil
		return &place
	}
	place.GitDir, place.Shared = w.Admin, true
	place.Others = append(slices.Clone(place.Others), law.Place.Root, filepath.Dir(w.Dir))
	place.Branch, place.Upstream = "", "" // its HEAD is on none
	return &place
}

// scratch is where the HOME of an agent lies if it is a folder at a path of its own.
func (j *Judge) scratch(r engine.JudgeRequest) string {
	return j.Run.Scratch(engine.BoxOf(j.Run.Attempt(r.Agent, r.Attempt)))
}

// apart reports whether it is. A single attempt may have such a HOME in a run whose others
// have none.
func (j *Judge) apart(r engine.JudgeRequest) bool {
	return j.View == box.Apart || fspath.Exists(box.HomeOf(j.scratch(r)))
}

// workspaceFacts are the facts of a workspace. Its files do not lie in the user's
// checkout.
type workspaceFacts struct {
	risk.Facts
	judge     *Judge
	workspace worktree.Workspace
	base      git.Hash
	from      string // the top of the user's checkout
}

// Published reports whether a commit is on a branch of a remote. A commit of the
// agent is not.
func (f *workspaceFacts) Published(rev string) (published, known bool) {
	if rev != "HEAD" {
		return f.Facts.Published(rev)
	}
	head, err := f.judge.Trees.Head(f.judge.ctx, f.workspace)
	if err != nil || head == "" {
		return false, false
	}
	published, known = f.Facts.Published(string(head))
	if !known && head != f.base && f.workspace.Private() {
		return false, true // the repository does not know it
	}
	return published, known
}

// Path returns the kind of file at a path of the workspace.
func (f *workspaceFacts) Path(path string) risk.PathKind {
	rel, ok := fspath.Below(f.workspace.Path(), path)
	if !ok || rel == "" || !f.workspace.Private() {
		return f.Facts.Path(path)
	}
	file, there := f.workspace.Find(rel)
	switch {
	case there:
		return repository.PathKind(file)
	case file != "" || !fspath.Exists(f.workspace.Dir):
		return risk.PathUnknown
	}
	return risk.PathMissing
}

// Link returns the target of a symbolic link of the workspace.
func (f *workspaceFacts) Link(path string) string {
	rel, ok := fspath.Below(f.workspace.Path(), path)
	if !ok || rel == "" || !f.workspace.Private() {
		return f.Facts.Link(path)
	}
	if file, there := f.workspace.Find(rel); there {
		return repository.LinkTarget(file, path)
	}
	return ""
}

// Tracked reports whether git has files at a path.
func (f *workspaceFacts) Tracked(path string) bool {
	if rel, ok := fspath.Below(f.workspace.Path(), path); ok {
		path = filepath.Join(f.from, rel)
	}
	return f.Facts.Tracked(path)
}

// Locked returns the version that the lock file next to a folder has.
func (f *workspaceFacts) Locked(manager, folder, name string) (version string, known bool) {
	if rel, ok := fspath.Below(f.workspace.Path(), folder); ok {
		folder = filepath.Join(f.from, rel)
	}
	return f.Facts.Locked(manager, folder, name)
}
