package git

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// Gather packs all objects that tip needs beyond have into the quarantine.
//
// Git does not write an object again that the repository has, even if no ref
// holds it: for example a blob that the agent staged and unstaged. A `git gc
// --prune=now` would then remove it from a capture. After Gather a gc cannot
// remove it. If an object is gone already Gather returns an [*Error], so that
// no incomplete commit is published.
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
