package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// offline keeps git from fetching objects that a partial clone lacks. A query
// about known objects so waits for no network and runs no program.
func offline() []string { return []string{"GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1"} }

// Published reports whether a revision is on a branch of a remote, as far as
// was fetched or pushed from here. A revision that is none is a [*RevError].
func (r *Repo) Published(ctx context.Context, rev string) (bool, error) {
	if rev == "" || strings.ContainsAny(rev, "\x00\n") {
		return false, &RevError{Rev: rev, Reason: "is not a revision"}
	}
	out, err := r.Run(ctx, Cmd{
		Args: []string{"for-each-ref", "--count=1", "--format=%(refname)", "--contains=" + rev, "refs/remotes"},
		Env:  offline(),
	})
	var bad *Error
	if errors.As(err, &bad) {
		return false, &RevError{Rev: rev, Reason: "cannot be looked for on branches of remotes"}
	}
	return len(out) > 0, err
}

// Leads reports whether a revision leads to a commit that is here.
func (r *Repo) Leads(ctx context.Context, rev string) (bool, error) {
	if rev == "" || strings.ContainsAny(rev, "\x00\n") {
		return false, nil
	}
	_, err := r.Run(ctx, Cmd{
		Args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", rev + "^{commit}"},
		Env:  offline(),
	})
	var bad *Error
	if errors.As(err, &bad) && bad.Code >= 0 {
		return false, nil
	}
	return err == nil, err
}

// refNamesLimit is how long the list of all names of refs may be.
const refNamesLimit = 64 << 20

// RefNames lists the full names of refs below prefixes. Where they are too
// long the error is a [*LongError].
func (r *Repo) RefNames(ctx context.Context, prefixes ...string) ([]string, error) {
	out := Bounded{Limit: refNamesLimit}
	_, err := r.Run(ctx, Cmd{
		Args: append([]string{"for-each-ref", "--format=%(refname)"}, prefixes...), Stdout: &out,
	})
	text, err := out.Bytes(err)
	if err != nil {
		return nil, fmt.Errorf("list refs: %w", err)
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' }), nil
}
