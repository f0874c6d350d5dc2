package scope

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		patterns []string
		in, out  []string
	}{
		{"no limits", nil, []string{"a", "a/b"}, nil},
		{
			"a bare folder", []string{"services/a"},
			[]string{"services/a", "services/a/x.go", "services/a/.deep/y"},
			[]string{"services", "services/ab", "services/b/a", "x/services/a"},
		},
		{"a folder with a slash", []string{"docs/"}, []string{"docs/x", "docs/a/b", "docs/.x"}, []string{"doc", "docs", "docs2/x"}},
		{"folders by a wildcard", []string{"services/*/"}, []string{"services/a/x", "services/b/c/d"}, []string{"services", "services/Makefile"}},
		{"a wildcard is no folder", []string{"services/*"}, []string{"services/x"}, []string{"services/a/x"}},
		{"any depth", []string{"**/*.go"}, []string{"a.go", "x/y/.a.go", "x/.go"}, []string{"a.gox", "a.go/x"}},
		{"folders between", []string{"a/**/z"}, []string{"a/z", "a/b/c/z"}, []string{"a", "z", "ab/z"}},
		{"two between", []string{"**/a/**/b*"}, []string{"a/b", "x/a/y/bc", "a/a/b"}, []string{"a", "b/a"}},
		{"stars in a row", []string{"a**z/***"}, []string{"abz/c"}, []string{"a/z/c", "abz/c/d"}},
		{"braces", []string{"{a,b/{c,d}}/*.md"}, []string{"a/x.md", "b/c/x.md", "b/d/x.md"}, []string{"b/x.md", "c/x.md"}},
		{"one of braces is plain", []string{"{a,*.md}"}, []string{"a/b", "a", "x.md"}, []string{"b"}},
		{"one of braces is empty", []string{"a{,b}/c"}, []string{"a/c", "ab/c/d"}, []string{"abb/c"}},
		{"classes", []string{"[a-c][!a-c][\\]-]"}, []string{"ax]", "bz-"}, []string{"aa]", "ax\\", "dx]", "a/]"}},
		{"commas and braces in classes", []string{"{[,}],x}y"}, []string{",y", "}y", "xy"}, []string{"y", "[y"}},
		{"a class does not match a slash", []string{"a[!b]c", "a[+-9]c"}, []string{"axc", "a0c"}, []string{"a/c", "abc"}},
		{"escapes", []string{`\*\{a\,b\}`}, []string{"*{a,b}", "*{a,b}/c"}, []string{"x{a,b}", "*a"}},
		{"with ./ in front", []string{".//x", "./a/*"}, []string{"x/y", "a/b"}, []string{"b"}},
		{"bytes that are no text", []string{"a/?", "b/\ufffd"}, []string{"a/\xff", "a/é", "b/\ufffd"}, []string{"a/\xff\xff", "b/\xff"}},
		{"two patterns", []string{"a", "b"}, []string{"a/x", "b/x"}, []string{"c", ""}},
		{"no pattern allows nothing", []string{"[a"}, nil, []string{"a", "[a"}},
	} {
		for _, p := range tc.in {
			if !Match(tc.patterns, p) {
				t.Errorf("%s: Match(%q, %q) = false, want true", tc.name, tc.patterns, p)
			}
		}
		for _, p := range tc.out {
			if Match(tc.patterns, p) {
				t.Errorf("%s: Match(%q, %q) = true, want false", tc.name, tc.patterns, p)
			}
		}
		if got := Outside(tc.patterns, append(tc.in[:len(tc.in):len(tc.in)], tc.out...)); !reflect.DeepEqual(got, tc.out) {
			t.Errorf("%s: Outside = %q, want %q", tc.name, got, tc.out)
		}
	}
}

func TestValidateRefuses(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		"":                          `"" is empty`,
		"/abs":                      `"/abs" is absolute: patterns are read from the top of the repository`,
		"{a,/b}":                    `"{a,/b}" is absolute: patterns are read from the top of the repository`,
		"../up":                     `"../up" leaves the repository`,
		"a/../b":                    `"a/../b" leaves the repository`,
		"a/{b,..}":                  `"a/{b,..}" leaves the repository`,
		`a/\.\.`:                    `"a/\\.\\." leaves the repository`,
		"a/./b":                     `"a/./b" has a part that is only a dot`,
		"a//b":                      `"a//b" has two slashes in a row`,
		".":                         `"." names the top of the repository itself`,
		".//":                       `".//" names the top of the repository itself`,
		"{a,}":                      `"{a,}" has an empty alternative in its braces`,
		"[a":                        `"[a" is not a pattern: a bracket, a brace or a backslash is left open`,
		"a}":                        `"a}" is not a pattern: a bracket, a brace or a backslash is left open`,
		"a[/]b":                     `"a[/]b" has a slash inside brackets or after a backslash`,
		`a\/`:                       `"a\\/" has a slash inside brackets or after a backslash`,
		"a\x00":                     `"a\x00" holds a NUL byte`,
		"a\xff":                     `"a\xff" is not valid UTF-8`,
		strings.Repeat("{a,b}", 10): `"` + strings.Repeat("{a,b}", 10) + `" has more than 1,000 alternatives in its braces`,
		strings.Repeat("a", 4097):   `"` + strings.Repeat("a", 100) + `…" is longer than any path`,
	} {
		err := Validate(give)
		var bad *PatternError
		if !errors.As(err, &bad) || bad.Pattern != give || bad.Error() != want {
			t.Errorf("Validate(%q) = %v, want %s", give, err, want)
		}
	}
	for _, fine := range []string{"**", "a", "./a/", ".github/*", "...", "a/**/", strings.Repeat("{a,b}", 9)} {
		if err := Validate(fine); err != nil {
			t.Errorf("Validate(%q) = %v, want none", fine, err)
		}
	}
	var e *PatternError
	if err := Validate("./"); !errors.As(err, &e) || e.Hint() != "** matches every path" {
		t.Errorf("hint of %v is not what a user needs", err)
	}
}
