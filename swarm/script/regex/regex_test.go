package regex

import (
	"errors"
	"slices"
	"testing"
	"unicode/utf16"
)

func units(s string) []uint16 { return utf16.Encode([]rune(s)) }

func TestMatch(t *testing.T) {
	t.Parallel()
	tests := []struct {
		pattern, flags, text string
		want                 []int
	}{
		{`(?:(a)|b)*`, "", "ab", []int{0, 2, -1, -1}},
		{`(?<=(\d+)(\d+))$`, "", "1053", []int{4, 4, 0, 1, 1, 4}},
		{`\p{L}`, "u", "1é", []int{1, 2}},
		{`\p{Lu}`, "iu", "é", []int{0, 1}},
		{`.`, "u", "😀", []int{0, 2}},
		{`.`, "", "😀", []int{0, 1}},
		{`[\p{L}--[a-z]]`, "v", "abC", []int{2, 3}},
		{`(?<n>a)|(?<n>b)`, "", "b", []int{0, 1, -1, -1, 0, 1}},
		{`x`, "", "ab", nil},
	}
	for _, tt := range tests {
		p, err := Compile(units(tt.pattern), tt.flags)
		if err != nil {
			t.Errorf("Compile(%s) = %v", tt.pattern, err)
			continue
		}
		if got, err := p.Match(units(tt.text), 0, false, nil); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("Match(/%s/%s, %q) = %v, %v, want %v", tt.pattern, tt.flags, tt.text, got, err, tt.want)
		}
	}
}

// TestALongTextTakesNoStack: a repetition takes a single place for all turns,
// or a place on the heap for each.
func TestALongTextTakesNoStack(t *testing.T) {
	t.Parallel()
	text := units(string(slices.Repeat([]rune("ab"), 200_000)))
	for _, pattern := range []string{`^[^]*$`, `^(?:ab)*$`, `^(a|b)*?$`} {
		p, err := Compile(units(pattern), "")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.Match(text, 0, false, nil); err != nil || len(got) < 2 || got[1] != len(text) {
			t.Errorf("Match(/%s/) = %v, %v, want all of the text", pattern, got, err)
		}
	}
}

func TestCheckEndsAMatch(t *testing.T) {
	t.Parallel()
	p, err := Compile(units(`^(a+)+$`), "")
	if err != nil {
		t.Fatal(err)
	}
	over := errors.New("over")
	if _, err := p.Match(append(slices.Repeat(units("a"), 100), '!'), 0, false, func() error { return over }); !errors.Is(err, over) {
		t.Errorf("Match = %v, want the error of check", err)
	}
}

// FuzzCompile: no pattern of a script does more than be refused.
func FuzzCompile(f *testing.F) {
	for _, s := range []string{`(?<=a|\1)(b)*?`, `[\p{L}--\q{a|bc}]`, `\u{1F600}{2,}`, `(?<n>\k<n>)`, `[^a-\d]`, `(?i-s:.)`, `a{99999999999}`, `\c`, `[`, `(((`} {
		f.Add(s, "u", "aab 😀")
		f.Add(s, "", "aab 😀")
		f.Add(s, "vi", "aab 😀")
	}
	over := errors.New("over")
	f.Fuzz(func(t *testing.T, pattern, flags, text string) {
		p, err := Compile(units(pattern), flags)
		if err != nil {
			var e *SyntaxError
			if !errors.As(err, &e) || e.At < 0 || e.At > len(units(pattern)) {
				t.Errorf("Compile(%q, %q) = %#v", pattern, flags, err)
			}
			return
		}
		got, err := p.Match(units(text), 0, false, func() error { return over })
		if err != nil && !errors.Is(err, over) {
			t.Errorf("Match = %v", err)
		}
		if got != nil && (got[0] < 0 || got[0] > got[1] || got[1] > len(units(text))) {
			t.Errorf("/%s/%s matches %q at %v", pattern, flags, text, got[:2])
		}
	})
}
