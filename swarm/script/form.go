package script

import (
	"path/filepath"
	"strings"
)

// Form is the set of rules that a script was written for. The zero value is our
// own form, which is the stricter.
type Form string

// The forms of scripts.
const (
	FormOwn Form = ""
	// FormClaude is the form of Claude Code. Calls without an isolation share a
	// workspace. A mistake in a thunk or a stage makes a null in its slot. A
	// return value keeps the part that JSON keeps.
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
