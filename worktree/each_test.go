package worktree

import (
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/internal/testing/campaign"
	"agentswarm/worktree/workspace"
)

// each runs a test on every backend, as a subtest of the backend's name. It
// skips an unavailable backend with the reason.
//
// An overlay must be mounted, and clones need a disk that makes them: those
// subtests run in a separate process, which has them.
func each(t *testing.T, test func(t *testing.T, b workspace.Backend)) {
	t.Helper()
	eachOf(t, workspace.Backends(), test)
}

// inGate are the backends of a test whose subject others share: in the gate
// those given, in a campaign all.
func inGate(t *testing.T, some ...workspace.Backend) []workspace.Backend {
	t.Helper()
	if campaign.Rounds(t, 0, 1) == 1 {
		return workspace.Backends()
	}
	return some
}

// hasTurn reports whether a backend runs case i of a test whose subject all
// backends share. In the gate the backends take turns, so that each case runs
// once; in a campaign each backend runs each case. Clones have no turn: they
// need a disk of their own for each test.
func hasTurn(t *testing.T, i int, b workspace.Backend) bool {
	t.Helper()
	if campaign.Rounds(t, 0, 1) == 1 {
		return true
	}
	turns := []workspace.Backend{workspace.Linked, workspace.Overlay, workspace.Copied}
	if !overlays(t) {
		turns = []workspace.Backend{workspace.Linked, workspace.Copied}
	}
	return turns[i%len(turns)] == b
}

// private are the backends whose workspaces have a git dir of their own.
func private() []workspace.Backend {
	return []workspace.Backend{workspace.Overlay, workspace.Reflink, workspace.Copied}
}

// eachOf is [each] for some of them.
func eachOf(t *testing.T, backends []workspace.Backend, test func(t *testing.T, b workspace.Backend)) {
	t.Helper()
	for _, b := range backends {
		t.Run(string(b), func(t *testing.T) {
			t.Parallel()
			if !apart(t, b) {
				test(t, b)
			}
		})
	}
}

// fixtureOn is a fixture whose workspaces are made by a backend, and can be
// worked in by this process.
func fixtureOn(t testing.TB, b workspace.Backend, args ...string) *fixture {
	t.Helper()
	f := newFixture(t, args...)
	f.kind, f.here = b, map[string][]workspace.Mount{}
	return f
}

// stand sets the path of the next workspace. A single path for all of them
// would be in the way of the repository and of each other.
func (f *fixture) stand(name string) {
	f.t.Helper()
	if f.here == nil {
		return
	}
	f.trees.At = ""
	if f.kind == workspace.Overlay {
		f.trees.At = filepath.Join(f.home, "at", name)
		f.mkdir(f.trees.At)
	}
}

// at is the folder in which an agent works in a workspace. An overlay is there
// from the first call on until it is captured or released.
func (f *fixture) at(w *workspace.Workspace) string {
	f.t.Helper()
	if f.here != nil && w.Kind() == workspace.Overlay && f.here[w.Dir] == nil {
		must(f.t, mountAll(w.Mounts()))
		f.here[w.Dir] = w.Mounts()
		f.t.Cleanup(func() { f.left(w) })
	}
	return w.Path()
}

// left is called when no agent works in a workspace any more.
func (f *fixture) left(w *workspace.Workspace) {
	f.t.Helper()
	must(f.t, unmountAll(f.here[w.Dir]))
	delete(f.here, w.Dir)
}

// release releases a workspace without a running agent.
func (f *fixture) release(w *workspace.Workspace, c *Capture) (Released, error) {
	f.t.Helper()
	f.left(w)
	return f.trees.Release(f.t.Context(), *w, c)
}

// inTrash is where something of a workspace lies in an entry of the trash: a
// file of it below tree/, or a part of its git dir.
func (f *fixture) inTrash(path string) string {
	file, is := strings.CutPrefix(path, workspace.TreeName+"/")
	switch {
	case f.kind == "" || f.kind == workspace.Linked || path == workspace.TreeName:
		return path
	case !is:
		return filepath.Join(workspace.TreeName, workspace.GitName, path)
	default:
		return filepath.Join(workspace.TreeName, filepath.Base(workspace.Workspace{Backend: f.kind}.Files()), file)
	}
}
