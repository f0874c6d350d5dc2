package store

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestScratch checks that a scratch folder has a short path of its own, and is
// left over once its owner is gone.
func TestScratch(t *testing.T) {
	t.Parallel()
	r, o := created(t, scratch(t))
	mustClose(t, o)
	private := filepath.Join(r.Dir, "a", "a1", "1", "box")
	other := filepath.Join(r.Dir, "a", "a1", "2", "box")
	if r.Scratch(private) == r.Scratch(other) {
		t.Fatalf("two boxes share %s", r.Scratch(private))
	}
	if in := filepath.Dir(filepath.Dir(r.Scratch(private))); in != filepath.Dir(r.State().Dir) {
		t.Errorf("it lies in %s, want below %s", in, filepath.Dir(r.State().Dir))
	}
	left := func() []string {
		t.Helper()
		all, err := r.State().LeftScratches()
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if got := left(); len(got) > 0 {
		t.Fatalf("before there was one, %q are left", got)
	}
	for _, p := range []string{private, other} {
		if dir, err := r.MakeScratch(p); err != nil || dir != r.Scratch(p) {
			t.Fatalf("MakeScratch = %s, %v", dir, err)
		}
	}
	// A new folder has no record yet.
	if err := os.Mkdir(filepath.Join(r.State().scratches(), "new"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := left(); len(got) > 0 {
		t.Errorf("while their boxes are there, %q are left", got)
	}
	if err := os.RemoveAll(private); err != nil {
		t.Fatal(err)
	}
	if got, want := left(), []string{r.Scratch(private)}; !slices.Equal(got, want) {
		t.Errorf("left are %q, want %q", got, want)
	}
}
