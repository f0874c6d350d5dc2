package git

import (
	"context"
	"errors"
	"fmt"
)

// Contains reports whether a commit has another in its past, or is it.
func (r *Repo) Contains(ctx context.Context, commit, ancestor Hash) (bool, error) {
	_, err := r.Run(ctx, Cmd{Args: []string{
		"merge-base", "--is-ancestor", string(ancestor), string(commit),
	}})
	var bad *Error
	if errors.As(err, &bad) && bad.Code == 1 {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("compare %s with %s: %w", ancestor.Short(), commit.Short(), err)
	}
	return true, nil
}
