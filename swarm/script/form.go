package script

import (
	"path/filepath"
	"strings"
)

// Form says which rules a script was written for. The zero value is our own
// form, which is the stricter one.
type Form string

// The forms of scripts.
const (
	FormOwn Form = ""
	// FormClaude is the form of Claude Code. Calls that do not say where they
	// work share a workspace. A mistake in a thunk or a stage makes a null of
	// one slot. A return value holds what JSON keeps of it.
	FormClaude Form = "claude"
)

// ClaudeFolder is where Claude Code keeps workflows, below a repository or a
// home folder.
const ClaudeFolder = ".claude/workflows"

// FormOf returns the form of the script in a file: that of Claude Code where
// the file lies in or below a folder [ClaudeFolder].
func FormOf(path string) Form {
	dir := "/" + strings.Trim(filepath.ToSlash(filepath.Dir(filepath.Clean(path))), "/") + "/"
	if strings.Contains(dir, "/"+ClaudeFolder+"/") {
		return FormClaude
	}
	return FormOwn
}

// form is that of the workflow that runs now.
func (m *machine) form() Form { return m.program().source.Form }
