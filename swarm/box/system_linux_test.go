package box

import (
	"os"
	"path/filepath"
	"testing"
)

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
