package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"agentswarm/worktree/git"
)

// leasePrivate fills the folder of a workspace that has a git dir of its own.
// Nothing of the repository is touched.
func (t *Trees) leasePrivate(ctx context.Context, w *Workspace) error {
	b, err := t.baseOf(ctx, w.Base)
	if err != nil {
		return err
	}
	template, err := t.templateOf(ctx)
	if err != nil {
		return err
	}
	w.Index, w.Lower = b.index(), b.tree()
	for _, dir := range []string{upperName, workName} {
		if err := os.Mkdir(filepath.Join(w.Dir, dir), 0o700); err != nil {
			return err
		}
	}
	link, _ := t.Objects()
	admin := filepath.Join(w.Dir, gitName)
	err = template.Private(git.PrivateRequest{Dir: admin, Base: w.Base, Index: b.index(), Objects: link})
	if err != nil {
		return err
	}
	w.Admin = admin
	return t.step("filled")
}

// templateOf makes what the git dirs of all workspaces of this process have in
// common, once.
func (t *Trees) templateOf(ctx context.Context) (*git.Template, error) {
	t.basesMu.Lock()
	defer t.basesMu.Unlock()
	if t.template != nil {
		return t.template, nil
	}
	dir := filepath.Join(t.Dir, ".template")
	if err := RemoveAll(dir); err != nil {
		return nil, err
	}
	made, err := t.Repo.Template(ctx, dir)
	if err != nil {
		return nil, err
	}
	t.template = made
	return made, nil
}

// unmakePrivate removes what a lease that failed has made.
func (t *Trees) unmakePrivate(w *Workspace) error {
	return errors.Join(RemoveAll(w.Dir))
}

// Surroundings are where things are on a machine that a backend may be at odds
// with.
type Surroundings struct {
	At    string // the user's checkout
	State string // the folder that workspaces and their bases are below
	Home  string // of the user; empty: none
}

// Refuses says why workspaces cannot be made by a backend; nil where they can,
// as far as that can be told without making one.
func Refuses(b Backend, s Surroundings) error {
	switch b {
	case Overlay:
		// They would be hidden below the workspace, or be a part of it.
		if inside(s.At, s.State) {
			return fmt.Errorf("the state folder %s lies inside of the repository", s.State)
		}
		if s.Home != "" && inside(s.At, s.Home) {
			return fmt.Errorf("HOME, %s, lies inside of the repository", s.Home)
		}
		return errors.New("its capture is not built yet")
	case Reflink:
		return errors.New("not built yet")
	default:
		return nil
	}
}

// inside reports whether a path is dir, or below it.
func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// ownPrivate refuses a workspace whose parts do not lie where ours do.
func (t *Trees) ownPrivate(w Workspace) error {
	if w.Admin != "" && w.Admin != filepath.Join(w.Dir, gitName) {
		return &OutsideError{Dir: w.Admin, Root: w.Dir}
	}
	if w.Lower != "" && filepath.Dir(filepath.Dir(w.Lower)) != t.Bases {
		return &OutsideError{Dir: w.Lower, Root: t.Bases}
	}
	return nil
}
