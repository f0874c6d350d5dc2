package precheck

import (
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/worktree/workspace"
)

func TestCost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		works []workspace.Backend
		cheap bool
		want  string
	}{
		{"ext4", []workspace.Backend{workspace.Overlay, workspace.Copied, workspace.Linked}, true, "ext4: an overlay takes only what its agent changes"},
		{"XFS", []workspace.Backend{workspace.Reflink, workspace.Copied, workspace.Linked}, true, "XFS: files are cloned, and take space once they change"},
		{"ext4", []workspace.Backend{workspace.Copied, workspace.Linked}, false, "ext4: each workspace is a copy of the checkout; cheaper are btrfs, XFS or bcachefs, which clone files, or overlays"},
		{"", nil, false, "unknown file system: each workspace is a copy"},
	} {
		got := costOf(tt.name, tt.works)
		if got.Cheap != tt.cheap || !strings.HasPrefix(got.Detail, tt.want) {
			t.Errorf("costOf(%q, %v) = %+v, want %v, %s", tt.name, tt.works, got, tt.cheap, tt.want)
		}
	}
	// The folder of the state is not there before the first run.
	got, err := CostOn(filepath.Join(t.TempDir(), "not", "there"), []workspace.Backend{workspace.Linked})
	if err != nil || got.Cheap || got.Detail == "" {
		t.Errorf("CostOn = %+v, %v", got, err)
	}
}
