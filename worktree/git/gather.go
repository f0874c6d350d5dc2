package git

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// Gather packs all that tip needs beyond have into the quarantine.
//
// An object that git finds in the repository is not written again, even
// where no ref holds it there: a blob the agent staged and unstaged. A `git
// gc --prune=now` would then take it from under a capture. After Gather
// nothing can, and an object that is gone already is an [*Error] here rather
// than a hole in what gets published.
func (q *Quarantine) Gather(ctx context.Context, tip Hash, have ...Hash) error {
	var revs strings.Builder
	fmt.Fprintln(&revs, tip)
	for _, h := range have {
		fmt.Fprintf(&revs, "^%s\n", h)
	}
	_, err := q.Run(ctx, Cmd{
		// Objects that a partial clone never fetched are no loss.
		Args: []string{"pack-objects", "--revs", "-q", "--missing=allow-promisor",
			filepath.Join(q.Dir, "pack", "pack")},
		Stdin:  strings.NewReader(revs.String()),
		Config: []string{"pack.useBitmaps=false", "pack.threads=1", "pack.window=0"},
	})
	if err != nil {
		return fmt.Errorf("gather the objects of %s: %w", tip.Short(), err)
	}
	return nil
}

// Has reports whether the repository or the quarantine holds a commit.
func (q *Quarantine) Has(ctx context.Context, commit Hash) bool {
	_, err := q.Run(ctx, Cmd{Args: []string{"cat-file", "-e", string(commit) + "^{commit}"}})
	return err == nil
}
