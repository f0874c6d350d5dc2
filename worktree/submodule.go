package worktree

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/worktree/baseline"
	"agentswarm/worktree/git"
	"agentswarm/worktree/survey"
	"agentswarm/worktree/workspace"
)

// ModuleCapture is the patch of a submodule, as it is journaled.
type ModuleCapture struct {
	Path string   `json:"path"` // below the workspace, also of a nested submodule
	Base git.Hash `json:"base"` // the commit that the patch is on
	// Commit is the commit that the captured parent records. It is the agent's own
	// commit if that holds all changes, else a commit of swarm on Base.
	Commit git.Hash     `json:"commit"`
	Store  string       `json:"store"`         // the git dir of its store
	Ref    string       `json:"ref,omitempty"` // holds Commit in the store
	Patch  string       `json:"patch,omitempty"`
	Files  []git.Change `json:"files,omitempty"`
	Stat   git.Stat     `json:"stat"`
}

// submodules captures the populated submodules, and records their commits as
// those of the workspace.
func (c *capturing) submodules(ctx context.Context) error {
	c.nameAdded(ctx)
	slices.Sort(c.found.Modules)
	before, err := c.linksOn(ctx)
	if err != nil {
		return err
	}
	for _, path := range c.found.Modules {
		if err := c.submodule(ctx, path, before[path]); err != nil {
			return fmt.Errorf("submodule %q: %w", path, err)
		}
	}
	return nil
}

// linksOn maps submodules to their commits in an earlier capture that this
// capture continues, if these differ from the base.
func (c *capturing) linksOn(ctx context.Context) (map[string]git.Hash, error) {
	links := map[string]git.Hash{}
	if len(c.found.Modules) == 0 || c.On == c.Workspace.Base {
		return links, nil
	}
	changes, err := c.quarantine.Changes(ctx, c.Workspace.Base, c.On)
	if err != nil {
		return nil, err
	}
	for _, ch := range changes {
		if ch.NewMode == baseline.LinkMode {
			links[ch.Path] = ch.New
		}
	}
	return links, nil
}

// submodule captures a submodule. If git cannot tell its commit, or the commit
// is not whole, a note says so, and the workspace goes to the trash. The patch is
// on the commit before; empty: on that of the base.
func (c *capturing) submodule(ctx context.Context, path string, before git.Hash) error {
	head, err := c.moduleHead(ctx, c.Workspace, path)
	if c.unfetched(path, head) {
		c.found.NoteUnfetched(path, survey.LooseFiles(filepath.Join(c.Workspace.Files(), path)))
		return nil
	}
	if err != nil || head == "" {
		c.found.AddNote(survey.SubmoduleLeft, path)
		return nil
	}
	base := head
	if known := c.base.Find(path); known != nil && known.Mode == baseline.ModeLink {
		base = known.ID
	}
	on := cmp.Or(before, base)
	m, err := c.openModule(ctx, path, base, on)
	if err != nil {
		return err
	}
	if m == nil {
		c.found.AddNote(survey.SubmoduleLeft, path)
		c.recordModule(path, base, head)
		if head != base {
			c.found.AddNote(survey.SubmoduleMoved, path)
		}
		return nil
	}
	got, err := m.capture(ctx)
	if err != nil {
		return err
	}
	if real, err := m.checkedOut(ctx, got, head); err != nil || !real {
		c.found.AddNote(survey.SubmoduleLeft, path)
		return err
	}
	commit, ref, err := m.commitOf(ctx, got)
	if err != nil {
		return err
	}
	c.recordModule(path, base, commit)
	for _, n := range got.Notes {
		n.Path = filepath.Join(path, n.Path)
		c.found.Notes = append(c.found.Notes, n)
	}
	c.found.Partial = true // the other branches of its git dir are in no capture
	if commit == on {
		return nil
	}
	c.modules = append(c.modules, ModuleCapture{
		Path: path, Base: on, Commit: commit, Store: m.trees.Repo.GitDir, Ref: ref, Patch: got.Patch, Files: got.Files, Stat: got.Stat,
	})
	for _, nested := range got.Modules {
		nested.Path = filepath.Join(path, nested.Path)
		c.modules = append(c.modules, nested)
	}
	return nil
}

// recordModule has the workspace record a commit of a submodule.
func (c *capturing) recordModule(path string, base, commit git.Hash) {
	delete(c.found.Links, path)
	if commit != base {
		c.found.Links[path] = commit
	}
}

// changedModules are the captured submodules whose commits the patch records.
func (c *capturing) changedModules(files []git.Change) []ModuleCapture {
	var kept []ModuleCapture
	recorded := func(m ModuleCapture) bool {
		return slices.ContainsFunc(files, func(ch git.Change) bool { return ch.Path == m.Path && ch.New == m.Commit })
	}
	for _, m := range c.modules {
		within := func(k ModuleCapture) bool { return strings.HasPrefix(m.Path, k.Path+"/") }
		if recorded(m) || slices.ContainsFunc(kept, within) {
			kept = append(kept, m)
		}
	}
	return kept
}

// moduleCapture is the capture of a submodule under way.
type moduleCapture struct {
	trees   *Trees
	request CaptureRequest
	objects string // the agent's object folder of the submodule
}

// openModule makes ready to capture a submodule upon the commit on; nil if its
// base is neither in the user's submodule nor whole in the agent's.
//
// The git dir of the submodule is the agent's: no git is run in it, and its
// configuration, hooks and attributes are not read. Its files are read under the
// configuration of the run.
func (c *capturing) openModule(ctx context.Context, path string, base, on git.Hash) (_ *moduleCapture, err error) {
	m := &moduleCapture{}
	admin := c.Workspace.ModuleAdmin(path)
	if admin == "" || c.Modules == "" {
		return nil, nil
	}
	m.objects = filepath.Join(admin, "objects")
	full := c.within + path
	borrow := ""
	if gitDir := c.user.ModuleGitDir(full); gitDir != "" {
		borrow = filepath.Join(gitDir, "objects")
	}
	store, err := c.Repo.MakeModuleStore(c.Modules, full, borrow)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(full))
	id := hex.EncodeToString(sum[:6])
	dir := filepath.Join(c.quarantine.Dir, "modules", id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	m.trees = c.treesOf(store, filepath.Join(dir, "shared"))
	m.trees.filters = c.filters // of the same frozen configuration
	if whole, err := m.haveBase(ctx, base, filepath.Join(dir, "base")); err != nil || !whole {
		return nil, err
	}
	w := workspace.Workspace{
		Name: c.Workspace.Name, Dir: c.Workspace.Dir, Admin: admin, Base: base, Index: filepath.Join(dir, "index"),
		Backend: workspace.Copied, At: filepath.Join(c.Workspace.Path(), path),
		Module: filepath.Join(c.Workspace.Files(), path), SeenGit: c.Workspace.ModuleSeen(path),
	}
	m.request = CaptureRequest{
		Workspace: w, Objects: filepath.Join(dir, "objects"), Ref: c.Ref, HeadRef: c.HeadRef,
		PatchFile: c.PatchFile + "." + id, Modules: c.Modules, On: on,
		Message: c.Message, Author: c.Author, Committer: c.Committer, Live: c.Live,
		user: c.user, within: full + "/",
	}
	return m, m.readBase(ctx, w)
}

// treesOf makes the trees for the captures of a submodule. Only the commits
// that these publish in the store outlive them.
func (t *Trees) treesOf(store *git.Repo, shared string) *Trees {
	c := t.Config
	c.Repo, c.Frozen, c.Own, c.Include = store, store.Thaw(t.Frozen.Dir), "", nil
	m := newTrees(c)
	m.shared = c.Frozen.Lazy(shared)
	m.fills = t.fills
	return m
}

// haveBase has the store hold the commit that the patch of the submodule is on.
// It reports whether it could be found.
func (m *moduleCapture) haveBase(ctx context.Context, base git.Hash, objects string) (bool, error) {
	store := m.trees.Repo
	if has, err := store.HasCommit(ctx, base); err != nil || has {
		return has, err
	}
	q := m.trees.Frozen.Lazy(objects)
	err := q.Adopt(ctx, git.AdoptRequest{Tip: base, Objects: m.objects})
	if err != nil && ctx.Err() == nil {
		// The objects are the agent's: whatever is wrong with them must not cost the
		// patch of the parent.
		return false, q.Discard()
	}
	if err == nil {
		err = q.Publish(ctx, git.PublishRequest{
			Refs: []git.RefUpdate{{Ref: git.OwnRefs + "bases/" + string(base), New: base, Any: true}}, Message: "swarm: base",
		})
	}
	return err == nil, errors.Join(err, q.Discard())
}

// readBase makes the index that the files are compared with.
func (m *moduleCapture) readBase(ctx context.Context, w workspace.Workspace) error {
	q := m.trees.Frozen.Lazy(m.request.Objects)
	_, err := q.Run(ctx, git.Cmd{
		Args: []string{"read-tree", "--no-recurse-submodules", string(w.Base)}, Env: []string{"GIT_INDEX_FILE=" + w.Index},
	})
	return err
}

func (m *moduleCapture) capture(ctx context.Context) (*Capture, error) {
	for try := 1; ; try++ {
		got, err := m.trees.capture(ctx, m.request)
		if err != nil && try < tries && passing(err) {
			continue
		}
		return got, errors.Join(err, m.trees.endHelpers())
	}
}

// commitOf is the commit that the parent records, and the ref that holds it.
func (m *moduleCapture) commitOf(ctx context.Context, got *Capture) (commit git.Hash, ref string, err error) {
	if got.Head != "" {
		tree, err := m.trees.Repo.TreeOnce(ctx, got.Head)
		if err != nil {
			return "", "", err
		}
		if tree == got.Tree {
			return got.Head, got.HeadRef, nil
		}
	}
	if got.Changed {
		return got.Commit, got.Ref, nil
	}
	return m.request.On, "", nil
}
