package inspect

import (
	"strings"
	"testing"

	"agentswarm/swarm/task"
)

// TestModuleTitle: the path of a submodule, which an agent chose, begins no patch of
// another file.
func TestModuleTitle(t *testing.T) {
	t.Parallel()
	title := moduleTitle(task.ModulePatch{Path: "lib\ndiff --git a/f b/f\n--- a/f", Base: "1", Commit: "2"})
	if strings.Count(title, "\n") != 1 || !strings.HasSuffix(title, "\n") {
		t.Errorf("moduleTitle = %q, want one line", title)
	}
}
