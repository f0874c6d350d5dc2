package fanout

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// PatternError says that a pattern of --each cannot be used.
type PatternError struct {
	Pattern string
	Reason  string
	Tip     string
}

func (e *PatternError) Error() string {
	return fmt.Sprintf("--each %q %s", e.Pattern, e.Reason)
}

// Hint returns the way out; it may be empty.
func (e *PatternError) Hint() string { return e.Tip }

// Items lists the matches of the patterns among the files of a base and their
// folders: each once, by pattern, then by path. prefix is the user's folder,
// from the top of the repository; patterns are read from there, and items are
// paths from the top.
//
// A pattern that matches nothing is an error: the user asked for all hundred
// agents, not for a hundred less the missing. A pattern matches names that
// begin with a dot only if it has such a name in it, as in a shell. Invalid
// patterns are a [*PatternError], too.
func Items(files []string, prefix string, patterns []string) ([]string, error) {
	folders := foldersOf(files)
	var items []string
	seen := map[string]bool{}
	for _, pattern := range patterns {
		m, err := newMatcher(pattern, prefix)
		if err != nil {
			return nil, err
		}
		var found []string
		if !m.foldersOnly {
			found = m.filter(files)
		}
		found = append(found, m.filter(folders)...)
		if len(found) == 0 {
			return nil, &PatternError{
				Pattern: pattern, Reason: "matches nothing in the base",
				Tip: "only committed files count; --with-changes includes uncommitted files",
			}
		}
		slices.Sort(found)
		for _, item := range found {
			if !seen[item] {
				seen[item] = true
				items = append(items, item)
			}
		}
	}
	return items, nil
}

type matcher struct {
	pattern     string
	foldersOnly bool
	dots        bool // hidden names are meant
}

func newMatcher(pattern, prefix string) (*matcher, error) {
	bad := func(reason string) error { return &PatternError{Pattern: pattern, Reason: reason} }
	p := pattern
	switch {
	case p == "":
		return nil, bad("is empty")
	case strings.HasPrefix(p, "/"):
		return nil, bad("is absolute: patterns are read from the folder you are in")
	case strings.ContainsRune(p, 0):
		return nil, bad("holds a NUL byte")
	}
	m := &matcher{foldersOnly: strings.HasSuffix(p, "/")}
	p = strings.TrimRight(p, "/")
	for strings.HasPrefix(p, "./") {
		p = strings.TrimLeft(p[2:], "/")
	}
	if slices.Contains(strings.Split(p, "/"), "..") {
		return nil, bad("leaves the folder you are in")
	}
	if p == "" || p == "." {
		return nil, bad("names the folder you are in itself")
	}
	if !doublestar.ValidatePattern(p) {
		return nil, bad("is not a pattern: a bracket, a brace or a backslash is left open")
	}
	m.dots = strings.HasPrefix(p, ".") || strings.Contains(p, "/.") ||
		strings.Contains(p, "{.") || strings.Contains(p, ",.")
	m.pattern = escape(prefix) + p
	return m, nil
}

func (m *matcher) filter(paths []string) []string {
	var found []string
	for _, p := range paths {
		if !m.dots && hidden(p) {
			continue
		}
		if doublestar.MatchUnvalidated(m.pattern, p) {
			found = append(found, p)
		}
	}
	return found
}

// escape makes a path match itself only.
func escape(p string) string {
	return strings.NewReplacer(
		`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`,
	).Replace(p)
}

func hidden(p string) bool {
	return strings.HasPrefix(p, ".") || strings.Contains(p, "/.")
}

// foldersOf lists every folder that holds any of the files, at any depth.
func foldersOf(files []string) []string {
	seen := map[string]bool{}
	var folders []string
	for _, f := range files {
		for dir := path.Dir(f); dir != "." && !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			folders = append(folders, dir)
		}
	}
	return folders
}
