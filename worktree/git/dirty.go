package git

import (
	"fmt"
	"strings"
)

// DirtyError says that files of a checkout would be overwritten: they were
// changed, staged, or are not git's. Or checkouts of submodules are in the way.
type DirtyError struct {
	Dir     string
	Paths   []string
	Modules []ModuleInTheWay
}

// ModuleInTheWay is a submodule whose checkout lies where a change of its parent
// puts files or another commit.
type ModuleInTheWay struct {
	Path string // in the parent
	Want Hash   // the commit that the change records; empty: the change puts files there
}

func (e *DirtyError) Error() string {
	var parts []string
	if len(e.Paths) > 0 || len(e.Modules) == 0 {
		parts = append(parts, fmt.Sprintf("local changes in %s would be overwritten: %s", e.Dir, some(e.Paths)))
	}
	var files, commits []string
	for _, m := range e.Modules {
		if m.Want == "" {
			files = append(files, m.Path)
		} else {
			commits = append(commits, m.Path)
		}
	}
	if len(files) > 0 {
		parts = append(parts, fmt.Sprintf("checkouts of submodules in %s are in the way: %s", e.Dir, some(files)))
	}
	if len(commits) > 0 {
		parts = append(parts, fmt.Sprintf("checkouts of submodules in %s are at another commit: %s", e.Dir, some(commits)))
	}
	return strings.Join(parts, "; ")
}

// Hint tells the user how to make the checkout clean.
func (e *DirtyError) Hint() string {
	var hints []string
	if len(e.Paths) > 0 || len(e.Modules) == 0 {
		hints = append(hints, "commit, stash or move these files away first")
	}
	files := false
	for _, m := range e.Modules {
		if m.Want == "" {
			files = true
			continue
		}
		hints = append(hints, fmt.Sprintf("check out commit %s in %q, or move that folder away", m.Want.Short(), m.Path))
	}
	if files {
		hints = append(hints, "remove a submodule's checkout with `git submodule deinit PATH`")
	}
	return strings.Join(hints, "; ")
}

// some names the first of some paths, and counts the others.
func some(paths []string) string {
	const shown = 5
	var named []string
	for _, p := range paths[:min(shown, len(paths))] {
		named = append(named, fmt.Sprintf("%q", p))
	}
	text := strings.Join(named, ", ")
	if more := len(paths) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
