package variants

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// keys returns the names of variants, in their order.
func keys(all []Variant) string {
	var names []string
	for _, v := range all {
		names = append(names, v.Key())
	}
	return strings.Join(names, " ")
}

func TestEmbedded(t *testing.T) {
	t.Parallel()
	all, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	const want = "claude/false-claims claude/safety-asides deepseek/foreign-comments deepseek/phantom-paths gpt/filler-openers " +
		"gpt/narrates-plan gpt/repeats-question qwen/over-comments qwen/skips-verification"
	if got := keys(all); got != want {
		t.Errorf("Embedded = %s\nwant %s", got, want)
	}
	for _, v := range all {
		if v.Failure == "" || v.Measure == "" || v.File != "" || len(v.Text) > 600 {
			t.Errorf("%s = %+v: want a failure, a measure, no file and at most 600 bytes", v.Key(), v)
		}
	}
}

func TestFor(t *testing.T) {
	t.Parallel()
	own := []Variant{{Family: Claude, Mode: "false-claims", Text: "ours"}, {Family: Claude, Mode: "too-polite", Text: "more"}, {Family: Llama, Mode: "x", Text: "y"}}
	all, err := applying("openrouter/anthropic/claude-opus", own)
	if got := keys(all); err != nil || got != "claude/false-claims claude/safety-asides claude/too-polite" || all[0].Text != "ours" {
		t.Errorf("For = %s, %v, and the first says %q", got, err, all[0].Text)
	}
	for model, want := range map[string]string{"llama3": "llama/x", "gemini-2.5-pro": "", "mine": ""} {
		if got, err := applying(model, own); err != nil || keys(got) != want {
			t.Errorf("For(%s) = %s, %v, want %s", model, keys(got), err, want)
		}
	}
	if got := keys(Less(all, []string{"claude/false-claims", "gpt"})); got != "claude/safety-asides claude/too-polite" {
		t.Errorf("Less = %s", got)
	}
	if got := Less(all, []string{"claude"}); len(got) > 0 || len(all) != 3 {
		t.Errorf("Less of a family = %s, and there are %d left of its input", keys(got), len(all))
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	const good = "---\nfailure: f\nmeasure: m\n---\n\nDo.\n\nMore.\n"
	want := Variant{Family: Qwen, Mode: "x-2", Failure: "f", Measure: "m", Text: "Do.\n\nMore.", File: "a/qwen/x-2.md"}
	for _, text := range []string{good, "\ufeff" + good, strings.ReplaceAll(good, "\n", "\r\n"), strings.TrimSpace(good), strings.Replace(good, "---\nf", "---\n\nf", 1)} {
		if got, err := Parse("a/qwen/x-2.md", text); err != nil || got != want {
			t.Errorf("Parse(%q) = %+v, %v", text, got, err)
		}
	}
	for _, test := range []struct{ file, text, want string }{
		{"qwen/x.md", "Do.", "qwen/x.md:1: want front matter between two lines of ---"},
		{"qwen/x.md", "", "qwen/x.md:1: want front matter"},
		{"qwen/x.md", "---\nfailure: f\n", "qwen/x.md:1: the front matter has no end"},
		{"qwen/x.md", "---\nfailure: f\ncolour: m\n---\nDo.", `qwen/x.md:3: unknown field "colour"; the fields are failure, measure`},
		{"qwen/x.md", "---\nfailure: f\nfailure: g\n---\nDo.", `qwen/x.md:3: the field "failure" appears twice`},
		{"qwen/x.md", "---\nfailure:\n---\nDo.", `qwen/x.md:2: the field "failure" is empty`},
		{"qwen/x.md", "---\nfailure\n---\nDo.", `qwen/x.md:2: the field "failure" is empty`},
		{"qwen/x.md", "---\nmeasure: m\n---\nDo.", "qwen/x.md:1: the front matter does not say the failure"},
		{"qwen/x.md", "---\nfailure: f\n---\n \n", "qwen/x.md:3: there is no text below"},
		{"qwen/x.md", "---\nfailure: f\n---\nDo \xff.", "qwen/x.md:4: is no UTF-8"},
		{"qwen/x.md", "---\nfailure: f\n---\nDo \x1b[2J.", "qwen/x.md:4: holds a control character"},
		{"qwen/x.md", "---\nfailure: f\n---\nDo \u202eti.", "qwen/x.md:4: holds an invisible character"},
		{"qwen/x.md", "---\nfailure: f\u200b\n---\nDo it.", "qwen/x.md:2: holds an invisible character"},
		{"qwen/x.md", "---\nfailure: f\n---\n\nDo it.\U000e0041", "qwen/x.md:5: holds an invisible character"},
		{"qwen/x.md", good + strings.Repeat("x", MaxText), "qwen/x.md: has 8234 bytes; a variant may have 8192"},
		{"qven/x.md", good, `qven/x.md: the folder "qven" is not a family; the families are claude, deepseek`},
		{"qwen/X.md", good, `qwen/X.md: "X" names no failure mode`},
		{"qwen/\x1b.md", good, `"qwen/\x1b.md": "\x1b" names no failure mode`},
	} {
		_, err := Parse(test.file, test.text)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Parse(%q, %.80q) = %v, want %s", test.file, test.text, err, test.want)
		}
	}
}

func TestIsKey(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]bool{"claude": true, "claude/safety-asides": true, "claud": false, "claude/": false, "": false, "claude/A": false, "claude/a/b": false} {
		if got := IsKey(word); got != want {
			t.Errorf("IsKey(%q) = %t", word, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	all, err := Embedded()
	if err != nil {
		f.Fatal(err)
	}
	for _, v := range all {
		f.Add(v.Key()+".md", fmt.Sprintf("---\nfailure: %s\nmeasure: %s\n---\n\n%s\n", v.Failure, v.Measure, v.Text))
	}
	f.Add("qwen/x.md", "\ufeff---\r\n---\r\n\x00")
	f.Fuzz(func(t *testing.T, file, text string) {
		v, err := Parse(file, text)
		if err != nil {
			for _, r := range strings.ReplaceAll(err.Error(), "\ufffd", "") {
				if r < ' ' {
					t.Errorf("the error holds a control character: %q", err)
				}
			}
			return
		}
		if v.Text == "" || len(v.Text) > MaxText || !utf8.ValidString(v.Text) || !IsKey(v.Key()) {
			t.Errorf("Parse(%q, %q) = %+v", file, text, v)
		}
		again, err := Parse(file, fmt.Sprintf("---\nfailure: %s\nmeasure: %s\n---\n%s", v.Failure, v.Measure, v.Text))
		if v.Measure != "" && (err != nil || again != v) && len(v.Text)+len(v.Failure)+len(v.Measure) < MaxText-40 {
			t.Errorf("printed and read again: %+v, %v, want %+v", again, err, v)
		}
	})
}

// applying are the variants for a model, as runs find them.
func applying(model string, own []Variant) ([]Variant, error) {
	brought, err := Embedded()
	return Treat(Of(model), Lay(own, brought)), err
}
