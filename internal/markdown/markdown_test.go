package markdown

import "testing"

func TestCode(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":             "",
		" \n ":         "",
		"a\n# b":       "` a # b `",
		"a`b``c":       "``` a`b``c ```",
		"\x1b[31m@x":   "` \\x1b[31m@x `",
		"a\u202eb\xff": "` a\\u202eb\\xff `",
	} {
		if got := Code(text); got != want {
			t.Errorf("Code(%q) = %q, want %q", text, got, want)
		}
	}
	if got, want := Fence("go", "a\n```\n@b\n"), "````go\na\n```\n@b\n````\n"; got != want {
		t.Errorf("Fence = %q, want %q", got, want)
	}
}
