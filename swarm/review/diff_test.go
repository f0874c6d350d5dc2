package review

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	t.Parallel()
	const text = `diff --git a/a b.go b/a b.go
index 111..222 100644
--- a/a b.go	
+++ b/a b.go	
@@ -1,5 +1,5 @@ func f() {
 one
-two
+2
 three
--- four
+++ 4
 five
@@ -20,0 +21,1 @@
+new
\ No newline at end of file
diff --git "a/tab\there\303\274" "b/tab\there\303\274"
new file mode 100755
index 000..333
--- /dev/null
+++ "b/tab\there\303\274"
@@ -0,0 +1 @@
+#!/bin/sh
diff --git "a/my \303\274ber/x_test.go" "b/my \303\274ber/x_test.go"
index 777..888 100644
--- "a/my \303\274ber/x_test.go"	
+++ "b/my \303\274ber/x_test.go"	
@@ -1 +1 @@
-a
+b
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git a/logo.png b/logo.png
index 444..555 100644
GIT binary patch
literal 3
Kc-jL100001

literal 2
Jc-jL100001

diff --git a/empty b/empty
deleted file mode 100644
index 666..000
diff --git a/old/name.go b/new/name.go
similarity index 100%
rename from old/name.go
rename to new/name.go
`
	files, err := Read(text)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		got = append(got, fmt.Sprintf("%s from=%q %s..%s added=%t deleted=%t binary=%t runs=%d", f.Path, f.From, f.OldMode, f.NewMode, f.Added, f.Deleted, f.Binary, len(f.Runs)))
	}
	want := []string{
		`a b.go from="" 100644..100644 added=false deleted=false binary=false runs=3`,
		"tab\thereü" + ` from="" ..100755 added=true deleted=false binary=false runs=1`,
		`my über/x_test.go from="" 100644..100644 added=false deleted=false binary=false runs=1`,
		`run.sh from="" 100644..100755 added=false deleted=false binary=false runs=0`,
		`logo.png from="" 100644..100644 added=false deleted=false binary=true runs=0`,
		`empty from="" 100644.. added=false deleted=true binary=false runs=0`,
		`new/name.go from="old/name.go" .. added=false deleted=false binary=false runs=0`,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Read = %s\nwant %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	wantRun := Run{OldLine: 4, NewLine: 4, Removed: []string{"-- four"}, Added: []string{"++ 4"}, Before: []string{"three"}, After: []string{"five"}}
	if run := files[0].Runs[1]; !reflect.DeepEqual(run, wantRun) {
		t.Errorf("the second run is %+v, want %+v", run, wantRun)
	}
	if run := files[0].Runs[2]; run.OldLine != 21 || run.NewLine != 21 || !run.NewBare || run.OldBare || len(run.After) > 0 {
		t.Errorf("the third run is %+v", run)
	}
}

func TestReadErrors(t *testing.T) {
	t.Parallel()
	const head = "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n"
	for text, line := range map[string]int{
		head + "@@ -1,2 +1,2 @@\n a\n":                  6,
		head + "@@ -1 +1 @@\n-a\n+b\n+c\n":              8,
		head + "@@ -1,1 +1,1 @@\n*a\n":                  6,
		head + "@@ -1,x +1 @@\n":                        5,
		head + "@@ -1,1 +1,99999999999999999999 @@\n":   5,
		"diff --git a/x b/y\n":                          1,
		"diff --git a/x b/x\nsomething else entirely\n": 2,
	} {
		_, err := Read(text)
		wrong, ok := errors.AsType[*SyntaxError](err)
		if !ok || wrong.Line != line {
			t.Errorf("Read(%q): %v, want an error in line %d", text, err, line)
		}
	}
}

// FuzzRead: no text makes the reader or the fingerprints panic, and the result
// has the lines of the text.
func FuzzRead(f *testing.F) {
	f.Add(oneFile("x.go", " a\n-b\n+c\n\\ No newline at end of file\n"))
	f.Add("diff --git \"a/\\\"x\\\\\" \"b/\\\"x\\\\\"\nnew file mode 120000\n--- /dev/null\n+++ \"b/\\\"x\\\\\"\n@@ -0,0 +1 @@\n+y\n")
	f.Add("diff --git a/x b/x\nGIT binary patch\nliteral 1\nx\n\n")
	f.Add(oneFile("x.py", "-\tf( '\xff\u202e')\n-  g\n+  f('a')\n+\n+  h\n"))
	f.Fuzz(func(t *testing.T, text string) {
		files, err := Read(text)
		if err != nil {
			return
		}
		lines := strings.Count(text, "\n") + 1
		for _, file := range files {
			if file.Path == "" {
				t.Fatalf("a file without a path in %q", text)
			}
			for _, run := range file.Runs {
				lines -= len(run.Removed) + len(run.Added)
				if len(run.Removed)+len(run.Added) == 0 || len(run.Before) > contextLines || len(run.After) > contextLines {
					t.Fatalf("run %+v of %q", run, text)
				}
			}
		}
		if lines < 0 {
			t.Fatalf("more lines than %q has", text)
		}
		x := &Index{}
		x.Put(&Patch{ID: "a1", Files: files})
		x.Put(&Patch{ID: "a2", Files: files})
		for _, c := range x.Report(ReportRequest{}).Classes {
			if len(c.Members)%2 != 0 {
				t.Fatalf("equal patches differ in class %s of %q", c.ID, text)
			}
		}
	})
}
