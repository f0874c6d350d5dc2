package worktree

import (
	"context"
	"fmt"

	"agentswarm/worktree/git"
)

// CheckoutSize is about how many bytes of disk the files of a commit take.
func CheckoutSize(ctx context.Context, repo *git.Repo, commit git.Hash) (int64, error) {
	sizes, err := repo.Sizes(ctx, commit)
	if err != nil {
		return 0, fmt.Errorf("measure a checkout: %w", err)
	}
	var sum int64
	for _, n := range sizes {
		sum += onDisk(n)
	}
	return sum, nil
}
