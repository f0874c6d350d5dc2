package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// envOf makes a Getenv from NAME=value words.
func envOf(vars ...string) func(string) string {
	return func(name string) string {
		for _, v := range vars {
			if n, value, _ := strings.Cut(v, "="); n == name {
				return value
			}
		}
		return ""
	}
}

func TestDetectFile(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	tests := []struct {
		vars  []string
		color bool
		width int
	}{
		{[]string{"TERM=xterm"}, false, 0},
		{[]string{"CLICOLOR_FORCE=1"}, true, 0},
		{[]string{"CLICOLOR_FORCE=0"}, false, 0},
		{[]string{"CLICOLOR_FORCE=1", "NO_COLOR=1"}, false, 0},
		{[]string{"COLUMNS=33"}, false, 33},
		{[]string{"COLUMNS=-1"}, false, 0},
		{[]string{"COLUMNS=wide"}, false, 0},
	}
	for _, tt := range tests {
		got := detect(&sink{w: file}, envOf(tt.vars...))
		if width, _ := got.Size(); got.TTY || got.Motion || got.Color != tt.color || width != tt.width {
			t.Errorf("detect(%q) = %+v, width %d, want no terminal, color %v, width %d",
				tt.vars, got, width, tt.color, tt.width)
		}
	}
	if got := detect(&strings.Builder{}, envOf("TERM=xterm")); got.TTY || got.Color || got.Motion {
		t.Errorf("detect(no file) = %+v, want nothing", got)
	}
	if w, h := (Terminal{}).Size(); w != 0 || h != 0 {
		t.Errorf("zero Terminal: %dx%d, want no limit", w, h)
	}
}

func TestAbilities(t *testing.T) {
	t.Parallel()
	tests := []struct {
		vars          []string
		color, motion bool
	}{
		{[]string{"TERM=xterm"}, true, true},
		{[]string{"TERM=dumb"}, false, false},
		{nil, false, false},
		{[]string{"TERM=xterm", "NO_COLOR=1"}, false, true},
		{[]string{"TERM=xterm", "CI=true"}, true, false},
		{[]string{"TERM=xterm", "CI=false"}, true, true},
		{[]string{"TERM=dumb", "CLICOLOR_FORCE=1"}, true, false},
	}
	for _, tt := range tests {
		got := Terminal{TTY: true}.able(envOf(tt.vars...))
		if got.Color != tt.color || got.Motion != tt.motion {
			t.Errorf("able(%q) = %+v, want color %v, motion %v", tt.vars, got, tt.color, tt.motion)
		}
	}
}

func TestPaint(t *testing.T) {
	t.Parallel()
	color := Terminal{Color: true}
	if got := color.paint(styleError, "no"); got != "\x1b[1;31mno\x1b[0m" {
		t.Errorf("paint = %q", got)
	}
	for _, got := range []string{
		color.paint(stylePlain, "no"), Terminal{}.paint(styleError, "no"),
	} {
		if got != "no" {
			t.Errorf("paint = %q, want it plain", got)
		}
	}
	for s := stylePlain; s <= styleQuiet; s++ {
		if got := color.paint(s, ""); got != "" {
			t.Errorf("paint(%d, nothing) = %q", s, got)
		}
	}
}

func TestPrintable(t *testing.T) {
	t.Parallel()
	tests := []struct{ give, want string }{
		{"", ""},
		{"pkg/a b", "pkg/a b"},
		{"größe 文件 🎉 e\u0301", "größe 文件 🎉 e\u0301"},
		{"a\nb\tc\rd", `a\nb\tc\rd`},
		{"\x1b[31mred\x1b]0;title\x07", `\x1b[31mred\x1b]0;title\a`},
		{"\u009b2J", `\u009b2J`}, // CSI in one byte of Latin-1
		{"evil\u202egpj.exe", `evil\u202egpj.exe`},
		{"\u2066\u200b\ufeff\u2028", `\u2066\u200b\ufeff\u2028`},
		{"\xff\xfe", `\xff\xfe`},
		{"\x00\x7f", `\x00\x7f`},
		{"\U000e0041", `\U000e0041`}, // a tag character
		{"\ufffd", "\ufffd"},
		{`C:\new`, `C:\new`},
		{"it's \"so\"", "it's \"so\""},
	}
	for _, tt := range tests {
		if got := Printable(tt.give); got != tt.want {
			t.Errorf("Printable(%q) = %s, want %s", tt.give, got, tt.want)
		}
	}
	if got, want := PrintableText("a\n\tb\r\x1b[0m"), "a\n\tb"+`\r\x1b[0m`; got != want {
		t.Errorf("PrintableText = %q, want %q", got, want)
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add("a\x1b[2J\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := Printable(s)
		if !utf8.ValidString(got) {
			t.Errorf("Printable(%q) = %q: not UTF-8", s, got)
		}
		for _, r := range got {
			if !unicode.IsPrint(r) {
				t.Errorf("Printable(%q) = %q: holds %U", s, got, r)
			}
		}
		if again := Printable(got); again != got {
			t.Errorf("Printable(%q) = %q, twice %q", s, got, again)
		}
	})
}

// fullDisk is a disk without room.
type fullDisk struct{ room int }

var errFull = errors.New("no space left")

func (f *fullDisk) Write(p []byte) (int, error) {
	if n := f.room; n < len(p) {
		f.room = 0
		return n, errFull
	}
	f.room -= len(p)
	return len(p), nil
}

func TestSink(t *testing.T) {
	t.Parallel()
	s := &sink{w: &fullDisk{room: 5}}
	if n, err := s.Write([]byte("abc")); n != 3 || err != nil || s.failure() != nil {
		t.Errorf("Write = %d, %v", n, err)
	}
	if _, err := s.Write([]byte("def")); !errors.Is(err, errFull) {
		t.Errorf("Write past the end = %v, want %v", err, errFull)
	}
	_, _ = s.Write(nil)
	if !errors.Is(s.failure(), errFull) || s.written() != 5 {
		t.Errorf("sink remembers %v after %d bytes, want %v after 5", s.failure(), s.written(), errFull)
	}
}
