package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// FillRequest says which registered worktree gets its files.
type FillRequest struct {
	Dir   string // required; the worktree
	Admin string // required; its admin folder
	Base  Hash   // required; the commit its HEAD is at

	Without []string // names of filters that do not run
}

// Fill checks out a registered worktree, with the filters of the user and as
// sparse as the user's own checkout.
//
// It runs under the frozen configuration: a linked worktree shares the
// repository's, and an agent that works already may have put a filter there.
func (f *Frozen) Fill(ctx context.Context, r FillRequest) error {
	cmd := Cmd{
		Dir: r.Dir, Writes: true,
		Env: slices.Concat(f.env(), Without(r.Without), []string{
			"GIT_WORK_TREE=" + r.Dir, "GIT_INDEX_FILE=" + filepath.Join(r.Admin, "index"),
		}),
		Args: []string{"read-tree", "--reset", "-u", "--no-recurse-submodules", string(r.Base)},
	}
	_, err := os.Lstat(f.sparse())
	switch {
	case err == nil:
		cmd.Config = []string{"core.sparseCheckout=true"}
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("fill worktree: %w", err)
	}
	if _, err := f.repo.Git.Run(ctx, cmd); err != nil {
		return fmt.Errorf("fill worktree: %w", err)
	}
	return nil
}

// Without is an environment in which these filters are not there: git writes
// files as they are stored, and their attributes ask for nothing.
func Without(filters []string) []string {
	if len(filters) == 0 {
		return nil
	}
	var env []string
	n := 0
	for _, name := range filters {
		// Not by -c, which ends a key at the first equals sign.
		for _, kv := range [][2]string{{"clean", ""}, {"smudge", ""}, {"process", ""}, {"required", "false"}} {
			env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=filter.%s.%s", n, name, kv[0]),
				fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, kv[1]))
			n++
		}
	}
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n))
}

// env makes git run in the copy and read no other configuration.
func (f *Frozen) env() []string {
	return []string{
		"GIT_DIR=" + f.Dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1",
	}
}

// SkipsLFS is the value of [SkipLFS] in the user's environment; empty: it is not set.
func (f *Frozen) SkipsLFS() string { return f.repo.Git.skipsLFS() }

// sparse is where the patterns of a sparse checkout are; a file is there
// only where the user's checkout is sparse.
func (f *Frozen) sparse() string { return filepath.Join(f.Dir, "info", "sparse-checkout") }

// copySparse copies the patterns of the user's checkout.
func (f *Frozen) copySparse(ctx context.Context) error {
	if !f.set["core.sparsecheckout"] {
		return nil
	}
	on, err := f.repo.line(ctx, "config", "--type=bool", "--get", "core.sparseCheckout")
	var unset *Error
	if errors.As(err, &unset) || err == nil && on != "true" {
		return nil
	}
	if err != nil {
		return err
	}
	return copyFile(filepath.Join(f.repo.GitDir, "info", "sparse-checkout"), f.sparse())
}

// ChangeRequest describes the content of a folder that is still empty.
type ChangeRequest struct {
	Dir      string // required
	Index    string // required; that of a checkout of From, which becomes that of To
	From, To Hash   // required

	Without []string // names of filters that do not run
}

// Change checks out only those files of a commit that differ from another
// commit. The times of all other index entries stay.
func (f *Frozen) Change(ctx context.Context, r ChangeRequest) error {
	_, err := f.repo.Git.Run(ctx, Cmd{
		Dir: r.Dir, Writes: true,
		Env: slices.Concat(f.env(), Without(r.Without), []string{
			"GIT_WORK_TREE=" + r.Dir, "GIT_INDEX_FILE=" + r.Index,
		}),
		Args: []string{"read-tree", "-m", "-u", "--no-recurse-submodules", string(r.From), string(r.To)},
	})
	if err != nil {
		return fmt.Errorf("fill a layer: %w", err)
	}
	return nil
}
