package trash

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentswarm/worktree/git"
)

// TestSweepOnlyCopies holds which entries go for age, size and a disk that is low.
func TestSweepOnlyCopies(t *testing.T) {
	t.Parallel()
	const mb = 1 << 20
	now := time.Now()
	type entry struct {
		age    time.Duration
		size   int64
		sparse bool
		large  []string
		commit git.Hash
	}
	plain := entry{age: 1, size: 4 * mb, commit: "c"}
	model := entry{age: 2, size: 4 * mb, commit: "c", large: []string{"model.bin"}}
	core := entry{age: 3, size: 1 << 40, sparse: true, commit: "c"}
	uncaptured := entry{age: 4, size: 4 * mb}
	old := model
	old.age = 100
	for _, test := range []struct {
		name       string
		entries    []entry
		size       int64
		lacks      Room
		gone, kept string
	}{
		{"a sparse file takes little", []entry{core, plain}, 6 * mb, Room{}, "", ""},
		{"by size, the oldest", []entry{uncaptured, plain, plain}, 9 * mb, Room{}, "0", ""},
		{"large files count apart", []entry{model, plain}, 6 * mb, Room{}, "", ""},
		{"large files stay beyond the size", []entry{model, plain}, mb, Room{}, "1", "0"},
		{"large files go by age", []entry{old, plain}, 6 * mb, Room{}, "0", ""},
		{"old entries make room", []entry{old, plain}, 6 * mb, Room{Bytes: mb}, "0", ""},
		{"for bytes, no only copy", []entry{uncaptured, model, plain, plain}, 99 * mb, Room{Bytes: mb}, "2", "1"},
		{"for files", []entry{plain, plain, plain, plain}, 99 * mb, Room{Files: 5}, "01", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			trash := t.TempDir()
			for i, e := range test.entries {
				name := fmt.Sprint(i)
				dir := filepath.Join(trash, name)
				must(t, os.Mkdir(dir, 0o700))
				large := "[]"
				if len(e.large) > 0 {
					large = `["` + strings.Join(e.large, `","`) + `"]`
				}
				record := fmt.Sprintf(`{"entry":%q,"time":%q,"run":"r","workspace":{"name":%q},"commit":%q,"large":%s}`,
					name, now.Add(-e.age*time.Hour).Format(time.RFC3339Nano), name, e.commit, large)
				must(t, os.WriteFile(filepath.Join(dir, "swarm-trash.json"), []byte(record), 0o600))
				if e.sparse {
					f, err := os.Create(filepath.Join(dir, "core"))
					must(t, err)
					must(t, f.Truncate(e.size))
					must(t, f.Close())
					continue
				}
				must(t, os.WriteFile(filepath.Join(dir, "file"), make([]byte, e.size), 0o600))
			}
			r := SweepRequest{Trash: trash, Now: now, Age: 50 * time.Hour, Size: test.size, Lacks: test.lacks, DryRun: true}
			for range 2 {
				gone, kept, err := Sweep(t.Context(), r)
				must(t, err)
				if names(gone) != test.gone || names(kept) != test.kept {
					t.Errorf("dry run %v: gone %q, kept %q; want %q, %q", r.DryRun, names(gone), names(kept), test.gone, test.kept)
				}
				r.DryRun = false
			}
			for i := range test.entries {
				_, err := os.Lstat(filepath.Join(trash, fmt.Sprint(i)))
				if gone := strings.Contains(test.gone, fmt.Sprint(i)); gone != (err != nil) {
					t.Errorf("entry %d: %v", i, err)
				}
			}
		})
	}
}

func names(all []Swept) (text string) {
	for _, s := range all {
		text += s.Name
	}
	return text
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
