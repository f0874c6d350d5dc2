package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Holder is a checkout that a branch cannot move without: it stands on the
// branch, or is in the middle of something that will come back to it.
type Holder struct {
	// Repo is the repository seen from that checkout.
	Repo *Repo
	// Doing names the operation in progress there: "a rebase", "a merge", …;
	// empty if there is none.
	Doing string
}

// Holders lists the checkouts that hold a branch. A checkout whose folder is
// gone holds no branch.
func (r *Repo) Holders(ctx context.Context, ref string) ([]Holder, error) {
	all, err := r.Checkouts(ctx)
	if err != nil {
		return nil, err
	}
	admins, err := r.admins()
	if err != nil {
		return nil, fmt.Errorf("list worktrees: %w", err)
	}
	var holders []Holder
	for i, c := range all {
		gitDir := admins[c.Dir]
		if i == 0 {
			// The main checkout is listed first. In a submodule git takes the
			// git dir for its checkout. If we run in that checkout we know its
			// folder.
			gitDir = r.CommonDir
			if r.GitDir == r.CommonDir {
				c.Dir = r.TopLevel
			}
		}
		if c.Bare || c.Dir == "" || gitDir == "" {
			continue
		}
		if _, err := os.Lstat(filepath.Join(c.Dir, ".git")); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if c.Branch != ref && !comesBack(gitDir, ref) {
			continue
		}
		here := *r
		here.GitDir, here.TopLevel, here.Prefix = gitDir, c.Dir, ""
		holders = append(holders, Holder{Repo: &here, Doing: doing(gitDir)})
	}
	return holders, nil
}

// admins maps the folders of linked worktrees to their git dirs. It is read
// from our side: the .git file of a worktree may say anything.
func (r *Repo) admins() (map[string]string, error) {
	root := filepath.Join(r.CommonDir, "worktrees")
	entries, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	admins := map[string]string{}
	for _, e := range entries {
		admin := filepath.Join(root, e.Name())
		text, err := os.ReadFile(filepath.Join(admin, "gitdir"))
		if err != nil {
			continue // half made or half removed: no checkout yet or any more
		}
		link := strings.TrimSuffix(string(text), "\n")
		if !filepath.IsAbs(link) {
			link = filepath.Join(admin, link)
		}
		admins[filepath.Dir(link)] = admin
	}
	return admins, nil
}

// comesBack reports whether the operation under gitDir ends on the branch: a
// rebase or a bisect detaches HEAD and records the branch.
func comesBack(gitDir, ref string) bool {
	for _, file := range []string{"rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"} {
		text, err := os.ReadFile(filepath.Join(gitDir, file))
		name := strings.TrimSpace(string(text))
		if err == nil && (name == ref || "refs/heads/"+name == ref) {
			return true
		}
	}
	return false
}

// doing names the operation in progress in a checkout.
func doing(gitDir string) string {
	for _, sign := range [...]struct{ file, what string }{
		{"rebase-merge", "a rebase"},
		{"rebase-apply/applying", "an am"},
		{"rebase-apply", "a rebase"},
		{"MERGE_HEAD", "a merge"},
		{"CHERRY_PICK_HEAD", "a cherry-pick"},
		{"REVERT_HEAD", "a revert"},
		{"BISECT_LOG", "a bisect"},
		{"index.lock", "another git command (index.lock)"},
	} {
		if _, err := os.Lstat(filepath.Join(gitDir, sign.file)); err == nil {
			return sign.what
		}
	}
	return ""
}
