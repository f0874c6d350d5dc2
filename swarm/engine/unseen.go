package engine

import (
	"fmt"
	"strings"
)

// mentionUnseen adds a line to the prompt where the user has uncommitted changes
// that the workspace does not have: an agent might miss them, or make them again.
// A conversation that is continued has the line already.
func (t *attempt) mentionUnseen() {
	n := t.engine.config.Unseen
	if n == 0 || t.continued != nil || len(t.call.Command) > 0 || t.call.SubjectOf != "" {
		return
	}
	files := "1 file"
	if n > 1 {
		files = fmt.Sprintf("%d files", n)
	}
	t.prompt = strings.TrimRight(t.prompt, "\n") + "\n\nNote: the user's checkout has uncommitted changes in " + files +
		" that are not in your workspace.\n"
}
