package thought

import (
	"slices"
	"strings"
	"testing"
)

func TestCut(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		"":                                    "",
		"Said.":                               "Said.",
		" Said.":                              " Said.",
		"<think>why</think>Said.":             "Said.",
		"\n<think>\nwhy\n</think>\n\nSaid.\n": "Said.\n",
		"[THINK]why[/THINK] Said.":            "Said.",
		"<think>a</think>\n<think>b</think>Said.": "Said.",
		"<think>never ended":                      "",
		"<think></think>":                         "",
		"why\nand why\n</think>\n\nSaid.":         "Said.",
		"The mark </think> ends them.":            "The mark </think> ends them.",
		"Put <think> before it:\n</think>":        "",
		"So it is:\n<think>\nx\n</think>\nSaid.":  "So it is:\n<think>\nx\n</think>\nSaid.",
		"<review>\n<think>ok\n</think>\nSaid.":    "<review>\n<think>ok\n</think>\nSaid.",
		"why\n[THINK]\nand why\n</think>\nSaid.":  "Said.",
		"[/THINK]\nSaid.":                         "Said.",
		"An example:\n```\nwhy\n</think>\n```\n":  "An example:\n```\nwhy\n</think>\n```\n",
		// An end that is quoted ends nothing.
		"A\n~~~\n</think>\n~~~\nB":                           "A\n~~~\n</think>\n~~~\nB",
		"A\n````md\n```\n</think>\n```\n</think>\n````\nB":   "A\n````md\n```\n</think>\n```\n</think>\n````\nB",
		"A\n```\n~~~\n</think>\n``` x\n</think>\n```\nB":     "A\n```\n~~~\n</think>\n``` x\n</think>\n```\nB",
		"A:\n\n    </think>\n\t</think>\n\nB":                "A:\n\n    </think>\n\t</think>\n\nB",
		"A\n- <think>\n</think>\nB":                          "A\n- <think>\n</think>\nB",
		"A\n10. 1) ```\n    </think>\n </think>\n    ```\nB": "A\n10. 1) ```\n    </think>\n </think>\n    ```\nB",
		"A\n- </think>\nB":                                   "A\n- </think>\nB",
		"A\n    ```\n</think>\nB":                            "B",
		"A\n``` `x`\n</think>\nB":                            "B",
		"A\n``\n~~\n</think>\nB":                             "B",
		"A\n~~~ `x`\nx\n   ~~~~  \n   </think> \nB":          "B",
		"A\n- ~~~\n  x\n  ~~~\n</think>\nB":                  "B",
		"\n          </think>\nB":                            "B",
		"A" + strings.Repeat("`", 200) + "\n</think>\nB":     "B",
		"A\n</think>" + strings.Repeat(" ", 200) + "\nB":     "B",
		"A\n</think>" + strings.Repeat(" ", 200) + "x\nB":    "A\n</think>" + strings.Repeat(" ", 200) + "x\nB",
		"<thinker>is a tag</thinker>":                        "<thinker>is a tag</thinker>",
		"It begins with <think>, and then Said.":             "It begins with <think>, and then Said.",
		"`<think>` is how it begins: </think> not":           "`<think>` is how it begins: </think> not",
	} {
		if got := Cut(give); got != want {
			t.Errorf("Cut(%q) = %q, want %q", give, got, want)
		}
	}
	// Answers in tags that somebody asked for.
	for _, whole := range []string{
		"<reasoning>why</reasoning><answer>x</answer>",
		"<thinking>why</thinking> Said.",
		"<thought>why</thought>Said.",
		"<reasoning>\nnever closed",
		"<review>\n<reasoning>looks ok\n</reasoning>\n<verdict>pass</verdict>",
		"why\n</reasoning>\nSaid.",
	} {
		if got := Cut(whole); got != whole {
			t.Errorf("Cut(%q) = %q", whole, got)
		}
	}
}

// A text in pieces gives the same result as the whole text, however it is cut.
func TestStream(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		"<think>why</think>Said <think>aloud</think>": "Said <think>aloud</think>",
		"[THINK]a</think>b[/THINK]Said":               "Said",
		"<thinking>a</thinking>Said":                  "<thinking>a</thinking>Said",
		"<th":                                         "<th",
		"<thin ice":                                   "<thin ice",
		" \n <think>never":                            "",
		"Said.":                                       "Said.",
		"<think>a</think><think>b</think>c":           "c",
		" ":                                           " ",
	} {
		for size := 1; size <= len(give); size++ {
			var s Stream
			got := ""
			for rest := give; rest != ""; {
				n := min(size, len(rest))
				got += s.Next(rest[:n])
				rest = rest[n:]
			}
			if got += s.End(false); got != want {
				t.Errorf("in pieces of %d %q is %q, want %q", size, give, got, want)
			}
		}
	}
}

// The text of a model whose template begins to think is held until its thoughts
// have ended, or the text has. A text that was cut off in them gives nothing.
func TestOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		model, text string
		cut, apart  bool
		want        []string // the text returned at once, and at the end
	}{
		{model: "m", text: "why\n</think>\nSaid.", want: []string{"why\n</think>\nSaid.", ""}},
		{model: "Qwen/QwQ-32B", text: "why\n</think>\nSaid.", want: []string{"", "Said."}},
		{model: "deepseek-r1:14b", text: "Said.", want: []string{"", "Said."}},
		{model: "deepseek-r1:14b", text: "why", cut: true, want: []string{"", ""}},
		{model: "deepseek-r1:14b", text: "why\n</think>\nSaid.", cut: true, want: []string{"", "Said."}},
		{model: "deepseek-r1:14b", text: "Said.", apart: true, want: []string{"Said.", ""}},
		{model: "r1", text: "<reasoning>a</reasoning>[THINK]b[/THINK]Said.", want: []string{"Said.", ""}},
		{model: "m", text: "<reasoning>a</reasoning>Said.", want: []string{"<reasoning>a</reasoning>Said.", ""}},
		{model: "r1", text: "<think>why</think><reasoning>a</reasoning>Said.", want: []string{"<reasoning>a</reasoning>Said.", ""}},
		{model: "r1", text: "<reasoning>a</reasoning>Said.", apart: true, want: []string{"<reasoning>a</reasoning>Said.", ""}},
		{model: "r1", text: "why\n<reasoning>\n</think>\nSaid.", want: []string{"", "Said."}},
		{model: "exaone-deep:32b", text: "why\n</thought>\nSaid.", want: []string{"", "Said."}},
		{model: "r1", text: "```\n<think>\n```\n</think>\nSaid.", want: []string{"", "Said."}},
	} {
		s := thoughtOf(test.model, test.apart)
		got := []string{s.Next(test.text), s.End(test.cut)}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q (cut %t, apart %t) is %q, want %q", test.model, test.text, test.cut, test.apart, got, test.want)
		}
	}
}

func thoughtOf(model string, apart bool) Stream {
	s := Of(model)
	if apart {
		s.Apart()
	}
	return s
}

func FuzzCut(f *testing.F) {
	f.Add("<think>a</think>b", "m", uint8(3))
	f.Add("a\n</thought>\nb", "m", uint8(1))
	f.Add("a\n</think>\nb", "r1", uint8(1))
	f.Add("<think>a</think>\r\r\n b", "m", uint8(0))
	f.Add("```\n</think>\n```", "m", uint8(2))
	f.Fuzz(func(t *testing.T, text, model string, size uint8) {
		if got := Cut(text); !strings.HasSuffix(text, got) {
			t.Errorf("Cut(%q) = %q, which is no end of it", text, got)
		}
		whole, pieces := Of(model), Of(model)
		want := whole.Next(text) + whole.End(false)
		got := ""
		for rest := text; rest != ""; {
			n := min(int(size)+1, len(rest))
			got += pieces.Next(rest[:n])
			rest = rest[n:]
		}
		// However it is cut to pieces, the same is left of it, and nothing is made up.
		if got += pieces.End(false); Cut(got) != Cut(want) || !strings.HasSuffix(text, got) {
			t.Errorf("%q by %d: %q, want %q", text, size, got, want)
		}
	})
}
