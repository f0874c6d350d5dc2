package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Dirt counts the changes of a checkout from its HEAD.
type Dirt struct {
	Staged, Unstaged, Untracked, Unmerged int
	// Files is the number of changed files and untracked folders: a file can be
	// both staged and unstaged.
	Files int
}

// Any reports whether there is anything.
func (d Dirt) Any() bool { return d.Staged+d.Unstaged+d.Untracked+d.Unmerged > 0 }

// Dirt looks at the checkout without touching its index.
func (r *Repo) Dirt(ctx context.Context) (Dirt, error) {
	if r.Bare() {
		return Dirt{}, nil
	}
	out, err := r.Run(ctx, Cmd{Args: []string{
		"status", "--porcelain=v1", "-z", "--untracked-files=normal", "--no-renames",
		"--ignore-submodules=none",
	}})
	if err != nil {
		return Dirt{}, fmt.Errorf("look at the working tree: %w", err)
	}
	var d Dirt
	for rec := range bytes.SplitSeq(out, []byte{0}) {
		if len(rec) < 3 {
			continue
		}
		d.Files++
		switch x, y := rec[0], rec[1]; {
		case x == '?':
			d.Untracked++
		case x == 'U' || y == 'U' || x == 'A' && y == 'A' || x == 'D' && y == 'D':
			d.Unmerged++
		default:
			if x != ' ' {
				d.Staged++
			}
			if y != ' ' {
				d.Unstaged++
			}
		}
	}
	return d, nil
}

// UnmergedError says that a checkout is in the middle of a merge, so that its
// files hold conflict markers. No agent should start from these.
type UnmergedError struct{ Files int }

func (e *UnmergedError) Error() string {
	return fmt.Sprintf("%d unmerged files in the working tree", e.Files)
}

// Hint tells the user how to go on.
func (e *UnmergedError) Hint() string {
	return "finish or abort the merge first, or leave --with-changes out"
}

// Snapshot writes a commit on head that holds the checkout as it is: staged,
// unstaged and untracked files that are not ignored. It works on a copy of
// the index; the checkout, its index and its refs are not touched.
func (q *Quarantine) Snapshot(ctx context.Context, head Hash) (Hash, error) {
	r := q.repo
	dirt, err := r.Dirt(ctx)
	if err != nil {
		return "", err
	}
	if dirt.Unmerged > 0 {
		return "", &UnmergedError{Files: dirt.Unmerged}
	}
	index := filepath.Join(q.Dir, "snapshot.index")
	defer os.Remove(index)
	if err := copyIndex(filepath.Join(r.GitDir, "index"), index); err != nil {
		return "", fmt.Errorf("snapshot: %w", err)
	}
	env := []string{"GIT_INDEX_FILE=" + index}
	_, err = q.Run(ctx, Cmd{Env: env, Args: []string{"add", "--all", "--", ":/"},
		Config: []string{"advice.addEmbeddedRepo=false", "core.safecrlf=false"}})
	if err != nil {
		return "", fmt.Errorf("snapshot: %w", err)
	}
	tree, err := q.Run(ctx, Cmd{Env: env, Args: []string{"write-tree"}})
	if err != nil {
		return "", fmt.Errorf("snapshot: %w", err)
	}
	now := time.Now()
	return q.CommitTree(ctx, CommitRequest{
		Tree: Hash(strings.TrimSpace(string(tree))), Parents: []Hash{head},
		Message: "uncommitted changes at the start of a run\n",
		Author:  Swarm(now), Committer: Swarm(now),
	})
}

// copyIndex copies an index with its time. Only that time tells a file that
// changed within the clock tick of the index. A missing index is no error:
// there are no staged changes.
func copyIndex(from, to string) error {
	stat, err := os.Stat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		return err
	}
	return os.Chtimes(to, stat.ModTime(), stat.ModTime())
}
