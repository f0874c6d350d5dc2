package picture

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// shownLines are the rows of a screen as text, without the blanks at their ends.
func shownLines(s *Screen) []string {
	lines := make([]string, s.rows)
	for i, row := range s.cells {
		for _, c := range row {
			lines[i] += string(c.Rune)
		}
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

func TestScreen(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, give, want string }{
		{"text", "one\r\ntwo", "one|two|"},
		{"scrolls", "1\r\n2\r\n3\r\n4", "2|3|4"},
		{"wraps", "0123456789ab", "0123456789|ab|"},
		{"over", "one\rtwo", "two||"},
		{"up and clear", "one\r\ntwo\x1b[1A\r\x1b[J3", "3||"},
		{"clear to the end", "one two\x1b[4D\x1b[K", "one||"},
		{"clear to the cursor", "one two\x1b[4D\x1b[1K", "    two||"},
		{"clear all", "one\x1b[2J", "||"},
		{"place", "\x1b[2;3Hx\x1b[Hy", "y|  x|"},
		{"column", "abc\x1b[2Gx", "axc||"},
		{"beyond", "\x1b[99;99Hx\x1b[99A\x1b[99Dy", "y||         x"},
		{"colors", "\x1b[1;32mgreen\x1b[0m", "green||"},
		{"title", "\x1b]0;title\x07x\x1b]8;;a\x1b\\y", "xy||"},
		{"modes", "\x1b[?25l\x1b[?2004hx\x1b(By", "xy||"},
		{"tab and back", "a\tb\bc", "a       c||"},
		{"bad sequence", "\x1b[1\x01x", "[1x||"},
	} {
		for size := 1; size <= len(tt.give); size++ { // however it is cut
			s := NewScreen(3, 10)
			for piece := range slices.Chunk([]byte(tt.give), size) {
				if n, err := s.Write(piece); n != len(piece) || err != nil {
					t.Fatal(n, err)
				}
			}
			if got := strings.Join(shownLines(s), "|"); got != tt.want {
				t.Errorf("%s, by %d: %q, want %q", tt.name, size, got, tt.want)
			}
		}
	}
}

func TestStyles(t *testing.T) {
	t.Parallel()
	s := NewScreen(1, 10)
	_, _ = s.Write([]byte("\x1b[1;31ma\x1b[22;94mb\x1b[38;5;2mc\x1b[38;2;1;2;3;2md\x1b[me"))
	want := []Style{{Bold: true, Color: 2}, {Color: 13}, {Color: 3}, {Dim: true, Color: 3}, {}}
	for i, w := range want {
		if got := s.cells[0][i].Style; got != w {
			t.Errorf("cell %d has %+v, want %+v", i, got, w)
		}
	}
}

// FuzzScreen: no output breaks the screen, however it is cut.
func FuzzScreen(f *testing.F) {
	for _, seed := range []string{"", "\x1b[", "\x1b[999999999999999999999A", "\x1b]0;", "\xff\xfe", "\x1b[2J\x1b[1K\x1b[0K", "a\x1b[5;5Hb\r\n\x1b[J"} {
		f.Add(seed, 3)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		s := NewScreen(4, 7)
		for piece := range slices.Chunk([]byte(text), 1+abs(size)%9) {
			_, _ = s.Write(piece)
		}
		if len(s.cells) != 4 || len(s.rest) > longest+utf8.UTFMax+9 {
			t.Fatalf("%d rows, %d bytes kept", len(s.cells), len(s.rest))
		}
		for _, row := range s.cells {
			if len(row) != 7 {
				t.Fatalf("a row of %d", len(row))
			}
		}
		svg := Record(4, 7, []Output{{Text: []byte(text)}}).SVG(text)
		if err := wellFormed(svg); err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
	})
}

func abs(n int) int {
	if n < 0 {
		return -(n + 1)
	}
	return n
}

func wellFormed(svg []byte) error {
	for d := xml.NewDecoder(strings.NewReader(string(svg))); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// TestRecord checks that outputs close together share a frame, and that waits
// are bounded.
func TestRecord(t *testing.T) {
	t.Parallel()
	r := Record(2, 20, []Output{
		{0, []byte("$ ls & <more>\r\n")},
		{50 * time.Millisecond, []byte("one")},
		{60 * time.Millisecond, []byte("  two")},
		{time.Minute, []byte("\r\x1b[K\x1b[32mthree\x1b[0m  four")},
		{2 * time.Minute, nil},
	})
	if len(r.frames) != 2 {
		t.Errorf("%d frames, want 2", len(r.frames))
	}
	starts, total := r.times()
	if want := []time.Duration{0, longWait}; !slices.Equal(starts, want) || total != longWait+lastHold {
		t.Errorf("frames start at %v of %v", starts, total)
	}
	svg := r.SVG("a & b")
	if err := wellFormed(svg); err != nil {
		t.Fatal(err)
	}
	lines, err := LastLines(svg)
	if want := []string{"$ ls & <more>", "three  four"}; err != nil || !slices.Equal(lines, want) {
		t.Errorf("LastLines = %q, %v, want %q", lines, err, want)
	}
	if n := strings.Count(string(svg), "&lt;more&gt;"); n != 1 {
		t.Errorf("a row of two frames is written %d times", n)
	}
	for _, want := range []string{`class="c3"`, "<title>a &amp; b</title>", "translateY(-36px)"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("the picture has no %s", want)
		}
	}
	if _, err := LastLines([]byte("<svg>")); err == nil {
		t.Error("half a picture has lines")
	}
	if _, err := LastLines(Record(1, 1, nil).SVG("")); err == nil {
		t.Error("a picture of nothing has lines")
	}
}
