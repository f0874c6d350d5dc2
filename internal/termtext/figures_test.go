package termtext

import (
	"math"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

func TestDuration(t *testing.T) {
	t.Parallel()
	tests := []struct {
		give time.Duration
		want string
	}{
		{-time.Second, "0.0s"},
		{0, "0.0s"},
		{time.Nanosecond, "1ms"},
		{12 * time.Millisecond, "12ms"},
		{100 * time.Millisecond, "0.1s"},
		{1240 * time.Millisecond, "1.2s"},
		{59940 * time.Millisecond, "59.9s"},
		{59960 * time.Millisecond, "1m00s"},
		{3*time.Minute + 4*time.Second, "3m04s"},
		{59*time.Minute + 59700*time.Millisecond, "1h00m"},
		{time.Hour + 2*time.Minute + 29*time.Second, "1h02m"},
		{23*time.Hour + 59*time.Minute + 40*time.Second, "1d00h"},
		{51 * time.Hour, "2d03h"},
		{math.MaxInt64, "106751d23h"},
	}
	for _, tt := range tests {
		if got := Duration(tt.give); got != tt.want {
			t.Errorf("Duration(%d) = %q, want %q", tt.give, got, tt.want)
		}
	}
}

func TestBytes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		give int64
		want string
	}{
		{0, "0 B"},
		{1023, "1023 B"},
		{1024, "1.0 KiB"},
		{1536, "1.5 KiB"},
		{10 << 10, "10 KiB"},
		{1<<20 - 1, "1.0 MiB"},
		{64 << 20, "64 MiB"},
		{5 << 30, "5.0 GiB"},
		{math.MaxInt64, "8.0 EiB"},
	}
	for _, tt := range tests {
		if got := Bytes(tt.give); got != tt.want {
			t.Errorf("Bytes(%d) = %q, want %q", tt.give, got, tt.want)
		}
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	tests := []struct {
		give int
		want string
	}{
		{0, "0 patches"},
		{1, "1 patch"},
		{3, "3 patches"},
		{999, "999 patches"},
		{1000, "1,000 patches"},
		{-1000, "-1,000 patches"},
		{-100, "-100 patches"},
		{1234567, "1,234,567 patches"},
	}
	for _, tt := range tests {
		if got := Count(tt.give, "patch", "patches"); got != tt.want {
			t.Errorf("Count(%d) = %q, want %q", tt.give, got, tt.want)
		}
	}
}

func TestAgo(t *testing.T) {
	t.Parallel()
	now := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		give time.Duration
		want string
	}{
		{-time.Hour, "just now"},
		{time.Second, "just now"},
		{12 * time.Second, "12s ago"},
		{60 * time.Second, "1m ago"},
		{119 * time.Minute, "1h ago"},
		{24 * time.Hour, "1d ago"},
		{29 * 24 * time.Hour, "29d ago"},
		{30 * 24 * time.Hour, "2025-01-30"},
	}
	for _, tt := range tests {
		if got := Ago(now, now.Add(-tt.give)); got != tt.want {
			t.Errorf("Ago(%v before) = %q, want %q", tt.give, got, tt.want)
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
		{"\u009b2J", `\u009b2J`}, // CSI in a single byte of Latin-1
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
		if got := Line(tt.give); got != tt.want {
			t.Errorf("Printable(%q) = %s, want %s", tt.give, got, tt.want)
		}
	}
	if got, want := Text("a\n\tb\r\x1b[0m"), "a\n\tb"+`\r\x1b[0m`; got != want {
		t.Errorf("PrintableText = %q, want %q", got, want)
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add("a\x1b[2J\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := Line(s)
		if !utf8.ValidString(got) {
			t.Errorf("Printable(%q) = %q: not UTF-8", s, got)
		}
		for _, r := range got {
			if !unicode.IsPrint(r) {
				t.Errorf("Printable(%q) = %q: holds %U", s, got, r)
			}
		}
		if again := Line(got); again != got {
			t.Errorf("Printable(%q) = %q, twice %q", s, got, again)
		}
	})
}
