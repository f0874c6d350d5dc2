package risk

import (
	"path"
	"strings"
)

// Marked reports whether a person should look at a change of a file. The path
// is below the top of the repository. Such a file decides about the actions of
// agents, the way git treats other files, or the commands of continuous
// integration.
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
