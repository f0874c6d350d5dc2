package host

import (
	"testing"
	"time"
)

// TestScriptCheckNames: checks that begin at once have workspaces of their own.
func TestScriptCheckNames(t *testing.T) {
	t.Parallel()
	var tools Tools
	now := time.Now()
	if one, other := tools.checkName(now), tools.checkName(now); one == other {
		t.Errorf("two checks are called %s", one)
	}
}
