package git

import (
	"errors"
	"fmt"
	"regexp"
	"sync"
)

// FailedFilter is a required filter that failed on a file.
type FailedFilter struct{ Filter, Path string }

func (f FailedFilter) String() string {
	return fmt.Sprintf("your filter %q failed on %q", f.Filter, f.Path)
}

// filterFailure is how git, under LC_ALL=C, says that a required filter failed. Older
// versions quote the name of clean filters only.
var filterFailure = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^fatal: (.+): (?:clean|smudge) filter '?(.+?)'? failed$`)
})

// FilterFailure is the required filter because of which a git ended; nil: it ended
// for another reason.
func FilterFailure(err error) *FailedFilter {
	var failed *Error
	if !errors.As(err, &failed) {
		return nil
	}
	m := filterFailure().FindStringSubmatch(failed.Stderr)
	if m == nil {
		return nil
	}
	return &FailedFilter{Path: m[1], Filter: m[2]}
}
