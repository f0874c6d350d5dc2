package scope

import (
	"fmt"
	"math/rand"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
)

func TestOverlap(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b    string
		example string // empty: none
	}{
		{"services/a", "services/a", "services/a"},
		{"services/a", "services/ab", ""},
		{"services/a", "services", "services/a"},
		{"services/*/go.mod", "services/b/", "services/b/go.mod"},
		{"**", "**", "x"},
		{"**", "*", "x"},
		{"**/*.go", "services/**/*.g?", "services/x.go"},
		{"**/*.go", "services/**/*.md", ""},
		{"a/**/z", "**/b/*", "a/b/z"},
		{"*.go", "[m-p]ain.*", "main.go"},
		{"*.go", "[n-p]ain.md", ""},
		{"a*b*c", "*x*", "axbxc"},
		{"{a,b}/x", "{b,c}/*", "b/x"},
		{"[!a]", "a", ""},
		{"[a-f]", "[!a-e]", "f"},
		{"[z-a]", "*", "z"},
		{"*a", "*b", ""},
		{"a*", "b*", ""},
		{"**/a", "**/b", ""}, // a wildcard: files of that name are meant, not folders
	} {
		example, overlaps := Overlap([]string{tc.a}, []string{tc.b})
		if example != tc.example || overlaps != (tc.example != "") {
			t.Errorf("Overlap(%q, %q) = %q, %t, want %q", tc.a, tc.b, example, overlaps, tc.example)
		}
		if _, back := Overlap([]string{tc.b}, []string{tc.a}); back != overlaps {
			t.Errorf("Overlap(%q, %q) = %t, the other way around %t", tc.b, tc.a, back, overlaps)
		}
	}
}

// TestOverlapGivesUp: a pair that would take too long counts as an overlap.
func TestOverlapGivesUp(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("*a", 2000)
	for _, pair := range [][2]string{{long, long + "b*"}, {"[a", "b"}} {
		if example, overlaps := Overlap(pair[:1], pair[1:]); example != "" || !overlaps {
			t.Errorf("Overlap(%.20q, %.20q) = %q, %t, want yes without a path", pair[0], pair[1], example, overlaps)
		}
	}
}

var escaped = regexp.MustCompile(`\\.`)

// oracle asks doublestar whether a pattern matches. For doublestar a negated
// class matches a slash, so the package does not use doublestar itself.
func oracle(pattern, path string) bool {
	texts, _ := expand(pattern, nil)
	return slices.ContainsFunc(texts, func(p string) bool {
		for strings.HasPrefix(p, "./") {
			p = strings.TrimLeft(p[2:], "/")
		}
		if strings.HasSuffix(p, "/") {
			p = strings.TrimSuffix(strings.TrimRight(p, "/"), "/**") + "/*/**"
		}
		if doublestar.MatchUnvalidated(p, path) {
			return true
		}
		// It lets a/** match a, but not a*/** where the star is empty.
		if own, ok := strings.CutSuffix(p, "/**"); ok && doublestar.MatchUnvalidated(own, path) {
			return true
		}
		plain := !strings.ContainsAny(escaped.ReplaceAllString(p, ""), "*?[")
		return plain && doublestar.MatchUnvalidated(p+"/**", path)
	})
}

// dice makes patterns and paths of few letters, so that they often meet.
type dice struct{ *rand.Rand }

func (d dice) pick(words ...string) string { return words[d.Intn(len(words))] }

func (d dice) pattern() string {
	var parts []string
	for range 1 + d.Intn(4) {
		part := ""
		for range 1 + d.Intn(3) {
			part += d.pick("a", "b", "c", "*", "?", "[ab]", "[!a/]", "{a,bc}", "{b,*}", "a", "b")
		}
		if d.Intn(4) == 0 && (len(parts) == 0 || parts[len(parts)-1] != "**") {
			part = "**"
		}
		parts = append(parts, part)
	}
	// The oracle needs a class with a slash for the meaning of [!a] here.
	return strings.Join(parts, "/") + d.pick("", "", "/")
}

func (d dice) path() string {
	var parts []string
	for range 1 + d.Intn(4) {
		part := ""
		for range 1 + d.Intn(3) {
			part += d.pick("a", "b", "c", "é", "\xff")
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "/")
}

func TestMatchIsWhatDoublestarSays(t *testing.T) {
	t.Parallel()
	d := dice{rand.New(rand.NewSource(1))}
	yes := 0
	for range 20_000 {
		theirs, path := d.pattern(), d.path()
		ours := strings.ReplaceAll(theirs, "[!a/]", "[!a]")
		got, want := Match([]string{ours}, path), oracle(theirs, path)
		if got != want {
			t.Fatalf("Match(%q, %q) = %t, doublestar says %t", ours, path, got, want)
		}
		if got {
			yes++
		}
	}
	if yes < 400 {
		t.Errorf("only %d paths matched: this compares nothing", yes)
	}
}

func TestOverlapIsWhatPathsShow(t *testing.T) {
	t.Parallel()
	d := dice{rand.New(rand.NewSource(2))}
	apart, together := 0, 0
	for range 2000 {
		a := strings.ReplaceAll(d.pattern(), "[!a/]", "[!a]")
		b := strings.ReplaceAll(d.pattern(), "[!a/]", "[!a]")
		check(t, a, b, d.path())
		if _, overlaps := Overlap([]string{a}, []string{b}); overlaps {
			together++
			continue
		}
		apart++
		for range 10 {
			check(t, a, b, d.path())
		}
	}
	if apart < 100 || together < 100 {
		t.Errorf("%d pairs apart and %d together: this compares little", apart, together)
	}
}

var inRow = regexp.MustCompile(`\*\*/\*\*|[^/,{]\*\*|\*\*[^/,}]`)

// check holds an answer of Overlap against a path and its own example.
func check(t *testing.T, a, b, path string) {
	t.Helper()
	first, second := []string{a}, []string{b}
	example, overlaps := Overlap(first, second)
	if Match(first, path) && Match(second, path) && !overlaps {
		t.Fatalf("Overlap(%q, %q) = false, and both match %q", a, b, path)
	}
	if example == "" {
		return
	}
	for _, p := range []string{a, b} {
		if !Match([]string{p}, example) {
			t.Fatalf("Overlap(%q, %q) = %q, which %q does not match", a, b, example, p)
		}
		// doublestar merges stars in a row only within a longer name.
		if !inRow.MatchString(p) && !oracle(p, example) {
			t.Fatalf("Overlap(%q, %q) = %q, which %q does not match for doublestar", a, b, example, p)
		}
	}
}

func FuzzOverlap(f *testing.F) {
	f.Add("a/**", "**/b", "a/b")
	f.Add("{a,b}/[!c-d]*", "?/\\*x", "a/*x")
	f.Add(".", "[a-]/", "-/x")
	f.Add("{a{b,c},d}/", "**", "ab/é")
	f.Fuzz(func(t *testing.T, a, b, path string) {
		if Validate(a) != nil || Validate(b) != nil || path == "" || strings.ContainsRune(path, 0) {
			return
		}
		check(t, a, b, path)
	})
}

func TestPairs(t *testing.T) {
	t.Parallel()
	sets := [][]string{
		{"services/a"}, {"services/b", "docs/*.md"}, nil, {"**/go.mod"},
		{"services/a/x.go"}, {"docs/"}, {"[a"},
	}
	want := []Pair{
		{0, 3, "services/a/go.mod"}, {0, 4, "services/a/x.go"}, {0, 6, ""},
		{1, 3, "services/b/go.mod"}, {1, 5, "docs/x.md"}, {1, 6, ""},
		{3, 4, "services/a/x.go/go.mod"}, {3, 5, "docs/go.mod"}, {3, 6, ""},
		{4, 6, ""}, {5, 6, ""},
	}
	if got := Pairs(sets, 100); !reflect.DeepEqual(got, want) {
		t.Errorf("Pairs = %v, want %v", got, want)
	}
	if got := Pairs(sets, 3); len(got) != 3 {
		t.Errorf("Pairs with a limit of 3 = %v", got)
	}
}

// TestPairsMissesNone: the table of folders leaves no pair out.
func TestPairsMissesNone(t *testing.T) {
	t.Parallel()
	d := dice{rand.New(rand.NewSource(3))}
	for range 20 {
		sets := make([][]string, 20)
		for i := range sets {
			for range d.Intn(3) {
				sets[i] = append(sets[i], strings.ReplaceAll(d.pattern(), "[!a/]", "[!a]"))
			}
		}
		found := map[[2]int]bool{}
		for _, p := range Pairs(sets, 1000) {
			found[[2]int{p.A, p.B}] = true
		}
		for i := range sets {
			for j := i + 1; j < len(sets); j++ {
				_, want := Overlap(sets[i], sets[j])
				if got := found[[2]int{i, j}]; got != want {
					t.Fatalf("Pairs has %q and %q: %t, want %t", sets[i], sets[j], got, want)
				}
			}
		}
	}
}

func BenchmarkPairs(b *testing.B) {
	for name, pattern := range map[string]string{
		"folders": "services/s%d", "wild": "**/s%d/*.go", "names": "**/*s%d_*.go", "same": "docs/s%[1]d,docs/**/*.md",
	} {
		b.Run(name, func(b *testing.B) {
			sets := make([][]string, 1000)
			for i := range sets {
				sets[i] = strings.Split(fmt.Sprintf(pattern, i), ",")
			}
			for b.Loop() {
				Pairs(sets, 1_000_000)
			}
		})
	}
}
