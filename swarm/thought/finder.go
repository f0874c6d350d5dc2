package thought

import (
	"slices"
	"strings"
)

// finder follows a text letter by letter and finds where the thoughts are that
// [Cut] leaves out of it. Its memory does not grow with a thought.
type finder struct {
	stage stage
	after bool // a thought has ended

	mayBe [longest]byte // letters that may be the first part of a mark
	n     int           // how many letters that has
	row   row           // the line
	in    reader        // of the lines before

	mark    mark // that has begun, by its end
	matched int  // how much of its end may be there
	ends    int64
	from    int64 // where the thought began that is open

	found []cut // the thoughts that have ended
}

// cut is a thought that stands in a text.
type cut struct {
	Span
	unbegun bool // only its end is told
}

// stage is the state of a text.
type stage int

const (
	opening stage = iota // nothing but blanks, thoughts, and maybe half a mark
	within               // a mark has begun a thought
	looking              // it is said, unless the end of a thought follows
	saying               // it is said
)

// longest is the length of the longest mark.
const longest = len("</think>")

// maxCuts bounds the thoughts that are found in a text.
const maxCuts = 1 << 16

// nowhere is behind every text.
const nowhere = 1<<63 - 1

// take takes the next letter, which stands from there to before next. A caller
// may pass any letter outside of marks for each letter that is in no mark.
func (f *finder) take(c byte, from, next int64) {
	switch f.stage {
	case opening:
		f.open(c, from, next)
	case within:
		f.think(c, from)
	case looking:
		f.look(c, from)
	case saying:
	}
}

// open looks for a mark that begins a thought.
func (f *finder) open(c byte, from, next int64) {
	if c != '\n' {
		f.row.take(c, from)
	}
	if f.n == 0 && blank(c) {
		if c == '\n' {
			f.row = row{}
		}
		return
	}
	f.mayBe[f.n] = c
	f.n++
	m, may := beginning(string(f.mayBe[:f.n]), marks())
	switch {
	case m.begin != "":
		f.stage, f.mark, f.matched, f.from, f.n = within, m, 0, next, 0
	case may:
	case f.after:
		f.stage = saying
	default:
		f.stage = looking
		if c == '\n' {
			f.ended()
		}
	}
}

// think looks for the end of a thought.
func (f *finder) think(c byte, from int64) {
	if c != f.mark.end[f.matched] {
		f.matched = 0
	}
	if c != f.mark.end[f.matched] {
		return
	}
	if f.matched == 0 {
		f.ends = from
	}
	if f.matched++; f.matched == len(f.mark.end) {
		f.found = append(f.found, cut{Span{f.from, f.ends}, false})
		if f.stage, f.after, f.matched = opening, true, 0; len(f.found) == maxCuts {
			f.stage = saying
		}
	}
}

// look looks for a mark in a line of its own, as [unmarked] does.
func (f *finder) look(c byte, from int64) {
	if c != '\n' {
		f.row.take(c, from)
		return
	}
	f.ended()
}

// ended takes a line that has ended.
func (f *finder) ended() {
	if f.in.ends(&f.row, marks()) {
		f.found = append(f.found, cut{Span{0, f.row.at}, true})
		f.stage = saying
	}
	f.row = row{}
}

// end takes the end of the text.
func (f *finder) end() {
	switch f.stage {
	case within:
		f.found = append(f.found, cut{Span{f.from, nowhere}, false})
	case looking:
		f.ended()
	case opening, saying:
	}
	f.stage = saying
}

func blank(c byte) bool { return slices.Contains([]byte(blanks), c) }

// letters reads the letters of a string of JSON.
type letters struct {
	escaped bool
	hex     int // how many digits of a code are to come
	code    int
	at      int64 // where the letter began
}

// other stands for any letter that no mark has.
const other = 0xff

// next takes a byte. It answers a letter, once that is whole, and where it
// began.
func (l *letters) next(b byte, at int64) (c byte, from int64, whole bool) {
	switch {
	case l.hex > 0:
		digit := strings.IndexByte("0123456789abcdef", b|0x20)
		if l.hex--; digit < 0 {
			l.code = other // it is no JSON
		}
		l.code = l.code<<4 | max(digit, 0)
		if l.hex > 0 {
			return 0, 0, false
		}
		if l.code >= 0x80 {
			l.code = other
		}
		return byte(l.code), l.at, true
	case l.escaped:
		l.escaped = false
		switch b {
		case 'u':
			l.hex, l.code = 4, 0
			return 0, 0, false
		case 'n':
			b = '\n'
		case 'r':
			b = '\r'
		case 't':
			b = '\t'
		case 'b', 'f':
			b = other
		}
		return b, l.at, true
	case b == '\\':
		l.escaped, l.at = true, at
		return 0, 0, false
	default:
		return b, at, true
	}
}
