package review

import (
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// patchOf makes a patch of a file with a single hunk.
func patchOf(t testing.TB, id, file, hunk string) *Patch {
	t.Helper()
	return read(t, id, oneFile(file, hunk))
}

func oneFile(file, hunk string) string {
	before, after := 0, 0
	for line := range strings.Lines(hunk) {
		if line[0] != '+' && line[0] != '\\' {
			before++
		}
		if line[0] != '-' && line[0] != '\\' {
			after++
		}
	}
	return fmt.Sprintf("diff --git a/%[1]s b/%[1]s\nindex 1..2 100644\n--- a/%[1]s\n+++ b/%[1]s\n@@ -%[4]d,%[2]d +%[5]d,%[3]d @@\n%[6]s",
		file, before, after, min(before, 1), min(after, 1), hunk)
}

func read(t testing.TB, id, text string) *Patch {
	t.Helper()
	files, err := Read(text)
	if err != nil {
		t.Fatalf("Read: %v\n%s", err, text)
	}
	return &Patch{ID: id, Files: files}
}

// only is the edit of a file with a single hunk.
func only(t testing.TB, file, hunk string) *Edit {
	t.Helper()
	all := choices(patchOf(t, "a1", file, hunk))
	if len(all) != 1 {
		t.Fatalf("%s has %d runs, want 1", hunk, len(all))
	}
	return all[0].whole
}

func show(changes []Change) string {
	var all []string
	for _, c := range changes {
		all = append(all, strings.Join(c.Removed, " ")+" => "+strings.Join(c.Added, " "))
	}
	return strings.Join(all, "; ")
}

func TestChanges(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, file, hunk, want string }{
		{"dotted name", "x.go", "-\tb, err := ioutil.ReadFile(name)\n+\tb, err := os.ReadFile(name)\n", "ioutil . ReadFile => os . ReadFile"},
		{"type", "x.go", "-func f(a interface{}) {\n+func f(a any) {\n", "interface { } => any"},
		{"each pair once", "x.go", "-func f(a, b interface{}, m map[string]interface{}) {\n+func f(a, b any, m map[string]any) {\n", "interface { } => any"},
		{"insertion keeps marks", "x.go", "-\tcall(a, b)\n+\tcall(ctx, a, b)\n", "( => ( ctx ,"},
		{"path in a string", "x.go", "-\t\"go.etcd.io/etcd/clientv3\"\n+\t\"go.etcd.io/etcd/v3/clientv3\"\n", "/ => / v3 /"},
		{"little in common", "x.go", "-\tone two three\n+\tfour(five, six, seven)\n", "one two three => four ( five , six , seven )"},
		{"addition", "x.go", " a\n+\tx := 1\n", " => x : = 1"},
		{"removal", "x.go", " a\n-\tx := 1\n", "x : = 1 => "},
		{"near changes are one", "x.go", "-\tf(a.b, some, more, words)\n+\tf(c->d, some, more, words)\n", "a . b => c - > d"},
		{"two changes", "x.go", "-\tone(alpha, beta, gamma, delta)\n+\ttwo(alpha, beta, gamma, epsilon)\n", "one => two; delta => epsilon"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := show(only(t, test.file, test.hunk).Changes()); got != test.want {
				t.Errorf("Changes() = %q, want %q", got, test.want)
			}
		})
	}
}

// TestSameness: pairs of edits, and whether they are the same exactly or in
// shape.
func TestSameness(t *testing.T) {
	t.Parallel()
	const exact, shape, neither = "exact", "shape", "neither"
	for _, test := range []struct{ name, fileA, hunkA, fileB, hunkB, want string }{
		{"other names around", "a/x.go", "-\tfoo := old.Call(a)\n+\tfoo := new.Call(a)\n", "b/y.go", "-\treturn old.Call(z, 2)\n+\treturn new.Call(z, 2)\n", exact},
		{"one member more", "x.go", "-f(a interface{})\n+f(a any)\n", "y.go", "-m map[string]interface{}\n+m map[string]any\n", exact},
		{"added name differs", "x.go", "-\tx := old(a)\n+\tx := new(a)\n", "y.go", "-\tx := old(a)\n+\tx := newer(a)\n", neither},
		{"added value differs", "x.go", " a\n+\tx := 1\n", "y.go", " a\n+\tx := 2\n", neither},
		{"operator differs", "x.go", "-\tif a < b {\n+\tif a <= b {\n", "y.go", "-\tif a < b {\n+\tif a >= b {\n", neither},
		{"one line more", "x.go", " a\n+\tx()\n", "y.go", " a\n+\tx()\n+\ty()\n", neither},
		{"renamed on both sides", "x.go", "-\tw := wrap(alpha)\n+\tw := with(ctx, wrap(alpha), alpha)\n", "y.go", "-\tw := wrap(beta)\n+\tw := with(ctx, wrap(beta), beta)\n", shape},
		{"own folder", "pkg/red/x.go", "-// Package main is old.\n+// Package red is old.\n", "pkg/blue/x.go", "-// Package main is old.\n+// Package blue is old.\n", shape},
		{"other kind", "x.go", "-old\n+new\n", "x_test.go", "-old\n+new\n", neither},
		{"other language", "x.go", "-old\n+new\n", "x.js", "-old\n+new\n", neither},
		{"line break in code", "x.go", "-\t// note\n-\tcall(one)\n+\t// remark\n+\tcall(one)\n", "y.go", "-\t// note\n-\tcall(one)\n+\t// remark call(one)\n", neither},

		{"indentation in braces", "x.go", "-\tf()\n+\t\tf()\n", "y.go", "-\t\t\tg(1)\n+\t\t\t\tg(1)\n", exact},
		{"indented less", "x.go", "-\t\tf()\n+\tf()\n", "y.go", "-\tf()\n+\t\tf()\n", shape},
		{"tabs to spaces", "x.go", "-\tf()\n+    f()\n", "y.go", "-\tf()\n+\t\tf()\n", shape},
		{"white space and words", "x.go", "-\tf()\n+\t\tf()\n", "y.go", "-\tf()\n+\t\tg()\n", neither},
		{"space in a string", "x.js", "-\tf('a b')\n+\tf('a  b')\n", "y.js", "-\tf(a,b)\n+\tf(a, b)\n", shape},
		{"blank line", "x.go", " a\n+\n", "y.go", " b\n+\n", exact},
		{"two blank lines", "x.go", " a\n+\n", "y.go", " b\n+\n+\n", shape},
		{"line ends", "x.go", "-a\r\n+a\n", "y.go", "-b(c)\r\n+b(c)\n", exact},
		{"end of file", "x.go", "-a\n\\ No newline at end of file\n+a\n", "y.go", "-b\n\\ No newline at end of file\n+b\n", exact},

		{"Python: same block", "x.py", "     if a:\n+        log(x)\n", "y.py", " if b:\n+    log(x)\n", exact},
		{"Python: other block", "x.py", "     if a:\n+        log(x)\n", "y.py", "     if a:\n+    log(x)\n", neither},
		{"Python: out of a loop", "x.py", "-        return x\n+    return x\n", "y.py", "-        return y\n+            return y\n", neither},
		{"Python: out of a loop, at any depth", "x.py", "-        return x\n+    return x\n", "y.py", "-            return x\n+        return x\n", exact},
		{"YAML: other parent", "x.yaml", " a:\n+  b: 1\n", "y.yaml", " a:\n+b: 1\n", neither},
		{"Python: inner space", "x.py", "-f(a,b)\n+f(a, b)\n", "y.py", "-    g(c,d)\n+    g(c, d)\n", exact},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a, b := only(t, test.fileA, test.hunkA), only(t, test.fileB, test.hunkB)
			got := neither
			switch {
			case a.Exact == b.Exact:
				got = exact
			case a.Shape == b.Shape:
				got = shape
			}
			if got != test.want {
				t.Errorf("same: %s, want %s\n%s%s\n%s%s", got, test.want, test.hunkA, show(a.Changes()), test.hunkB, show(b.Changes()))
			}
		})
	}
}

// TestSpace: an edit of white space has the kind space only if the white space
// has no meaning.
func TestSpace(t *testing.T) {
	t.Parallel()
	for hunk, want := range map[string][2]bool{ // in Go, in Python
		"-\tf()\n+\t\tf()\n":     {true, false},
		"-f( a )\n+f(a)\n":       {true, true},
		" x\n+\n":                {true, true},
		"-a b\n+ab\n":            {false, false},
		"-f()\n+f() \n":          {true, true},
		"-x = y\n+x = y + 1\n":   {false, false},
		"-f()\n-g()\n+f(); g()":  {false, false},
		"-f(a,\n-  b)\n+f(a, b)": {true, false},
	} {
		for i, file := range []string{"x.go", "x.py"} {
			if e := only(t, file, strings.TrimSuffix(hunk, "\n")+"\n"); e.Space != want[i] {
				t.Errorf("%s: %q: Space = %t, want %t", file, hunk, e.Space, want[i])
			}
		}
	}
}

// TestCut: a run is cut into pairs of lines where others have the same pair.
func TestCut(t *testing.T) {
	t.Parallel()
	x := &Index{}
	x.Put(patchOf(t, "a1", "a.go", "-\tx := oldOne(alpha, beta)\n-\ty := oldTwo(gamma, delta)\n+\tx := newOne(alpha, beta)\n+\ty := newTwo(gamma, delta)\n"))
	if n := len(x.Report(ReportRequest{}).Classes); n != 1 {
		t.Fatalf("alone it is %d classes, want 1", n)
	}
	for i := range 4 {
		x.Put(patchOf(t, fmt.Sprintf("b%d", i), "b.go", "-\tz := oldOne(more)\n+\tz := newOne(more)\n"))
		x.Put(patchOf(t, fmt.Sprintf("c%d", i), "c.go", "-\tz := oldTwo(more)\n+\tz := newTwo(more)\n"))
	}
	r := x.Report(ReportRequest{})
	if len(r.Classes) != 2 || len(r.Classes[0].Members) != 5 || len(r.Classes[1].Members) != 5 {
		t.Errorf("with others it is %d classes, want 2 of 5 members", len(r.Classes))
	}
}

func TestImports(t *testing.T) {
	t.Parallel()
	run := &Run{
		Removed: []string{`	"go.etcd.io/etcd/raft"`, `	"go.etcd.io/etcd/wal"`},
		Added:   []string{`	"go.etcd.io/etcd/v3/wal"`, `	"go.etcd.io/etcd/v3/raft"`},
	}
	parts := cut(run, "go")
	if len(parts) != 2 || parts[0].Added[0] != run.Added[1] || parts[1].Added[0] != run.Added[0] {
		t.Errorf("imports in another order are cut into %+v", parts)
	}
	if isImport(`	x := "a"`, "go") || isImport(`	return f("a"`, "go") || !isImport(`	yaml "gopkg.in/yaml.v3"`, "go") || !isImport("from a import b", "py") {
		t.Error("isImport takes code for an import, or none")
	}
}

func codemod(t testing.TB, patches, odd int) []*Patch {
	var all []*Patch
	for i := range patches {
		file := fmt.Sprintf("pkg%d/file%d.go", i, i)
		hunk := fmt.Sprintf(" func F%[1]d() {\n-\tdata%[1]d, err := ioutil.ReadFile(name%[1]d)\n+\tdata%[1]d, err := os.ReadFile(name%[1]d)\n \tif err != nil {\n", i)
		if i < odd {
			hunk = fmt.Sprintf(" func F%[1]d() {\n-\tdata%[1]d, err := ioutil.ReadFile(name%[1]d)\n+\tdata%[1]d, err := os.ReadFile(name%[1]d + suffix%[1]d)\n \tif err != nil {\n", i)
		}
		all = append(all, patchOf(t, fmt.Sprintf("a%d", i+1), file, hunk))
	}
	return all
}

// TestOddFirst: of a uniform codemod the patches that differ are read first.
func TestOddFirst(t *testing.T) {
	t.Parallel()
	x := &Index{}
	for _, p := range codemod(t, 100, 5) {
		x.Put(p)
	}
	r := x.Report(ReportRequest{})
	if len(r.Classes) != 6 || r.Edits != 100 || r.Lines != 200 || r.ToRead > 13 {
		t.Fatalf("%d classes, %d edits, %d lines, %d to read", len(r.Classes), r.Edits, r.Lines, r.ToRead)
	}
	var odd []string
	for _, c := range r.Classes[:5] {
		odd = append(odd, c.Patches()...)
	}
	slices.Sort(odd)
	if last := r.Classes[5]; !slices.Equal(odd, []string{"a1", "a2", "a3", "a4", "a5"}) || len(last.Members) != 95 || !slices.Equal(last.Missing, odd) {
		t.Errorf("read first: %v; the last class has %d members, and %v lack it", odd, len(last.Members), last.Missing)
	}
}

func TestElsewhere(t *testing.T) {
	t.Parallel()
	x := &Index{}
	for i := range 9 {
		x.Put(patchOf(t, fmt.Sprintf("a%d", i), fmt.Sprintf("f%d.go", i), fmt.Sprintf(" \tdefer mu.Unlock()\n+\tcount++\n v%d\n", i)))
	}
	x.Put(patchOf(t, "b1", "other.go", " \tstart()\n+\tcount++\n"))
	c := x.Report(ReportRequest{}).Classes[0]
	if c.Follows != "Unlock" || len(c.Elsewhere) != 1 || c.Elsewhere[0].Patch != "b1" || c.Lines() != 3 {
		t.Errorf("it follows %q, elsewhere %v, %d lines", c.Follows, c.Elsewhere, c.Lines())
	}
}

// TestOrderIndependent: the report does not depend on the order of patches, and
// classes not on the names of agents.
func TestOrderIndependent(t *testing.T) {
	t.Parallel()
	patches := append(codemod(t, 30, 3), generated(t, 60)...)
	describe := func(order []int, name func(i int) string) []string {
		x := &Index{}
		for _, i := range order {
			x.Put(&Patch{ID: name(i), Files: patches[i].Files})
		}
		var all []string
		for _, c := range x.Report(ReportRequest{}).Classes {
			text := fmt.Sprint(c.ID, c.Exact, c.Shape, c.Kind, c.Space, c.Weight, c.Follows, c.Alike, len(c.Missing))
			for _, m := range c.Members {
				text += fmt.Sprint(m.Path, m.OldLine, m.Nth, m.Sum)
			}
			all = append(all, text+c.Example.Path)
		}
		return all
	}
	order := make([]int, len(patches))
	for i := range order {
		order[i] = i
	}
	want := describe(order, func(i int) string { return patches[i].ID + fmt.Sprint(i) })
	random := rand.New(rand.NewSource(1))
	for range 5 {
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		names := random.Perm(len(patches))
		if got := describe(order, func(i int) string { return fmt.Sprintf("x%d", names[i]) }); !reflect.DeepEqual(got, want) {
			t.Fatalf("in the order %v\n%q\nwant\n%q", order, got, want)
		}
	}
}

// TestIncremental: an index with a replaced patch equals a new index.
func TestIncremental(t *testing.T) {
	t.Parallel()
	patches := codemod(t, 12, 2)
	grown, fresh := &Index{}, &Index{}
	grown.Put(patchOf(t, "a3", "z.go", "-old\n+new\n"))
	for _, p := range patches {
		grown.Report(ReportRequest{})
		grown.Put(p)
		fresh.Put(p)
	}
	if a, b := grown.Report(ReportRequest{}), fresh.Report(ReportRequest{}); a.Edits != b.Edits || len(a.Classes) != len(b.Classes) || a.ToRead != b.ToRead {
		t.Errorf("%d edits in %d classes, want %d in %d", a.Edits, len(a.Classes), b.Edits, len(b.Classes))
	}
}

// generated makes patches that share some of their edits.
func generated(t testing.TB, n int) []*Patch {
	random := rand.New(rand.NewSource(7))
	var all []*Patch
	for i := range n {
		var text strings.Builder
		for k := range 1 + random.Intn(3) {
			hunk := ""
			switch random.Intn(4) {
			case 0:
				hunk = fmt.Sprintf(" \tx%d := 1\n-\treturn fmt.Sprintf(\"%%d\", v%d)\n+\treturn strconv.Itoa(v%d)\n }\n", i, i, i)
			case 1:
				hunk = fmt.Sprintf(" {\n+\tctx = trace(ctx, %q)\n }\n", []string{"a", "b"}[random.Intn(2)])
			case 2:
				hunk = fmt.Sprintf("-\tone(oldName, %d)\n-\ttwo(v%d.oldName)\n+\tone(newName, %d)\n+\ttwo(v%d.newName)\n", i, i, i, i)
			default:
				hunk = " }\n-\tf()\n+\t\tf()\n"
			}
			text.WriteString(oneFile(fmt.Sprintf("gen%d/f%d.go", i, k), hunk))
		}
		all = append(all, read(t, fmt.Sprintf("g%d", i), text.String()))
	}
	return all
}
