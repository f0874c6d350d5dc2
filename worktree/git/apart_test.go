package git

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestApartTake: a blob is stored only under the name that was requested.
func TestApartTake(t *testing.T) {
	t.Parallel()
	y := newObjectFixture(t)
	index := filepath.Join(y.dir, ".git", "index")
	const text = "blob 4\x00new\n"
	const id = Hash("3e757656cf36eca53338e520d134963a44f793f8")
	tests := []struct {
		name string
		ids  []Hash
		text string // content stored under that name
		good bool
	}{
		{"as it says", []Hash{id, id}, text, true},
		{"nothing", nil, text, true},
		{"of another content", []Hash{id}, "blob 4\x00old\n", false},
		{"no blob", []Hash{id}, "tree 0\x00", false},
		{"no object", []Hash{id}, "", false},
		{"one that is nowhere", []Hash{Hash(string(id[:39]) + "0")}, text, false},
		{"no name", []Hash{"--all"}, text, false},
		{"a tree of the repository", []Hash{Hash(y.git("rev-parse", "HEAD^{tree}"))}, text, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			q, err := y.repo.Quarantine(filepath.Join(dir, "objects"))
			y.must(err)
			a, err := q.Apart(ApartRequest{Dir: filepath.Join(dir, "apart"), Index: index, Confine: noConfine})
			y.must(err)
			var packed bytes.Buffer
			z := zlib.NewWriter(&packed)
			_, err = z.Write([]byte(tt.text))
			y.must(errors.Join(err, z.Close()))
			path := filepath.Join(a.objects(), string(id[:2]), string(id[2:]))
			y.must(os.MkdirAll(filepath.Dir(path), 0o700))
			y.must(os.WriteFile(path, packed.Bytes(), 0o600))
			err = a.Take(t.Context(), slices.Clone(tt.ids))
			if (err == nil) != tt.good {
				t.Fatalf("Take: %v, want success: %v", err, tt.good)
			}
			if len(tt.ids) == 0 || !tt.good {
				return
			}
			y.must(os.RemoveAll(a.Dir))
			if out, err := q.Run(t.Context(), Cmd{Args: []string{"cat-file", "blob", string(id)}}); err != nil || string(out) != "new\n" {
				t.Errorf("the object is %q, %v", out, err)
			}
		})
	}
}

func noConfine(context.Context, ConfineRequest) (int, error) {
	return -1, errors.New("nothing was to run")
}

func TestLastOf(t *testing.T) {
	t.Parallel()
	got := lastOf([]string{"A=1", "B=", "A=2=3", "C", "B=x"})
	if want := []string{"A=2=3", "B=x", "C"}; !slices.Equal(got, want) {
		t.Errorf("lastOf = %q, want %q", got, want)
	}
}
