package git

import (
	"bytes"
	"context"
	"fmt"
	"strings"
)

// Entry is a file of a tree, by its full path.
type Entry struct {
	Path string
	Mode string // "100644", "100755", "120000" or "160000"
	ID   Hash
}

// Tree lists all files of a commit or tree.
func (r *Repo) Tree(ctx context.Context, treeish Hash) ([]Entry, error) {
	return r.memo.list(treeish, func() ([]Entry, error) {
		out, err := r.Run(ctx, Cmd{Args: []string{
			"ls-tree", "-r", "-z", "--full-tree", string(treeish),
		}})
		if err != nil {
			return nil, fmt.Errorf("list tree %s: %w", treeish.Short(), err)
		}
		return parseTree(out)
	})
}

// parseTree reads `ls-tree -z`: "mode type id\tpath\0".
func parseTree(out []byte) ([]Entry, error) {
	entries := make([]Entry, 0, bytes.Count(out, []byte{0}))
	for rec := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
		if len(rec) == 0 {
			continue
		}
		head, path, ok := bytes.Cut(rec, []byte{'\t'})
		f := strings.Fields(string(head))
		if !ok || len(f) != 3 {
			return nil, fmt.Errorf("list tree: unexpected record %q", rec)
		}
		entries = append(entries, Entry{Path: string(path), Mode: f[0], ID: Hash(f[2])})
	}
	return entries, nil
}

// File is the content of a file of a commit.
func (r *Repo) File(ctx context.Context, commit Hash, path string) ([]byte, error) {
	out, err := r.Run(ctx, Cmd{Args: []string{
		"cat-file", "blob", string(commit) + ":" + path,
	}})
	if err != nil {
		return nil, fmt.Errorf("read %s at %s: %w", path, commit.Short(), err)
	}
	return out, nil
}

// Tree is the tree of a commit in the quarantine, and all files of it.
func (q *Quarantine) Tree(ctx context.Context, commit Hash) ([]Entry, Hash, error) {
	out, err := q.Run(ctx, Cmd{Args: []string{
		"rev-parse", "--verify", "--end-of-options", string(commit) + "^{tree}",
	}})
	if err != nil {
		return nil, "", fmt.Errorf("find the tree of %s: %w", commit.Short(), err)
	}
	tree := Hash(strings.TrimSpace(string(out)))
	out, err = q.Run(ctx, Cmd{Args: []string{"ls-tree", "-r", "-z", "--full-tree", string(tree)}})
	if err != nil {
		return nil, "", fmt.Errorf("list tree %s: %w", tree.Short(), err)
	}
	entries, err := parseTree(out)
	return entries, tree, err
}
