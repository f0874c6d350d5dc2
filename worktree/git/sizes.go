package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// partialGuess stands for the size of a file that a partial clone may lack: git
// would fetch such files one by one.
const partialGuess = 8 << 10

// Sizes is the size of each file of a commit or tree, in no order that means
// anything. The caller must not change the result.
func (r *Repo) Sizes(ctx context.Context, treeish Hash) ([]int64, error) {
	if sizes, ok := r.memo.sizesOf(treeish); ok {
		return sizes, nil
	}
	args := []string{"ls-tree", "-r", "-z", "--full-tree"}
	settings, err := r.SettingsOnce(ctx)
	if err != nil || !slices.ContainsFunc(settings, func(s Setting) bool { return s.Section == "remote" && s.Name == "promisor" }) {
		args = append(args, "--long")
	}
	out, err := r.Run(ctx, Cmd{Args: append(args, string(treeish))})
	if err != nil {
		return nil, fmt.Errorf("measure tree %s: %w", treeish.Short(), err)
	}
	sizes, err := parseSizes(out)
	if missing, ok := errors.AsType[*MissingObjectError](err); ok {
		missing.Damaged = r.isDamaged(ctx, missing.ID)
		return nil, fmt.Errorf("measure tree: %w", missing)
	}
	if err == nil {
		r.memo.addSizes(treeish, sizes)
	}
	return sizes, err
}

// parseSizes reads `ls-tree -z --long`, "mode type id size\tpath\0", or the
// same without sizes. A submodule has none: "-".
func parseSizes(out []byte) ([]int64, error) {
	sizes := make([]int64, 0, bytes.Count(out, []byte{0}))
	for rec := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
		if len(rec) == 0 {
			continue
		}
		head, _, ok := bytes.Cut(rec, []byte{'\t'})
		f := strings.Fields(string(head))
		switch {
		case ok && len(f) == 3:
			sizes = append(sizes, partialGuess)
		case ok && len(f) == 4 && f[3] == "-":
			sizes = append(sizes, 0)
		case ok && len(f) == 4:
			if f[3] == "BAD" { // so git says of an object that it has not
				return nil, fmt.Errorf("measure tree: %w", &MissingObjectError{ID: Hash(f[2])})
			}
			n, err := strconv.ParseInt(f[3], 10, 64)
			if err != nil {
				return nil, fmt.Errorf("measure tree: unexpected size %q", f[3])
			}
			sizes = append(sizes, n)
		default:
			return nil, fmt.Errorf("measure tree: unexpected record %q", rec)
		}
	}
	return sizes, nil
}

// BlobSizes is the stored size of each of some blobs, in the given order. A
// blob that a partial clone may lack counts as a small file. Env is added to
// the environment of git.
func (r *Repo) BlobSizes(ctx context.Context, env []string, ids []Hash) ([]int64, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var asked strings.Builder
	for _, id := range ids {
		fmt.Fprintln(&asked, id)
	}
	out, err := r.Run(ctx, Cmd{
		Args:  []string{"cat-file", "--batch-check=%(objectsize)"},
		Stdin: strings.NewReader(asked.String()),
		// Git would fetch blobs one by one from a promisor remote.
		Env: append(slices.Clone(env), "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none"),
	})
	var bad *Error
	if errors.As(err, &bad) {
		return slices.Repeat([]int64{partialGuess}, len(ids)), nil // not all are here
	}
	if err != nil {
		return nil, fmt.Errorf("measure new files: %w", err)
	}
	sizes := make([]int64, 0, len(ids))
	for line := range strings.Lines(string(out)) {
		n, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		if err != nil {
			n = partialGuess
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}
