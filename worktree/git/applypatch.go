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

// ApplyRequest is a patch for the entries of an index.
type ApplyRequest struct {
	File    string    // required
	Text    io.Reader // the patch; nil: the content of File, which else is only its name
	Index   string    // the index file, required; it is changed
	Reverse bool      // take the patch out again
}

// ApplyPatch changes the entries of an index by a patch, all or none. The blobs
// that it makes go into the quarantine. No file of a checkout is touched. A
// patch that does not fit is a [*PatchError].
func (q *Quarantine) ApplyPatch(ctx context.Context, a ApplyRequest) error {
	args := []string{"apply", "--cached", "-p1", "--whitespace=nowarn"}
	if a.Reverse {
		args = append(args, "--reverse")
	}
	from := a.File
	if a.Text != nil {
		from = "-"
	}
	_, err := q.Run(ctx, Cmd{
		Stdin:  a.Text,
		Args:   append(args, "--", from),
		Env:    []string{"GIT_INDEX_FILE=" + a.Index},
		Config: []string{"apply.whitespace=nowarn", "apply.ignoreWhitespace=no"},
	})
	var bad *Error
	if errors.As(err, &bad) && bad.Errno() == 0 {
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
