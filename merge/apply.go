package merge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"agentswarm/worktree/git"
)

// ApplyRequest is one patch for the files of a checkout.
type ApplyRequest struct {
	Repo    *git.Repo    // required, seen from the checkout
	File    string       // required; the patch file
	Text    io.Reader    // the patch; nil: what is in File, which else only names it
	Changes []git.Change // required; what the patch touches
}

// Applied is what a patch left behind, by which [Unapply] knows it again.
type Applied struct {
	Dir   string        `json:"dir"`
	Files []AppliedFile `json:"files"`
}

// AppliedFile is one file after a patch.
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

// Hint says what would be right.
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

// Hint says what would be right.
func (e *SparseError) Hint() string {
	return "merge the patch, which needs no files, or add them with `git sparse-checkout add`"
}

// Apply changes the files of a checkout by a patch, without a commit and
// without the index. It refuses with a [*DirtyError] where the files are not
// as the last commit has them, with a [*SparseError] where they are not on
// disk, and with a [*git.PatchError] where the patch does not fit; then
// nothing has changed.
func Apply(ctx context.Context, req ApplyRequest) (*Applied, error) {
	if req.Repo.Bare() {
		return nil, errors.New("apply a patch: a bare repository has no files to apply it to")
	}
	var modules []string
	for _, c := range req.Changes {
		if c.OldMode == "160000" || c.NewMode == "160000" {
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
	changes, err := onto(ctx, req, head)
	if err != nil {
		return nil, err
	}
	if err := req.Repo.CheckMove(ctx, head, changes); err != nil {
		return nil, fmt.Errorf("apply a patch: %w", err)
	}
	if out, err := req.Repo.LeftOut(ctx, changes); err != nil {
		return nil, fmt.Errorf("apply a patch: %w", err)
	} else if len(out) > 0 {
		return nil, &SparseError{Dir: req.Repo.TopLevel, Paths: out}
	}
	if err := req.Repo.ApplyPatch(ctx, git.ApplyRequest{File: req.File, Text: req.Text}); err != nil {
		return nil, err
	}
	applied := &Applied{Dir: req.Repo.TopLevel}
	for _, c := range req.Changes {
		sum, err := fileSum(filepath.Join(applied.Dir, c.Path))
		if err != nil {
			return nil, fmt.Errorf("look at an applied patch: %w", err)
		}
		applied.Files = append(applied.Files, AppliedFile{Path: c.Path, Sum: sum})
	}
	return applied, nil
}

// onto is the change as seen from HEAD: a patch knows only what its own base
// held.
func onto(ctx context.Context, req ApplyRequest, head git.Hash) ([]git.Change, error) {
	entries, err := req.Repo.Tree(ctx, head)
	if err != nil {
		return nil, err
	}
	held := make(map[string]git.Entry, len(entries))
	for _, e := range entries {
		held[e.Path] = e
	}
	changes := make([]git.Change, 0, len(req.Changes))
	for _, c := range req.Changes {
		c.OldMode, c.Old = "000000", ""
		if e, ok := held[c.Path]; ok {
			c.OldMode, c.Old = e.Mode, e.ID
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// UnapplyRequest takes an applied patch out again.
type UnapplyRequest struct {
	Repo    *git.Repo // required
	File    string    // required; the patch file
	Text    io.Reader // as in ApplyRequest
	Applied Applied
}

// Unapply takes a patch out of the files again. It refuses with a
// [*DirtyError] where one of them changed since.
func Unapply(ctx context.Context, req UnapplyRequest) error {
	var changed []string
	for _, f := range req.Applied.Files {
		sum, err := fileSum(filepath.Join(req.Applied.Dir, f.Path))
		if err != nil {
			return fmt.Errorf("look at an applied patch: %w", err)
		}
		if sum != f.Sum {
			changed = append(changed, f.Path)
		}
	}
	if len(changed) > 0 {
		return &DirtyError{Dir: req.Applied.Dir, Paths: changed}
	}
	return req.Repo.ApplyPatch(ctx, git.ApplyRequest{File: req.File, Text: req.Text, Reverse: true})
}

// fileSum names the kind and the content of what lies at a path.
func fileSum(path string) (string, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return "absent", nil
	case err != nil:
		return "", err
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(path)
		return "link " + sumOf([]byte(to)), err
	case info.IsDir():
		return "folder", nil
	case !info.Mode().IsRegular():
		return "special", nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	kind := "file "
	if info.Mode()&0o100 != 0 {
		kind = "program "
	}
	return kind + hex.EncodeToString(h.Sum(nil)), errors.Join(err, f.Close())
}

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
