package risk

import (
	"path"
	"strings"
)

// Marked reports whether a change of a file, by its path below the top of the
// repository, is one that a person should look at: the file decides what
// agents may do, what git does with others, or what continuous integration
// runs.
func Marked(file string) bool {
	if guarded(file) || isCI(file) {
		return true
	}
	base := strings.ToLower(path.Base(file))
	if strings.HasPrefix(base, ".git") { // .gitattributes, .gitmodules, .gitignore
		return true
	}
	for element := range strings.SplitSeq(strings.ToLower(path.Dir(file)), "/") {
		switch element {
		case ".husky", ".githooks", "githooks", ".lefthook":
			return true
		}
	}
	switch base {
	case ".pre-commit-config.yaml", "lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".pre-commit-hooks.yaml", "claude.md", "gemini.md":
		return true
	}
	return false
}
