package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ModuleStore is the bare repository below dir that keeps the commits of agents
// in the submodule at a path of this repository. It may be missing.
func (r *Repo) ModuleStore(dir, path string) *Repo {
	sum := sha256.Sum256([]byte(path))
	at := filepath.Join(dir, hex.EncodeToString(sum[:10])+".git")
	return r.Store(at)
}

// Store is the store at a git dir.
func (r *Repo) Store(gitDir string) *Repo {
	return &Repo{Git: r.Git, CommonDir: gitDir, GitDir: gitDir, ObjectFormat: r.ObjectFormat}
}

// MakeModuleStore makes the store of a submodule if it is missing. The store
// borrows the objects of the folder borrow; empty: of no folder. Several
// processes may make it at once.
func (r *Repo) MakeModuleStore(dir, path, borrow string) (*Repo, error) {
	s := r.ModuleStore(dir, path)
	if err := s.makeStore(borrow); err != nil {
		return nil, fmt.Errorf("make the store of submodule %q: %w", path, err)
	}
	return s, nil
}

// makeStore makes the bare repository if it is missing, as [Repo.MakeModuleStore]
// does.
func (r *Repo) makeStore(borrow string) error {
	if r.Exists() {
		return nil
	}
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
	if r.ObjectFormat == "sha256" {
		config = "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n"
	}
	files := [][2]string{{"config", config}}
	if borrow != "" {
		files = append(files, [2]string{"objects/info/alternates", quotePath(borrow) + "\n"})
	}
	// A store exists once it has its HEAD: that comes last.
	files = append(files, [2]string{"HEAD", "ref: refs/heads/none\n"})
	for _, d := range []string{"objects/info", "objects/pack", "refs"} {
		if err := os.MkdirAll(filepath.Join(r.GitDir, d), 0o700); err != nil {
			return err
		}
	}
	for _, f := range files {
		if err := replaceText(filepath.Join(r.GitDir, f[0]), f[1]); err != nil {
			return err
		}
	}
	return nil
}

// Exists reports whether the git dir has a HEAD.
func (r *Repo) Exists() bool {
	at, err := os.Lstat(filepath.Join(r.GitDir, "HEAD"))
	return err == nil && at.Mode().IsRegular()
}

// replaceText writes a file whole, also if another process writes the same.
func replaceText(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// maxGitFile bounds the .git file of a submodule, in bytes.
const maxGitFile = 8 << 10

// ModuleGitDir is the git dir of the submodule that is checked out at a path of
// this checkout; empty if none is. No symlink below the checkout is followed.
func (r *Repo) ModuleGitDir(path string) string {
	if r.TopLevel == "" || !filepath.IsLocal(path) {
		return ""
	}
	dir := r.TopLevel
	for part := range strings.SplitSeq(path, "/") {
		dir = filepath.Join(dir, part)
		if at, err := os.Lstat(dir); err != nil || !at.IsDir() {
			return ""
		}
	}
	dotGit := filepath.Join(dir, ".git")
	at, err := os.Lstat(dotGit)
	switch {
	case err != nil:
		return ""
	case at.IsDir():
	case at.Mode().IsRegular() && at.Size() <= maxGitFile:
		text, err := os.ReadFile(dotGit)
		to, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
		if err != nil || !ok {
			return ""
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		dotGit = filepath.Clean(to)
	default:
		return ""
	}
	if _, err := os.Stat(filepath.Join(dotGit, "HEAD")); err != nil {
		return ""
	}
	return dotGit
}

// Module is the submodule that is checked out at a path of this checkout; nil
// if none is.
func (r *Repo) Module(path string) (*Repo, error) {
	gitDir := r.ModuleGitDir(path)
	if gitDir == "" {
		return nil, nil
	}
	common, err := commonDir(gitDir)
	if err != nil {
		return nil, fmt.Errorf("look at submodule %q: %w", path, err)
	}
	return &Repo{
		Git: r.Git, CommonDir: common, GitDir: gitDir, TopLevel: filepath.Join(r.TopLevel, filepath.FromSlash(path)),
		ObjectFormat: r.ObjectFormat,
	}, nil
}

// commonDir is the git dir that a git dir of a linked worktree belongs to, or
// the git dir itself.
func commonDir(gitDir string) (string, error) {
	text, err := os.ReadFile(filepath.Join(gitDir, "commondir"))
	if errors.Is(err, fs.ErrNotExist) {
		return gitDir, nil
	}
	if err != nil {
		return "", err
	}
	to := strings.TrimSpace(string(text))
	if !filepath.IsAbs(to) {
		to = filepath.Join(gitDir, to)
	}
	return filepath.Clean(to), nil
}

// HasCommit reports whether the repository has a commit and its tree. It fetches
// nothing.
func (r *Repo) HasCommit(ctx context.Context, h Hash) (bool, error) {
	if !r.named(h) {
		return false, nil
	}
	_, err := r.Run(ctx, Cmd{Args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", string(h) + "^{commit}^{tree}"}, Env: offline()})
	var bad *Error
	if errors.As(err, &bad) && bad.Code >= 0 {
		return false, nil
	}
	return err == nil, err
}

// Doing names the operation in progress in this checkout, such as "a rebase";
// empty if there is none.
func (r *Repo) Doing() string { return doing(r.GitDir) }
