package mcp

import (
	"strings"
	"testing"
)

func TestUnfence(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, give, want, err string }{
		{name: "no fence", give: "return 1\n", want: "return 1\n"},
		{name: "empty", give: " \n", want: " \n"},
		{name: "a fence", give: "```js\nreturn 1\n```", want: "\nreturn 1"},
		{name: "blank lines around", give: "\n```javascript\nreturn 1\n```\n\n", want: "\n\nreturn 1"},
		{name: "without a language", give: "```\nreturn 1\n```", want: "\nreturn 1"},
		{name: "other marks", give: "~~~~js title\nreturn `\n```\n`\n~~~~", want: "\nreturn `\n```\n`"},
		{name: "longer marks", give: "````js\nreturn 1 // ```\n```\n````", want: "\nreturn 1 // ```\n```"},
		{name: "other line ends", give: "```js\r\nreturn 1\r\n```\r\n", want: "\nreturn 1"},
		{name: "no end", give: "```js\nreturn 1", err: "code:1: the Markdown fence that begins here has no end"},
		{name: "another language", give: "\n```python\nprint()\n```", err: `code:2: a fence for "python": want a JavaScript program`},
		{name: "text behind", give: "```js\nreturn 1\n```\nThat is it.", err: "code:4: text follows the Markdown fence of the script; send the script alone"},
		{name: "text before", give: "Here it is:\n\n```js\nreturn 1\n```", err: "code:1: text stands before the Markdown fence in line 3; send the script alone"},
		{name: "a fence in a comment", give: "/*\n```js\n```\n*/\nreturn 1", want: "/*\n```js\n```\n*/\nreturn 1"},
		{name: "comments before", give: "// a\n\n/* b */\n/* c\n``` d */\n```js\nreturn 1\n```", want: "// a\n\n/* b */\n/* c\n``` d */\n\nreturn 1"},
		{name: "a comment, then text before", give: "// a\n```\nreturn 1\n```\n// b", err: "code:5: text follows the Markdown fence of the script; send the script alone"},
		{name: "a fence in a later comment", give: "// a\nreturn 1\n/*\n```js\n```\n*/", want: "// a\nreturn 1\n/*\n```js\n```\n*/"},
		{name: "code behind a comment", give: "/* a */ return 1\n/*\n```js\n*/", want: "/* a */ return 1\n/*\n```js\n*/"},
		{name: "a comment without an end", give: "/* a\n```js\nreturn 1\n```", want: "/* a\n```js\nreturn 1\n```"},
		{name: "on one line", give: "```js return 8```", err: "code:1: a Markdown fence on one line; send the script alone, or put the fences on lines of their own"},
		{name: "on one line with a blank", give: "// a\n``` return 8 ``` \n", err: "code:2: a Markdown fence on one line; send the script alone, or put the fences on lines of their own"},
		{name: "other marks on one line", give: "~~~js return 8 ~~~", err: "code:1: a Markdown fence on one line; send the script alone, or put the fences on lines of their own"},
		{name: "a template of templates", give: "``` ` `", want: "``` ` `"},
		{name: "an empty template", give: "return ``", want: "return ``"},
	} {
		got, err := unfence(tt.give)
		if said := errText(err); said != tt.err || err == nil && got != tt.want {
			t.Errorf("%s: unfence = %q, %q, want %q, %q", tt.name, got, said, tt.want, tt.err)
		}
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// FuzzUnfence holds that lines keep their numbers, and that a text without a
// fence is left alone.
func FuzzUnfence(f *testing.F) {
	for _, seed := range []string{"return 1", "```js\nreturn 1\n```", "~~~\n~~~", "x\n```js\n```", "``` `", "\r\n```\r\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := unfence(text)
		switch {
		case err != nil:
			if !strings.HasPrefix(err.Error(), "code:") {
				t.Errorf("unfence(%q): %v names no line", text, err)
			}
		case !strings.Contains(text, "```") && !strings.Contains(text, "~~~") && got != text:
			t.Errorf("unfence(%q) = %q", text, got)
		default:
			was := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
			for i, line := range strings.Split(strings.ReplaceAll(got, "\r\n", "\n"), "\n") {
				if line != "" && line != was[i] {
					t.Errorf("unfence(%q): line %d is %q", text, i+1, line)
				}
			}
		}
	})
}
