package diffcolor

import (
	"regexp"
	"strings"
	"testing"
)

func TestPatch(t *testing.T) {
	t.Parallel()
	patch := []struct{ line, want string }{
		{"== a1 pkg/api\n", "== a1 pkg/api\n"},
		{"diff --git a/f b/f\n", "\x1b[1mdiff --git a/f b/f\x1b[0m\n"},
		{"index 1..2 100644\n", "\x1b[1mindex 1..2 100644\x1b[0m\n"},
		{"--- a/f\n", "\x1b[1m--- a/f\x1b[0m\n"},
		{"+++ b/f\n", "\x1b[1m+++ b/f\x1b[0m\n"},
		{"@@ -1,3 +1,3 @@ func main\n", "\x1b[36m@@ -1,3 +1,3 @@ func main\x1b[0m\n"},
		{" same\n", " same\n"},
		// A deleted line that begins as a header does.
		{"--- a/f\n", "\x1b[31m--- a/f\x1b[0m\n"},
		{"+++ b/f\n", "\x1b[32m+++ b/f\x1b[0m\n"},
		{"\n", "\n"}, // some programs strip the blank of an empty line
		{"\\ No newline at end of file\n", "\\ No newline at end of file\n"},
		{"diff --git a/g b/g\n", "\x1b[1mdiff --git a/g b/g\x1b[0m\n"},
		{"@@ -0,0 +1 @@\n", "\x1b[36m@@ -0,0 +1 @@\x1b[0m\n"},
		{"+last", "\x1b[32m+last\x1b[0m"},
		{"+ of no hunk", "+ of no hunk"},
		{"@@ -x +1 @@", "@@ -x +1 @@"},
	}
	var p Patch
	for _, l := range patch {
		if got := p.Line(l.line); got != l.want {
			t.Errorf("Line(%q) = %q, want %q", l.line, got, l.want)
		}
	}
}

func TestStat(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		" a/f.go | 3 ++-\n":   " a/f.go | 3 \x1b[32m++\x1b[0m\x1b[31m-\x1b[0m\n",
		" a/f.go | 1 -":       " a/f.go | 1 \x1b[31m-\x1b[0m",
		" b.bin | Bin 0 -> 3": " b.bin | Bin 0 -> 3",
		" 2 files changed\n":  " 2 files changed\n",
		" a--- | 0\n":         " a--- | 0\n",
		"a | +":               "a | \x1b[32m+\x1b[0m",
		"| +++":               "| \x1b[32m+++\x1b[0m",
		"|+-":                 "|+-",
	} {
		if got := Stat(give); got != want {
			t.Errorf("Stat(%q) = %q, want %q", give, got, want)
		}
	}
}

// FuzzLine holds that colours are all that is added.
func FuzzLine(f *testing.F) {
	f.Add("@@ -1,3 +1,3 @@\n+a\n-b\n c\n")
	f.Add("@@ -9999999999,1 +1 @@\n")
	f.Add(" f | 2 +-\n")
	colours := regexp.MustCompile("\x1b\\[[0-9]+m")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "\x1b") {
			return
		}
		var p Patch
		for line := range strings.Lines(text) {
			if got := colours.ReplaceAllString(p.Line(line), ""); got != line {
				t.Errorf("Line(%q) prints %q", line, got)
			}
			if got := colours.ReplaceAllString(Stat(line), ""); got != line {
				t.Errorf("Stat(%q) prints %q", line, got)
			}
		}
	})
}
