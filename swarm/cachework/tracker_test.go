package cachework

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// home writes files of the sizes given, in bytes, below a new folder.
func home(t *testing.T, files map[string]int) string {
	t.Helper()
	dir := t.TempDir()
	for name, size := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestTracker(t *testing.T) {
	t.Parallel()
	big := map[string]int{".cache/go-build/a/x": 1 << 20, ".cache/go-build/b": 1 << 19, "go/pkg/mod/m": 10, ".history": 5}
	small := map[string]int{".cache/tool/x": 1000}
	other := map[string]int{".cache/go-build/a/y": 1 << 21}
	sized := map[string]int{".cache/go-build/a/x": 1<<20 + 1, ".cache/go-build/b": 7}
	for _, tt := range []struct {
		name string
		give []map[string]int
		step string // of the last; empty: that of the others
		want int    // the number of the command that shows it; 0: none
	}{
		{"three alike", []map[string]int{big, big, big, big}, "", 3},
		{"others between", []map[string]int{big, other, small, big, sized, big}, "", 6},
		{"two", []map[string]int{big, big, other}, "", 0},
		{"little", []map[string]int{small, small, small, small}, "", 0},
		{"other sizes", []map[string]int{big, big, sized}, "", 0},
		{"another step", []map[string]int{big, big, big}, "setup", 0},
		{"nothing", []map[string]int{nil, nil, nil}, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var tracker Tracker
			got := 0
			for i, files := range tt.give {
				step := "verify"
				if tt.step != "" && i == len(tt.give)-1 {
					step = tt.step
				}
				found, err := tracker.Add(step, home(t, files))
				if err != nil {
					t.Fatal(err)
				}
				if found == nil {
					continue
				}
				if got != 0 {
					t.Errorf("command %d shows it again", i+1)
				}
				got = i + 1
				if want := (Finding{3, 1<<20 + 1<<19 + 15, ".cache/go-build"}); *found != want {
					t.Errorf("Add = %+v, want %+v", *found, want)
				}
			}
			if got != tt.want {
				t.Errorf("command %d shows it, want %d", got, tt.want)
			}
		})
	}
}

// TestTrackerGivesUp: a run that does not show the pattern is not searched for
// ever, and a missing folder is no error.
func TestTrackerGivesUp(t *testing.T) {
	t.Parallel()
	var tracker Tracker
	for i := range mostCommands {
		dir := home(t, map[string]int{fmt.Sprintf("f%d", i): 1 << 20})
		if i == 0 {
			dir = filepath.Join(dir, "missing")
		}
		if found, err := tracker.Add("verify", dir); found != nil || err != nil {
			t.Fatalf("Add = %v, %v, want nothing", found, err)
		}
	}
	if tracker.wants("verify") {
		t.Error("it looks at one command more")
	}
	if !tracker.wants("setup") {
		t.Error("it does not look at setups")
	}
}
