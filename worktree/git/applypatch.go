package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sync"
)

// PatchError says that a patch does not fit the files it is for.
type PatchError struct {
	File   string
	Paths  []string // as far as git named them
	Reason string   // git's own words
}

func (e *PatchError) Error() string {
	return fmt.Sprintf("patch %s does not apply: %s", e.File, e.Reason)
}

// ApplyRequest is a patch file for the files of a checkout.
type ApplyRequest struct {
	File    string    // required
	Text    io.Reader // the patch; nil: what is in File, which else only names it
	Reverse bool      // take it out again
	Check   bool      // only see whether it would go
}

// ApplyPatch changes files of this checkout by a patch: all or none, and the
// index is not touched. One that does not fit is a [*PatchError].
func (r *Repo) ApplyPatch(ctx context.Context, a ApplyRequest) error {
	args := []string{"apply", "-p1", "--whitespace=nowarn"}
	if a.Reverse {
		args = append(args, "--reverse")
	}
	if a.Check {
		args = append(args, "--check")
	} else {
		// Half a patch is nobody's wish: what has begun is not cancelled.
		ctx = context.WithoutCancel(ctx)
	}
	from := a.File
	if a.Text != nil {
		from = "-"
	}
	_, err := r.Run(ctx, Cmd{
		Stdin:  a.Text,
		Args:   append(args, "--", from),
		Config: []string{"apply.whitespace=nowarn", "apply.ignoreWhitespace=no"},
	})
	var bad *Error
	if errors.As(err, &bad) {
		return &PatchError{File: a.File, Paths: patchPaths(bad.Stderr), Reason: oneLine(bad.Stderr)}
	}
	if err != nil {
		return fmt.Errorf("apply %s: %w", a.File, err)
	}
	return nil
}

// failed is how git names a path whose hunk does not fit, under LC_ALL=C.
var failed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^error: (?:patch failed: )?(.+?)(?::\d+$|: .*$)`)
})

// patchPaths are the paths that git named on stderr.
func patchPaths(stderr string) []string {
	var paths []string
	for _, m := range failed().FindAllStringSubmatch(stderr, -1) {
		paths = append(paths, m[1])
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}
