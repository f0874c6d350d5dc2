package merge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"agentswarm/worktree/git"
	"agentswarm/worktree/git/checkout"
)

// ApplyRequest is a patch for the files of a checkout.
type ApplyRequest struct {
	Repo    *git.Repo    // required, seen from the checkout
	File    string       // required; the patch file
	Text    io.Reader    // the patch; nil: the content of File, which else is only its name
	Changes []git.Change // required; the changes of the patch
	Record
	// Journal keeps the intent before a file changes. Required.
	Journal func() error
}

// Applied records the files after a patch, so that [Unapply] recognizes them.
type Applied struct {
	Dir   string        `json:"dir"`
	Files []AppliedFile `json:"files"`
}

// AppliedFile is the state of a file after a patch.
type AppliedFile struct {
	Path string `json:"path"`
	// Sum names kind and content of the file, "absent" where there is none.
	Sum string `json:"sum"`
}

// SubmoduleError says that a patch moves submodules, which only a commit
// can.
type SubmoduleError struct{ Paths []string }

func (e *SubmoduleError) Error() string {
	return fmt.Sprintf("the patch moves a submodule, which is not a file: %q", e.Paths)
}

// Hint tells the user how to land the patch.
func (e *SubmoduleError) Hint() string { return "merge the patch instead of applying it" }

// SparseError says that a patch changes files that a sparse checkout leaves
// out.
type SparseError struct {
	Dir   string
	Paths []string
}

func (e *SparseError) Error() string {
	const shown = 5
	text := fmt.Sprintf("the sparse checkout %s leaves out what the patch changes: %q", e.Dir, e.Paths[:min(shown, len(e.Paths))])
	if more := len(e.Paths) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Hint tells the user how to land the patch.
func (e *SparseError) Hint() string {
	return "merge the patch, which needs no files, or add them with `git sparse-checkout add`"
}

// Apply changes the files of a checkout by a patch, without a commit and
// without the index. It refuses with a [*DirtyError] where the files are not
// as the last commit has them, with a [*SparseError] where they are not on
// disk, and with a [*git.PatchError] where the patch does not fit; then
// nothing has changed.
func Apply(ctx context.Context, req ApplyRequest) (_ *Applied, err error) {
	if req.Repo.Bare() {
		return nil, errors.New("apply a patch: a bare repository has no files to apply it to")
	}
	var modules []string
	for _, c := range req.Changes {
		if c.OldMode == git.Gitlink || c.NewMode == git.Gitlink {
			modules = append(modules, c.Path)
		}
	}
	if len(modules) > 0 {
		return nil, &SubmoduleError{Paths: modules}
	}
	head, err := req.Repo.Commit(ctx, "HEAD")
	if err != nil {
		return nil, fmt.Errorf("apply a patch: %w", err)
	}
	p, err := beginPatching(ctx, "apply", req.Repo, req.Record)
	if err != nil {
		return nil, fmt.Errorf("apply a patch: %w", err)
	}
	defer func() { err = errors.Join(err, p.tx.Close()) }()
	if err := p.index(ctx, head); err != nil {
		return nil, fmt.Errorf("apply a patch: %w", err)
	}
	from, err := req.Repo.TreeOf(ctx, head)
	if err != nil {
		return nil, fmt.Errorf("apply a patch: %w", err)
	}
	if err := p.patch(ctx, from, git.ApplyRequest{File: req.File, Text: req.Text}); err != nil {
		return nil, err
	}
	out, err := req.Repo.LeftOut(ctx, p.changes)
	if err != nil {
		return nil, fmt.Errorf("apply a patch: %w", err)
	}
	if len(out) > 0 {
		return nil, &SparseError{Dir: req.Repo.TopLevel, Paths: out}
	}
	if err := p.commit(ctx, checkout.Side{}, req.Journal); err != nil {
		return nil, fmt.Errorf("apply a patch: %w", err)
	}
	return &Applied{Dir: req.Repo.TopLevel, Files: appliedFiles(p.tx.Identities(0))}, nil
}

// UnapplyRequest takes an applied patch out again.
type UnapplyRequest struct {
	Repo    *git.Repo // required
	File    string    // required; the patch file
	Text    io.Reader // as in ApplyRequest
	Applied Applied
	Record
	Journal func() error // required, as in ApplyRequest
}

// Unapply takes a patch out of the files again. It returns a [*DirtyError] if
// one of them changed since.
func Unapply(ctx context.Context, req UnapplyRequest) (err error) {
	repo, err := seenFrom(ctx, req.Repo, req.Applied.Dir)
	if err != nil {
		return err
	}
	p, err := beginPatching(ctx, "undo", repo, req.Record)
	if err != nil {
		return fmt.Errorf("take a patch out: %w", err)
	}
	defer func() { err = errors.Join(err, p.tx.Close()) }()
	var paths, changed []string
	for _, f := range req.Applied.Files {
		at, err := checkout.Identify(filepath.Join(req.Applied.Dir, f.Path))
		if err != nil {
			return fmt.Errorf("look at an applied patch: %w", err)
		}
		if string(at) != f.Sum {
			changed = append(changed, f.Path)
		}
		paths = append(paths, f.Path)
	}
	if len(changed) > 0 {
		return &DirtyError{Dir: req.Applied.Dir, Paths: changed}
	}
	from, err := p.snapshot(ctx, paths)
	if err != nil {
		return fmt.Errorf("take a patch out: %w", err)
	}
	if err := p.patch(ctx, from, git.ApplyRequest{File: req.File, Text: req.Text, Reverse: true}); err != nil {
		return err
	}
	if err := p.commit(ctx, checkout.Side{AnyIndex: true}, req.Journal); err != nil {
		return fmt.Errorf("take a patch out: %w", err)
	}
	return nil
}
