// Package scope defines the paths that a patch may touch: whether a set of
// globs matches a path, and whether two sets can match the same path.
//
// It is pure. It knows nothing of repositories; paths are names from the top of
// a repository, with slashes, and may hold any byte but NUL.
//
// Globs have the syntax of doublestar: `*`, `?`, `[a-z]`, `[!a-z]`, `{a,b}`,
// `\` before a literal character, and `**` for any number of folders. Only `**`
// matches a slash, and names that begin with a dot are like any other. A glob
// without a wildcard means the file of that name and everything below the
// folder of that name. A glob that ends in a slash means everything below the
// folder.
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

// Error names the pattern, in a single line.
func (e *PatternError) Error() string { return fmt.Sprintf("%q %s", clip(e.Pattern), e.Reason) }

// Hint returns the way out; it may be empty.
func (e *PatternError) Hint() string { return e.Tip }

// clip shortens text that a message repeats.
func clip(s string) string {
	const longest = 100
	if runes := []rune(s); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return s
}

// Validate returns a [*PatternError] for a pattern that is not valid.
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
	s, _ := compileAll(patterns) // invalid patterns allow nothing
	var out []string
	for _, p := range paths {
		if !s.match(p) {
			out = append(out, p)
		}
	}
	return out
}

// set is a list of patterns in parsed form: each of its globs adds paths.
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
