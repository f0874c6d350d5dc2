package survey

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/worktree/baseline"
	"agentswarm/worktree/workspace"
)

// TestWalkGone holds that a workspace which is deleted under a capture is no
// wish to delete all files.
func TestWalkGone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "space")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(dir+"/new", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	_, err := Take(t.Context(), Request{
		Workspace: workspace.Workspace{Dir: dir}, Base: baseline.New(nil, nil),
		Ignored: func(_ context.Context, paths []string) ([]bool, error) {
			return make([]bool, len(paths)), os.RemoveAll(dir)
		},
	})
	var gone *GoneError
	if !errors.As(err, &gone) {
		t.Errorf("Take = %v, want a %T", err, gone)
	}
}

// TestWalkMoves holds that a folder which is none any more once the walk comes
// to it holds nothing, and that nothing outside is looked at.
func TestWalkMoves(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	if err := errors.Join(os.WriteFile(outside+"/secret", nil, 0o600), os.Symlink(outside, dir+"/link"),
		os.WriteFile(dir+"/file", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	k := newWalker(Request{Workspace: workspace.Workspace{Dir: dir}, Base: baseline.New(nil, nil)})
	for _, path := range []string{"gone", "link", "file", "file/below"} {
		entries, ok := k.list(path)
		if len(entries) > 0 || !ok || len(k.out.Notes) > 0 {
			t.Errorf("list(%q) = %v, %t with notes %v", path, entries, ok, k.out.Notes)
		}
	}
}

// TestManyLargeFiles bounds the notes on them.
func TestManyLargeFiles(t *testing.T) {
	t.Parallel()
	s := &Survey{}
	for i := range 2*maxLarge + 7 {
		s.LeaveOut(strings.Repeat("x", i+1), &TooLargeError{Size: 5}, &baseline.Index{})
	}
	list, more := s.ListLarge()
	notes := LargeNotes(list, more)
	if len(list) != maxLarge || more != maxLarge+7 || len(notes) != maxLargeNotes+1 {
		t.Fatalf("listed %d, more %d, notes %d", len(list), more, len(notes))
	}
	if last := notes[maxLargeNotes]; last.Kind != MoreTooLarge || last.Size != 2*maxLarge+7-maxLargeNotes {
		t.Errorf("the last note is %+v", last)
	}
	if s.LeaveOut("y", errors.New("other"), &baseline.Index{}) {
		t.Error("another error is taken for a large file")
	}
}
