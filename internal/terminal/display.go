package terminal

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Display knows the changes of a program to a terminal that the program may not
// undo itself: the modes that differ from their defaults. It reads the
// program's output; the zero value is a terminal that was just switched on.
type Display struct {
	part part
	seq  []byte // of the sequence that is being read

	modes map[int]bool // private modes: true where set, false where reset

	keypad   bool // application keypad
	keyboard bool // the kitty protocol was asked for
	keys     bool // modifyOtherKeys
	region   bool // the lines that scroll were narrowed
	cursor   bool // the form of the cursor was changed
}

// part is where in the stream the reader is.
type part int

const (
	inText part = iota
	inEscape
	inControl   // after ESC [
	inString    // after ESC ] and the like, until BEL or ESC \
	inStringEnd // an ESC in it
)

// maxSeq bounds a sequence; Display needs no longer sequence.
const maxSeq = 64

// normallySet are the private modes that are set by default.
func normallySet() []int { return []int{7, 25} } // wrap at the margin, show the cursor

// altScreens are the modes that show another screen, undone last.
func altScreens() []int { return []int{47, 1047, 1049} }

// known are the private modes that make a terminal unusable for the next
// program: keys that send something else, mouse reports, focus reports,
// bracketed paste, held output, and other screens.
func known() []int {
	return slices.Concat(normallySet(), altScreens(),
		[]int{1, 9, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004, 2026})
}

// Write reads the program's output. It never fails.
func (s *Display) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if s.part == inText {
			// Nearly all of the output is text.
			i := bytes.IndexByte(p, 0x1b)
			if i < 0 {
				return n, nil
			}
			s.part, s.seq, p = inEscape, s.seq[:0], p[i+1:]
			continue
		}
		s.next(p[0])
		p = p[1:]
	}
	return n, nil
}

// Whole tells whether nothing is begun: something else may be written now.
func (s *Display) Whole() bool { return s.part == inText }

// next reads a byte that is not text.
func (s *Display) next(b byte) {
	switch {
	case s.part == inStringEnd && b == '\\', s.part == inString && b == 0x07:
		s.part = inText
	case s.part == inStringEnd:
		s.part, s.seq = inEscape, s.seq[:0]
		s.next(b)
	case b == 0x1b && s.part == inString:
		s.part = inStringEnd
	case b == 0x1b:
		s.part, s.seq = inEscape, s.seq[:0]
	case b == 0x18 || b == 0x1a: // these break off whatever it is
		s.part = inText
	case s.part == inString:
	case s.part == inEscape:
		s.escape(b)
	case b >= 0x40 && b <= 0x7e:
		s.part = inText
		s.control(b)
	case b >= 0x20 && len(s.seq) < maxSeq:
		s.seq = append(s.seq, b)
	}
}

// escape reads the byte after ESC.
func (s *Display) escape(b byte) {
	switch {
	case b == '[':
		s.part = inControl
		return
	case strings.IndexByte("]PX^_", b) >= 0:
		s.part = inString
		return
	case b >= 0x20 && b < 0x30: // a further byte follows, as in ESC ( B
		return
	}
	s.part = inText
	switch b {
	case '=', '>':
		s.keypad = b == '='
	case 'c':
		*s = Display{seq: s.seq}
	}
}

// control reads the last byte of a control sequence.
func (s *Display) control(last byte) {
	seq := string(s.seq)
	switch {
	case (last == 'h' || last == 'l') && strings.HasPrefix(seq, "?"):
		for text := range strings.SplitSeq(seq[1:], ";") {
			if mode, err := strconv.Atoi(text); err == nil {
				s.mode(mode, last == 'h')
			}
		}
	case last == 'u' && (strings.HasPrefix(seq, ">") || strings.HasPrefix(seq, "=")):
		s.keyboard = true
	case last == 'm' && (seq == ">4" || strings.HasPrefix(seq, ">4;")):
		s.keys = seq != ">4" && seq != ">4;0"
	case last == 'r' && (seq == "" || seq[0] != '?'):
		s.region = seq != ""
	case last == 'q' && strings.HasSuffix(seq, " "):
		s.cursor = seq != " " && seq != "0 "
	case last == 'p' && seq == "!": // a soft reset
		s.mode(1, false)
		s.mode(25, true)
		s.keypad, s.region = false, false
	}
}

func (s *Display) mode(mode int, set bool) {
	if !slices.Contains(known(), mode) {
		return
	}
	if s.modes == nil {
		s.modes = map[int]bool{}
	}
	s.modes[mode] = set
}

// odd are the modes that are not as by default, other screens last.
func (s *Display) odd() []int {
	var odd []int
	for mode, set := range s.modes {
		if set != slices.Contains(normallySet(), mode) {
			odd = append(odd, mode)
		}
	}
	slices.SortFunc(odd, func(a, b int) int {
		if alt := slices.Contains(altScreens(), a); alt != slices.Contains(altScreens(), b) {
			if alt {
				return 1
			}
			return -1
		}
		return a - b
	})
	return odd
}

// Resume returns the sequences that make a new terminal like this one, for a
// reader who joins now.
func (s *Display) Resume() []byte {
	var b bytes.Buffer
	odd := s.odd()
	slices.Reverse(odd) // the screen before the changes on it
	for _, mode := range odd {
		b.WriteString(private(mode, s.modes[mode]))
	}
	if s.keypad {
		b.WriteString("\x1b=")
	}
	return b.Bytes()
}

// Reset makes a terminal usable for the next program.
func (s *Display) Reset() []byte {
	var b bytes.Buffer
	if !s.Whole() {
		b.WriteString("\x18\x1b\\") // ends any sequence that was begun
	}
	const plainKeys = "\x1b[=0u"
	if s.keyboard {
		b.WriteString(plainKeys)
	}
	if s.keys {
		b.WriteString("\x1b[>4m")
	}
	if s.keypad {
		b.WriteString("\x1b>")
	}
	if s.region {
		b.WriteString("\x1b7\x1b[r\x1b8") // it moves the cursor
	}
	alt := false
	for _, mode := range s.odd() {
		b.WriteString(private(mode, !s.modes[mode]))
		alt = alt || slices.Contains(altScreens(), mode)
	}
	if s.keyboard && alt {
		b.WriteString(plainKeys) // each screen has its own
	}
	if s.cursor {
		b.WriteString("\x1b[0 q")
	}
	b.WriteString("\x1b(B\x0f\x1b[0m") // letters, and no colours
	return b.Bytes()
}

// private sets or resets a private mode.
func private(mode int, set bool) string {
	if set {
		return fmt.Sprintf("\x1b[?%dh", mode)
	}
	return fmt.Sprintf("\x1b[?%dl", mode)
}
