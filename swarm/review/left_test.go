package review

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// leftIn are the leftovers of the largest class in some files.
func leftIn(patches []*Patch, other func(string) bool, files map[string]string) (words []string, places []Place) {
	x := &Index{}
	for _, p := range patches {
		x.Put(p)
	}
	r := x.Report(ReportRequest{})
	l := r.Leftovers(patches, other)
	for name, text := range files {
		n := 0
		for line := range strings.Lines(text) {
			n++
			l.Put(Place{name, n}, line)
		}
	}
	for _, c := range r.Classes {
		if left := l.Class(c); left != nil {
			places = append(places, left.Places...)
		}
	}
	return l.Words(), places
}

// TestLeftovers: lines of the base that still have the removed words, without
// those that a patch changes.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	fleet := func(hunk string) []*Patch {
		var all []*Patch
		for i := range 6 {
			all = append(all, patchOf(t, fmt.Sprintf("a%d", i+1), fmt.Sprintf("p%d/f.go", i), hunk))
		}
		return all
	}
	for _, test := range []struct {
		name, hunk, line string
		file             string
		words            []string
		left             bool
	}{
		{"the same words", "-\tx := ioutil.ReadAll(r)\n+\tx := io.ReadAll(r)\n", "\ty := ioutil.ReadAll(f)\n", "z.go", []string{"ReadAll"}, true},
		{"a part of a longer word", "-\tx := ioutil.ReadAll(r)\n+\tx := io.ReadAll(r)\n", "\ty := myioutil.ReadAll(f)\n", "z.go", []string{"ReadAll"}, false},
		{"another language", "-\tx := ioutil.ReadAll(r)\n+\tx := io.ReadAll(r)\n", "ioutil.ReadAll(f)\n", "z.js", []string{"ReadAll"}, false},
		{"test code", "-\tvar a interface{}\n+\tvar a any\n", "\tf(interface{}(1))\n", "z_test.go", []string{"interface"}, true},
		{"added words that hold the removed", "-\trun(old, a)\n+\trun(old.New(b), a)\n", "\trun(old.New(c), c)\n", "z.go", nil, false},
		{"pure addition", " {\n+\tcount()\n", "\tcount()\n", "z.go", nil, false},
		{"short words", "-\tx := a1(b)\n+\tx := c1(b)\n", "\tx := a1(c)\n", "z.go", nil, false},
	} {
		words, places := leftIn(fleet(test.hunk), nil, map[string]string{test.file: "\n" + test.line})
		if got := len(places) == 1 && places[0] == (Place{test.file, 2}); got != test.left || test.words != nil && !reflect.DeepEqual(words, test.words) {
			t.Errorf("%s: words %q, left over at %v; want %q, %t", test.name, words, places, test.words, test.left)
		}
	}
	// Lines that a patch removes are gone: by their place, or by their text where
	// the patch has another base.
	patches := fleet("-\tx := ioutil.ReadAll(r)\n+\tx := io.ReadAll(r)\n")
	same := map[string]string{"p0/f.go": "\tx := ioutil.ReadAll(r)\n\tx := ioutil.ReadAll(r)\n"}
	for _, other := range []bool{false, true} {
		_, places := leftIn(patches, func(string) bool { return other }, same)
		if want := []Place{{"p0/f.go", 2}}; !reflect.DeepEqual(places, want) {
			t.Errorf("another base: %t: left over at %v, want %v", other, places, want)
		}
	}
	if _, places := leftIn(patches[:4], nil, map[string]string{"z.go": "ioutil.ReadAll(r)\n"}); places != nil {
		t.Errorf("a small class has leftovers at %v", places)
	}
}
