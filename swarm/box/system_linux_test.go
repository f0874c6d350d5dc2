package box

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestHiddenDevices holds that paths below /dev can be hidden, though the /dev of an
// agent has none of them: most systems have a /dev/mqueue.
func TestHiddenDevices(t *testing.T) {
	t.Parallel()
	need(t, Full)
	g := newFixture(t, t.TempDir())
	p := g.place()
	entries, err := os.ReadDir("/dev")
	if err != nil {
		t.Fatal(err)
	}
	own := append(harmless(), "shm", "pts", "ptmx", "fd", "stdin", "stdout", "stderr")
	var all []string
	for _, e := range entries {
		if !slices.Contains(own, e.Name()) {
			all = append(all, "/dev/"+e.Name())
		}
	}
	if len(all) == 0 {
		t.Skip("/dev has no entry that agents do not have")
	}
	p.Hide = append(all, "/dev/null")
	if out := run(t, compose(t, Full, p), "read", all...); out != "" {
		t.Errorf("the agent could %s", out)
	}
}

func TestOwnsGroup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir+"/mine/cgroup.procs", "")
	write(t, dir+"/theirs/cgroup.procs", "")
	if err := os.Chmod(dir+"/theirs/cgroup.procs", 0o444); err != nil {
		t.Fatal(err)
	}
	root := os.Getuid() == 0 // who writes to all
	for _, tt := range []struct {
		groups string
		want   bool
	}{
		{"0::/mine\n", true}, {"0::/theirs\n", root}, {"0::/elsewhere\n", true},
		{"1:cpu:/x\n0::/theirs\n", root}, {"1:cpu:/mine\n", false}, {"", false},
	} {
		if got := ownsGroup(tt.groups, filepath.Join(dir, "none"), dir); got != tt.want {
			t.Errorf("ownsGroup(%q) = %v, want %v", tt.groups, got, tt.want)
		}
	}
}
