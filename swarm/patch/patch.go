package patch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"agentswarm/swarm/review"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// GoneError is a patch whose commit the repository has lost.
type GoneError struct{ Agent *store.Agent }

func (e *GoneError) Error() string {
	return fmt.Sprintf("the commit of %s is gone from the repository", e.Agent.ID)
}

// Hint tells how to get the patch.
func (e *GoneError) Hint() string {
	if e.Agent.Patch().File == "" {
		return "the text of its patch was too long to be kept; look for the commit in other clones"
	}
	return "its patch is still there: git apply --index " + e.Agent.Patch().File
}

// Reader reads patches from a repository.
type Reader struct {
	Repo *git.Repo // required
	// Fallback is called before the text of a patch is read from its file, since its
	// commit is gone. Agents can write to the file. Nil: it is not called.
	Fallback func(gone *GoneError, file string)
}

// Missing returns a [*GoneError] if the commit of an agent cannot be read, and any
// other error of git. It is nil if the commit exists.
func (r Reader) Missing(ctx context.Context, a *store.Agent) error {
	_, err := r.Repo.TreeOf(ctx, git.Hash(a.Patch().Commit))
	if _, failed := errors.AsType[*git.Error](err); failed {
		return &GoneError{a}
	}
	return err
}

// explain returns a [*GoneError] in place of err if the commit of an agent is lost.
func (r Reader) explain(ctx context.Context, a *store.Agent, err error) error {
	if gone, ok := errors.AsType[*GoneError](r.Missing(ctx, a)); ok {
		return gone
	}
	return err
}

// Changes lists the changed files of an agent's patch, without those of submodules.
// The error is a [*GoneError], or that of git.
func (r Reader) Changes(ctx context.Context, a *store.Agent) ([]git.Change, error) {
	p := a.Patch()
	changes, err := r.Repo.Changes(ctx, git.Hash(p.Base), git.Hash(p.Commit))
	if err != nil {
		return nil, r.explain(ctx, a, err)
	}
	return changes, nil
}

// Modules returns the patches of submodules of an agent: of the submodule in its
// address, or all.
func Modules(a *store.Agent) []task.ModulePatch {
	if a.Module != nil {
		return []task.ModulePatch{*a.Module}
	}
	return a.Patch().Modules
}

// AllChanges lists the changed files of an agent, with those of submodules by their
// paths in the parent. The error is a [*GoneError], or that of git.
func (r Reader) AllChanges(ctx context.Context, a *store.Agent) (all []git.Change, err error) {
	if a.Module == nil {
		if all, err = r.Changes(ctx, a); err != nil {
			return nil, err
		}
	}
	for _, m := range Modules(a) {
		changes, err := r.ModuleChanges(ctx, m)
		if err != nil {
			return nil, err
		}
		all = append(all, changes...)
	}
	return all, nil
}

// ModuleChanges lists the changed files of a submodule by their paths in the parent.
// The error names the submodule.
func (r Reader) ModuleChanges(ctx context.Context, m task.ModulePatch) ([]git.Change, error) {
	changes, err := r.Repo.Store(m.Store).Changes(ctx, git.Hash(m.Base), git.Hash(m.Commit))
	if err != nil {
		return nil, fmt.Errorf("submodule %q: %w", m.Path, err)
	}
	for i := range changes {
		changes[i].Path = m.Path + "/" + changes[i].Path
	}
	return changes, nil
}

// WriteModule writes the patch of a submodule with its paths below a folder; "" keeps
// the paths of the submodule. The error names the submodule.
func (r Reader) WriteModule(ctx context.Context, w io.Writer, m task.ModulePatch, below string) error {
	span := git.PatchBelow{From: git.Hash(m.Base), To: git.Hash(m.Commit), Below: below}
	if err := r.Repo.Store(m.Store).WritePatchBelow(ctx, w, span); err != nil {
		return fmt.Errorf("submodule %q: %w", m.Path, err)
	}
	return nil
}

// WriteStat writes the files of a patch and their sizes, as git diff --stat does, but
// not those of submodules. The error is a [*GoneError], or that of git or w.
func (r Reader) WriteStat(ctx context.Context, w io.Writer, a *store.Agent, width int) error {
	p := a.Patch()
	err := r.Repo.WriteStat(ctx, w, git.StatRequest{From: git.Hash(p.Base), To: git.Hash(p.Commit), Width: width})
	if err != nil {
		return r.explain(ctx, a, err)
	}
	return nil
}

// maxText bounds the text of a patch that [Reader.Files] parses, in bytes.
const maxText = 32 << 20

// Files parses a patch of an agent, with those of submodules. The error is a
// [*GoneError], says that the patch is too long, or is that of git.
func (r Reader) Files(ctx context.Context, a *store.Agent, p *task.Patch) ([]review.File, error) {
	text := &boundedBuffer{most: maxText}
	err := r.Repo.WritePatch(ctx, text, git.Hash(p.Base), git.Hash(p.Commit))
	for _, m := range p.Modules {
		if err == nil {
			err = r.WriteModule(ctx, text, m, m.Path)
		}
	}
	if text.full {
		return nil, fmt.Errorf("the patch of %s is longer than %d MiB", a.ID, maxText>>20)
	}
	if err != nil {
		return nil, r.explain(ctx, a, err)
	}
	return review.Read(text.String())
}

// boundedBuffer is a buffer that takes at most a number of bytes.
type boundedBuffer struct {
	bytes.Buffer
	most int
	full bool
}

func (b *boundedBuffer) Write(text []byte) (int, error) {
	if b.Len()+len(text) > b.most {
		b.full = true
		return 0, errors.New("the text is too long")
	}
	return b.Buffer.Write(text)
}
