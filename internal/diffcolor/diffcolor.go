// Package diffcolor colours the lines of a patch, and of git's --stat, as git
// does by default.
//
// Its input must be safe for a terminal already: it adds sequences and removes
// none.
package diffcolor

import (
	"strconv"
	"strings"
)

// The colours, as sequences of a terminal.
const (
	reset   = "\x1b[0m"
	bold    = "\x1b[1m"
	red     = "\x1b[31m"
	green   = "\x1b[32m"
	cyan    = "\x1b[36m"
	newline = "\n"
)

// Patch colours the lines of a patch in their order. The place of a line decides:
// within a hunk a line such as "--- x" is a deleted "-- x" and no header. The zero
// value stands before the first line.
type Patch struct {
	old, added int // lines that the hunk still has of either side
}

// Line is a line with its colours. A line break at its end stays at its end.
func (p *Patch) Line(line string) string {
	text, ended := strings.CutSuffix(line, newline)
	end := ""
	if ended {
		end = newline
	}
	return paint(p.colour(text), text) + end
}

func (p *Patch) colour(text string) string {
	if p.old > 0 || p.added > 0 {
		switch {
		case strings.HasPrefix(text, "+"):
			p.added--
			return green
		case strings.HasPrefix(text, "-"):
			p.old--
			return red
		case strings.HasPrefix(text, `\`): // "\ No newline at end of file"
			return ""
		default:
			p.old--
			p.added--
			return ""
		}
	}
	if old, added, ok := hunk(text); ok {
		p.old, p.added = old, added
		return cyan
	}
	for _, header := range []string{
		"diff --git ", "index ", "--- ", "+++ ", "new file mode ", "deleted file mode ", "old mode ", "new mode ",
	} {
		if strings.HasPrefix(text, header) {
			return bold
		}
	}
	return ""
}

// hunk reads "@@ -1,2 +3,4 @@": how many lines the hunk has of either side.
func hunk(text string) (old, added int, ok bool) {
	rest, ok := strings.CutPrefix(text, "@@ -")
	if !ok {
		return 0, 0, false
	}
	before, rest, ok := strings.Cut(rest, " +")
	after, _, ended := strings.Cut(rest, " @@")
	if !ok || !ended {
		return 0, 0, false
	}
	if old, ok = lines(before); !ok {
		return 0, 0, false
	}
	added, ok = lines(after)
	return old, added, ok
}

// lines reads "3,4" or "3", which stands for "3,1".
func lines(span string) (int, bool) {
	start, count, given := strings.Cut(span, ",")
	if _, ok := number(start); !ok {
		return 0, false
	}
	if !given {
		return 1, true
	}
	return number(count)
}

// number reads a decimal number below 2^30: no hunk is longer.
func number(text string) (int, bool) {
	n, err := strconv.ParseUint(text, 10, 30)
	return int(n), err == nil
}

// Stat is a line of git's --stat with its plus and minus signs coloured.
func Stat(line string) string {
	at := strings.LastIndex(line, "| ")
	if at < 0 {
		return line
	}
	signs := len(strings.TrimRight(strings.TrimSuffix(line, newline), "+-"))
	if signs <= at {
		return line
	}
	text, marks := line[:signs], line[signs:]
	ended := strings.HasSuffix(marks, newline)
	marks = strings.TrimSuffix(marks, newline)
	plus := strings.TrimRight(marks, "-")
	line = text + paint(green, plus) + paint(red, marks[len(plus):])
	if ended {
		line += newline
	}
	return line
}

func paint(colour, text string) string {
	if colour == "" || text == "" {
		return text
	}
	return colour + text + reset
}
