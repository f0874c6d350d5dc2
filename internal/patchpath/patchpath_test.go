package patchpath

import "testing"

func TestSide(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ give, want string }{
		{"b/x.go", "b/x.go"},
		{"b/my x.go\t", "b/my x.go"},
		{"b/x.go\t2026-11-27 10:00:00 +0000", "b/x.go"},
		{"\"b/my \\303\\274ber/x_test.go\"\t", "b/my über/x_test.go"},
		{`"b/\303\274.go"`, "b/ü.go"},
		{"\"b/t\\tab\"\t2026-11-27", "b/t\tab"},
		{`"b/say \"hi\" \\"` + "\t", `b/say "hi" \`},
		{`"b/open`, `"b/open`},
		{`"b/x" more`, `"b/x" more`},
		{`"b/x\"`, `"b/x\"`},
		{"/dev/null", "/dev/null"},
		{"", ""},
	} {
		if got := Side(tt.give); got != tt.want {
			t.Errorf("Side(%q) = %q, want %q", tt.give, got, tt.want)
		}
	}
}

func FuzzSide(f *testing.F) {
	f.Add("\"b/my \\303\\274ber\"\t")
	f.Add(`"\`)
	f.Fuzz(func(t *testing.T, text string) {
		if got := Side(text); len(got) > len(text) {
			t.Errorf("Side(%q) = %q is longer", text, got)
		}
		Unquote(text) // does not panic
	})
}
