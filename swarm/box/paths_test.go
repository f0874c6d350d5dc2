package box

import "testing"

func TestCovers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		dir, path string
		want      bool
	}{
		{"/", "/a", true}, {"/", "/", true}, {"/a", "/a", true}, {"/a/", "/a/b", true},
		{"/a", "/ab", false}, {"/a/b", "/a", false}, {"", "/a", false}, {"/a", "", false},
	} {
		if got := covers(tt.dir, tt.path); got != tt.want {
			t.Errorf("covers(%q, %q) = %v", tt.dir, tt.path, got)
		}
	}
}
