package terminal

import (
	"bytes"
	"testing"
)

func TestDisplay(t *testing.T) {
	t.Parallel()
	const letters = "\x1b(B\x0f\x1b[0m"
	for _, tt := range []struct{ name, give, again, undo string }{
		{"text", "plain text\r\n\x1b[31mred\x1b[m\x1b]0;title\x07", "", ""},
		{"editor", "\x1b[?1049h\x1b[?1h\x1b=\x1b[?25l", "\x1b[?1049h\x1b[?25l\x1b[?1h\x1b=", "\x1b>\x1b[?1l\x1b[?25h\x1b[?1049l"},
		{"editor left", "\x1b[?1049h\x1b[?1h\x1b=\x1b[?25l\x1b[?25h\x1b[?1l\x1b>\x1b[?1049l", "", ""},
		{"several in one", "\x1b[?1000;1006;2004h", "\x1b[?2004h\x1b[?1006h\x1b[?1000h", "\x1b[?1000l\x1b[?1006l\x1b[?2004l"},
		{"no wrap", "\x1b[?7l", "\x1b[?7l", "\x1b[?7h"},
		{"unknown mode", "\x1b[?12h\x1b[4h", "", ""},
		{"kitty", "\x1b[>1u", "", "\x1b[=0u"},
		{"kitty on another screen", "\x1b[?1049h\x1b[>1u", "\x1b[?1049h", "\x1b[=0u\x1b[?1049l\x1b[=0u"},
		{"modifyOtherKeys", "\x1b[>4;2m", "", "\x1b[>4m"},
		{"modifyOtherKeys off", "\x1b[>4;2m\x1b[>4m", "", ""},
		{"region", "\x1b[2;10r", "", "\x1b7\x1b[r\x1b8"},
		{"region off", "\x1b[2;10r\x1b[r", "", ""},
		{"cursor", "\x1b[4 q", "", "\x1b[0 q"},
		{"soft reset", "\x1b[?25l\x1b[?1h\x1b=\x1b[2;9r\x1b[!p", "", ""},
		{"reset", "\x1b[?1049h\x1b[>1u\x1bc", "", ""},
		{"in a string nothing counts", "\x1b]0;\x1b[?25", "", "\x18\x1b\\"},
		{"the end of a string", "\x1bP\x07\x1b\\\x1b[?25l", "\x1b[?25l", "\x1b[?25h"},
		{"a sequence is broken off", "\x1b[?2\x185l", "", ""},
		{"a sequence in a sequence", "\x1b[?2\x1b[?25l", "\x1b[?25l", "\x1b[?25h"},
		{"letters", "\x1b(0lqk\x1b(B", "", ""},
		{"unfinished", "\x1b[?104", "", "\x18\x1b\\"},
	} {
		d := &Display{}
		_, _ = d.Write([]byte(tt.give))
		if got := string(d.Resume()); got != tt.again {
			t.Errorf("%s: again() = %q, want %q", tt.name, got, tt.again)
		}
		if got := string(d.Reset()); got != tt.undo+letters {
			t.Errorf("%s: undo() = %q, want %q", tt.name, got, tt.undo+letters)
		}
	}
}

// FuzzDisplay checks that Reset leaves a terminal without odd modes, whatever
// the output, and that a cut of the text does not matter.
func FuzzDisplay(f *testing.F) {
	f.Add([]byte("\x1b[?1049h\x1b[>1u\x1b]0;t\x07\x1b[2;3r"), 5)
	f.Add([]byte("\x1bP\x1b\x1b[?7l\x18\x1b[4 q"), 3)
	f.Fuzz(func(t *testing.T, text []byte, at int) {
		at = min(max(at, 0), len(text))
		whole, cut := &Display{}, &Display{}
		_, _ = whole.Write(text)
		_, _ = cut.Write(text[:at])
		_, _ = cut.Write(text[at:])
		if a, b := whole.Reset(), cut.Reset(); !bytes.Equal(a, b) || !bytes.Equal(whole.Resume(), cut.Resume()) {
			t.Errorf("cut at %d it is undone by %q, whole by %q", at, b, a)
		}
		_, _ = whole.Write(whole.Reset())
		if odd := whole.odd(); len(odd) > 0 || !whole.Whole() || whole.keypad || whole.region {
			t.Errorf("after it was undone: %+v", whole)
		}
	})
}
