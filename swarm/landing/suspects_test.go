package landing

import (
	"slices"
	"strings"
	"testing"
)

func TestSuspects(t *testing.T) {
	t.Parallel()
	paths := map[string][]string{
		"a1": {"pkg/a/a.go", "pkg/a/a_test.go"}, "a2": {"pkg/b/b.go"}, "a3": {"pkg/b/c.go", "README.md"}, "a4": {"x/main.go"}, "a5": {"y/main.go"},
	}
	for _, tt := range []struct {
		name           string
		failed, passed string
		want           string
	}{
		{"nothing", "FAIL\n", "", ""},
		{"a file and its line", "pkg/a/a.go:3:4: undefined: x\n", "", "a1"},
		{"below a workspace", "/tmp/w/1/pkg/b/b.go:7: wrong\n", "", "a2"},
		{"the last part only", "    a_test.go:12: got 1\n", "", "a1"},
		{"the last part of two files", "    main.go:12: got 1\n", "", ""},
		{"a package with its module", "--- FAIL: TestX\nFAIL\texample.org/m/pkg/b\t0.012s\n", "", "a2 a3"},
		{"a file before its folder", "pkg/b/b.go:1: wrong\nFAIL\tm/pkg/b\n", "", "a2"},
		{"what the branch prints too", "ok  \tm/pkg/a\t0.013s\nFAIL\tm/pkg/b 0.1s\n", "ok  \tm/pkg/a\t(cached)\nok  \tm/pkg/b\t0.2s\n", "a2 a3"},
		{"quotes", `cannot read "README.md", sorry` + "\n", "", "a3"},
	} {
		if got := strings.Join(Suspects(tt.failed, tt.passed, paths), " "); got != tt.want {
			t.Errorf("%s: Suspects = %q, want %q", tt.name, got, tt.want)
		}
	}
}

// FuzzSuspects: outputs are foreign text. Suspects are always patches that were
// given, each once.
func FuzzSuspects(f *testing.F) {
	f.Add("pkg/a/a.go:3: wrong\n", "ok\n", "pkg/a/a.go")
	f.Add("//./..\x00\xff", "", "/")
	f.Add("a", "a", "")
	f.Fuzz(func(t *testing.T, failed, passed, file string) {
		paths := map[string][]string{"a1": {file, "b/c"}, "a2": {file + "/d"}}
		got := Suspects(failed, passed, paths)
		if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Errorf("Suspects = %q, want each once, in order", got)
		}
		for _, id := range got {
			if paths[id] == nil {
				t.Errorf("Suspects names %q", id)
			}
		}
	})
}
