package precheck

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"agentswarm/worktree/workspace"
)

// Cost is the cost of a workspace on a file system.
type Cost struct {
	Cheap  bool
	Detail string // for a person; a single line
}

// CostOn tells the cost of a workspace below a folder, or below the nearest folder
// above it that exists, with the backends that work there. It names the file
// systems that would make it cheaper.
func CostOn(dir string, works []workspace.Backend) (Cost, error) {
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	name, err := fileSystem(dir)
	if err != nil {
		return Cost{}, err
	}
	return costOf(name, works), nil
}

// cloneSystems are the file systems that can share the content of files between
// copies.
const cloneSystems = "btrfs, XFS or bcachefs"

// overlaySystems are those that can hold the changes of an overlay.
const overlaySystems = "ext4, XFS, btrfs or tmpfs"

// costOf is the cost on a file system of that name; empty: it is not known.
func costOf(name string, works []workspace.Backend) Cost {
	if name == "" {
		name = "unknown file system"
	}
	switch {
	case slices.Contains(works, workspace.Overlay):
		return Cost{true, name + ": an overlay takes only what its agent changes"}
	case slices.Contains(works, workspace.Reflink):
		return Cost{true, name + ": files are cloned, and take space once they change"}
	default:
		return Cost{false, fmt.Sprintf("%s: each workspace is a copy of the checkout; cheaper are %s, which clone files, "+
			"or overlays in a sandbox on %s", name, cloneSystems, overlaySystems)}
	}
}
