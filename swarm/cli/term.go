package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/term"

	"agentswarm/internal/termtext"
)

// Terminal is what can be done with one output stream. The zero value is a
// plain file: no colour, no motion, no limit to the width.
type Terminal struct {
	TTY    bool // a person may be looking
	Color  bool
	Motion bool // lines may be drawn over
	fd     int
	getenv func(string) string
}

// detect finds out what w can do, and what the user wants.
func detect(w io.Writer, getenv func(string) string) Terminal {
	t := Terminal{fd: -1, getenv: getenv}
	if f, ok := w.(interface{ Fd() uintptr }); ok {
		t.fd = int(f.Fd())
		t.TTY = term.IsTerminal(t.fd)
	}
	return t.able(getenv)
}

// able reads the user's wishes: NO_COLOR beats CLICOLOR_FORCE, and a build
// server (CI) would record every frame it is shown.
func (t Terminal) able(getenv func(string) string) Terminal {
	kind := getenv("TERM")
	able := t.TTY && kind != "" && kind != "dumb"
	t.Motion = able && !switchedOn(getenv("CI"))
	t.Color = getenv("NO_COLOR") == "" &&
		(able || switchedOn(getenv("CLICOLOR_FORCE")))
	return t
}

func switchedOn(value string) bool {
	return value != "" && value != "0" && value != "false"
}

// Size is the width and height in characters. COLUMNS and LINES win over what
// the terminal says. Without a terminal what is not set is 0: no limit. It is
// asked for every frame, because windows change.
func (t Terminal) Size() (width, height int) {
	if t.TTY {
		width, height = 80, 24
		if w, h, err := term.GetSize(t.fd); err == nil && w > 0 && h > 0 {
			width, height = w, h
		}
	}
	if t.getenv == nil {
		return width, height
	}
	if n, err := strconv.Atoi(t.getenv("COLUMNS")); err == nil && n > 0 {
		width = n
	}
	if n, err := strconv.Atoi(t.getenv("LINES")); err == nil && n > 0 {
		height = n
	}
	return width, height
}

// style is one way to set off a word. The zero value leaves it as it is.
type style int

const (
	stylePlain style = iota
	styleTitle
	styleError
	styleGood
	styleWarning
	styleQuiet
)

// paint sets text off where the terminal can.
func (t Terminal) paint(s style, text string) string {
	code := ""
	switch s {
	case stylePlain:
	case styleTitle:
		code = "1"
	case styleError:
		code = "1;31"
	case styleGood:
		code = "32"
	case styleWarning:
		code = "33"
	case styleQuiet:
		code = "2"
	default:
		panic(fmt.Sprintf("unhandled style %d", s))
	}
	if !t.Color || code == "" || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// stateStyle is how a state is set off, by the word that a text about it begins
// with.
func stateStyle(text string) style {
	word, _, _ := strings.Cut(text, ",")
	word, _, _ = strings.Cut(word, " ")
	switch word {
	case "completed", "yes", "passed", "verified", "landed", "accepted":
		return styleGood
	case "failed", "no", damaged, "degraded", "rejected":
		return styleError
	case "cancelled", "stopped", "paused", "waiting", "asks":
		return styleWarning
	case "queued":
		return styleQuiet
	default:
		return stylePlain
	}
}

// state sets a text off by the state that it begins with.
func (t Terminal) state(text string) string { return t.paint(stateStyle(text), text) }

// Printable makes foreign text fit for one line of a terminal; see
// [termtext.Line].
func Printable(s string) string { return termtext.Line(s) }

// PrintableText is [Printable] for text of many lines: line breaks and tabs
// stay as they are.
func PrintableText(s string) string { return termtext.Text(s) }
