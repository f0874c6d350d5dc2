// Package scope says which paths a patch may touch: what a set of globs
// matches, and whether two sets can match the same path.
//
// It is pure. It knows nothing of repositories; paths are names from the top
// of one, with slashes, and may hold any byte but NUL.
//
// A glob is one of doublestar: `*`, `?`, `[a-z]`, `[!a-z]`, `{a,b}`, `\` before
// a character that is meant as it is, and `**` for any number of folders. None
// but the last matches a slash, and names that begin with a dot are like any
// other. A glob without a wildcard means the file of that name and everything
// below the folder of that name; one that ends in a slash means everything
// below the folder.
package scope

import (
	"errors"
	"fmt"
)

// PatternError says that a text is no glob for paths of a repository.
type PatternError struct {
	Pattern string
	Reason  string
	Tip     string
}

// Error is one line, which names the pattern.
func (e *PatternError) Error() string { return fmt.Sprintf("%q %s", clip(e.Pattern), e.Reason) }

// Hint says what would be right; it may be empty.
func (e *PatternError) Hint() string { return e.Tip }

// clip shortens text that a message repeats.
func clip(s string) string {
	const longest = 100
	if runes := []rune(s); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return s
}

// Validate says what is wrong with a pattern, as a [*PatternError].
func Validate(pattern string) error {
	_, err := compile(pattern)
	return err
}

// Match reports whether a path is in the scope of the patterns. No patterns
// are no limits. A pattern that is not valid matches nothing.
func Match(patterns []string, path string) bool {
	return len(Outside(patterns, []string{path})) == 0
}

// Outside lists the paths that are not in the scope of the patterns, in their
// order.
func Outside(patterns, paths []string) []string {
	if len(patterns) == 0 {
		return nil
	}
	s, _ := compileAll(patterns) // what is not valid allows nothing
	var out []string
	for _, p := range paths {
		if !s.match(p) {
			out = append(out, p)
		}
	}
	return out
}

// set is what a list of patterns means: each of its globs adds paths.
type set []glob

// compileAll reads all patterns. With an error comes the set of those that
// are valid.
func compileAll(patterns []string) (set, error) {
	var all set
	var errs error
	for _, p := range patterns {
		globs, err := compile(p)
		errs = errors.Join(errs, err)
		all = append(all, globs...)
	}
	return all, errs
}
