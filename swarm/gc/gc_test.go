package gc

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/config"
	"agentswarm/swarm/diskwatch"
	"agentswarm/swarm/store"
)

// TestGcMakesRoom sweeps young entries of the trash while its disk is low, and
// names the only copies that stay.
func TestGcMakesRoom(t *testing.T) {
	t.Parallel()
	state := store.Open(t.TempDir(), "repo", "/repo")
	for name, large := range map[string]string{"plain": "", "model": `,"large":["model.bin"]`} {
		dir := filepath.Join(state.Trash(), name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf(`{"entry":%q,"time":%q,"run":"r","workspace":{"name":%q},"commit":"c"%s}`,
			name, time.Now().Format(time.RFC3339), name, large)
		if err := os.WriteFile(filepath.Join(dir, "swarm-trash.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	free := int64(1 << 40)
	sweep := func() string {
		c := &collector{report: &Report{}, Request: Request{
			Remover: Remover{State: state}, Now: time.Now(),
			Retention: config.Retention{TrashAge: time.Hour, TrashSize: 1 << 30},
			Space: func(string) (diskwatch.Space, error) {
				return diskwatch.Space{Free: free, Total: 1 << 41}, nil
			},
		}}
		if err := c.workspaces(t.Context()); err != nil {
			t.Fatal(err)
		}
		var text string
		for _, r := range c.report.Removed {
			text += "removed " + r.Name + "; "
		}
		for _, k := range c.report.Kept {
			text += "kept " + filepath.Base(k.Path) + ": " + k.Reason
		}
		return text
	}
	if got := sweep(); got != "" {
		t.Errorf("with enough space: %s", got)
	}
	free = 1 << 20
	if got, want := sweep(), "removed r/plain; kept model: it has the only copy of model.bin"; got != want {
		t.Errorf("on a low disk: %q, want %q", got, want)
	}
}

// TestGcPassesOverRecords: a record of a landing that cannot be read is named, and
// those of runs that are gone are removed all the same.
func TestGcPassesOverRecords(t *testing.T) {
	t.Parallel()
	state := store.Open(t.TempDir(), "repo", "/repo")
	if err := os.MkdirAll(state.Checkouts(), 0o700); err != nil {
		t.Fatal(err)
	}
	for id, text := range map[string]string{"abcde2.1": "nonsense", "abcde3.1": `{"id":"abcde3.1","phase":"done"}`} {
		dir := filepath.Join(state.Checkouts(), "tx-"+id)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "record.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := &collector{report: &Report{}, Request: Request{Remover: Remover{State: state}}}
	if err := c.transactions(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := c.report.Removed; len(r) != 1 || r[0].Name != "abcde3.1" {
		t.Errorf("removed %+v, want the record of abcde3.1", r)
	}
	kept := c.report.Kept
	if len(kept) != 1 || filepath.Base(kept[0].Path) != "tx-abcde2.1" || !strings.Contains(kept[0].Reason, "`git status`") {
		t.Errorf("kept %+v, want the record of abcde2.1 with advice", kept)
	}
}
