package git

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestRemoveFailedPack removes files of a failed transfer, and no file that is
// older, in use, or not ours.
func TestRemoveFailedPack(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells which files are open")
	}
	common, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(common, "objects", "pack")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"tmp_pack_left": "", "tmp_idx_left": "", "tmp_pack_old": "", "pack-1.keep": KeepMark + " mine\n",
		"pack-2.keep": KeepMark + " other\n", "pack-4.keep": KeepMark + "\n", "pack-3.keep": "the user's\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "tmp_pack_old"), old, old); err != nil {
		t.Fatal(err)
	}
	used, err := os.Create(filepath.Join(dir, "tmp_pack_used"))
	if err != nil {
		t.Fatal(err)
	}
	defer used.Close()
	const kept = "pack-2.keep pack-3.keep pack-4.keep "
	for _, step := range []struct {
		indexing bool
		want     string
	}{
		{true, kept + "tmp_idx_left tmp_pack_left tmp_pack_old tmp_pack_used"},
		{false, kept + "tmp_pack_old tmp_pack_used"},
	} {
		err := (&Repo{CommonDir: common}).removeFailedPack(time.Now(), KeepMark+" mine", func() bool { return step.indexing })
		if err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var left []string
		for _, e := range entries {
			left = append(left, e.Name())
		}
		if got := strings.Join(left, " "); got != step.want {
			t.Errorf("while another process indexes (%t) left %s, want %s", step.indexing, got, step.want)
		}
	}
}
