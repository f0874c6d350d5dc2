package worktree

import (
	"strings"
	"testing"
	"time"

	"agentswarm/worktree/trash"
)

// TestTrashRecordsLargeFiles names the large files of a workspace in its record.
func TestTrashRecordsLargeFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n")
	f.open()
	f.trees.MaxFile = 1000
	w := f.lease(base)
	f.write(f.at(w), "model.bin", string(make([]byte, 1001)))
	r, err := f.release(w, f.capture(w))
	must(t, err)
	_, kept, err := trash.Sweep(t.Context(), trash.SweepRequest{Trash: f.trees.Trash, Now: time.Now(), Age: time.Hour, Lacks: trash.Room{Bytes: 1}})
	must(t, err)
	if len(kept) != 1 || kept[0].Path != r.Trashed || strings.Join(kept[0].Large, " ") != "model.bin" {
		t.Errorf("kept %+v, want model.bin in %s", kept, r.Trashed)
	}
}
