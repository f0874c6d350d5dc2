package patch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/internal/termtext"
	"agentswarm/risk"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/refusal"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// CopyName is the address of a copy within its run.
func CopyName(agent task.ID, n int) string {
	return (&store.Copy{Agent: agent, N: n}).Name()
}

// Address is the address of an agent with the work that its view shows: its
// own, or that of a copy.
func Address(run string, a *store.Agent) string {
	if a.Copy > 0 {
		return run + "/" + CopyName(a.ID, a.Copy)
	}
	return run + "/" + string(a.ID)
}

// AtCopy is an agent with the patch of copy n of its workspace.
func (r Reader) AtCopy(ctx context.Context, run *store.Run, a *store.Agent, n int) (*store.Agent, error) {
	patch, err := r.copyPatch(ctx, run, a.ID, n)
	if err != nil {
		return nil, err
	}
	then := a.AtCopy(n, patch)
	then.Partial, err = isPart(CopyFolder(run, &store.Copy{Agent: a.ID, N: n}))
	return then, err
}

// copyPatch is the patch that a person left in a copy of a workspace.
func (r Reader) copyPatch(ctx context.Context, run *store.Run, agent task.ID, n int) (*task.Patch, error) {
	name := CopyName(agent, n)
	kept, err := r.Repo.RefsUnder(ctx, captureref.Copies(run.ID))
	if err != nil {
		return nil, err
	}
	ref := captureref.Copies(run.ID) + name
	commit := kept[ref]
	if commit == "" {
		var names []string
		for other := range kept {
			if other = strings.TrimPrefix(other, captureref.Copies(run.ID)); strings.HasPrefix(other, string(agent)+"-") && !strings.Contains(other, ".") {
				names = append(names, other)
			}
		}
		if len(names) == 0 {
			return nil, refusal.New("no copy %s: nothing was changed in a copy of %s; see `swarm help shell`", name, agent)
		}
		return nil, refusal.New("no copy %s; copies of %s with a change: %s", name, agent, termtext.List(slices.Sorted(slices.Values(names)), 5))
	}
	base, err := r.Repo.Commit(ctx, string(commit)+"^")
	if err != nil {
		return nil, err
	}
	return r.Between(ctx, task.Patch{
		Ref: ref, Base: string(base), Commit: string(commit),
		File: filepath.Join(CopyFolder(run, &store.Copy{Agent: agent, N: n}), "patch"),
	})
}

// maxCopyPaths bounds the paths that the patch of a copy names, and those of
// them that are marked.
const maxCopyPaths = 100

// Between completes a patch by the changes between its base and its commit.
func (r Reader) Between(ctx context.Context, patch task.Patch) (*task.Patch, error) {
	base, commit := git.Hash(patch.Base), git.Hash(patch.Commit)
	stat, err := r.Repo.Stat(ctx, base, commit)
	if err != nil {
		return nil, err
	}
	changes, err := r.Repo.Changes(ctx, base, commit)
	if err != nil {
		return nil, err
	}
	patch.Files, patch.Added, patch.Deleted = stat.Files, stat.Added, stat.Deleted
	for _, c := range changes {
		if len(patch.Paths) < maxCopyPaths {
			patch.Paths = append(patch.Paths, c.Path)
		}
		if len(patch.Marked) < maxCopyPaths && risk.Marked(c.Path) {
			patch.Marked = append(patch.Marked, c.Path)
		}
	}
	return &patch, nil
}

// ShowCopies shows agents in a view of a run with the patches of copies.
func (r Reader) ShowCopies(ctx context.Context, run *store.Run, v *store.View, names []string) error {
	for _, name := range names {
		id, n, ok := store.CopyOf(name)
		a := v.Agent(id)
		if !ok || a == nil {
			continue
		}
		then, err := r.AtCopy(ctx, run, a, n)
		if err != nil {
			return err
		}
		v.Replace(then)
	}
	return nil
}

// LandedCopies are the copies whose patches landed somewhere.
func LandedCopies(v *store.View) map[string]bool {
	landed := map[string]bool{}
	for _, l := range v.Landings {
		if !l.Stands() {
			continue
		}
		for _, name := range l.Copies {
			landed[name] = true
		}
	}
	return landed
}

// CopyFolder is the folder with the patch of a kept copy.
func CopyFolder(run *store.Run, c *store.Copy) string {
	return filepath.Join(run.Dir, "a", string(c.Agent), fmt.Sprintf("copy-%d", c.N))
}

// partMark is a file in the folder of a copy that is a part of a patch. Without it a
// person worked in the copy.
func partMark(folder string) string { return filepath.Join(folder, "part") }

// MarkPart marks the folder of a copy as that of a part, and makes it if there is none.
func MarkPart(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return os.WriteFile(partMark(folder), nil, 0o600)
}

func isPart(folder string) (bool, error) {
	_, err := os.Lstat(partMark(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
