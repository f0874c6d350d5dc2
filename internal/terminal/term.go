package terminal

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// Output describes the abilities of an output stream. The zero value is a plain
// file: no colour, no motion, no limit to the width.
type Output struct {
	TTY        bool // a person may be looking
	Color      bool
	Motion     bool                // lines may be drawn over
	Descriptor int                 // the descriptor; -1: none
	Getenv     func(string) string // COLUMNS, LINES and TERM are asked for again; nil: they are not
}

// Detect finds the abilities of w, and applies the wishes of the user.
func Detect(w io.Writer, getenv func(string) string) Output {
	t := Output{Descriptor: -1, Getenv: getenv}
	if f, ok := w.(interface{ Fd() uintptr }); ok {
		t.Descriptor = int(f.Fd())
		t.TTY = term.IsTerminal(t.Descriptor)
	}
	return t.WithEnv(getenv)
}

// WithEnv reads the user's wishes: NO_COLOR beats CLICOLOR_FORCE, and a build
// server (CI) would record every frame it is shown.
func (t Output) WithEnv(getenv func(string) string) Output {
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

// Size is the width and height in characters. COLUMNS and LINES take precedence
// over the terminal's own size. Without a terminal an unset value is 0: no
// limit. Each frame asks for it, because windows change.
func (t Output) Size() (width, height int) {
	if t.TTY {
		width, height = 80, 24
		if w, h, err := term.GetSize(t.Descriptor); err == nil && w > 0 && h > 0 {
			width, height = w, h
		}
	}
	if t.Getenv == nil {
		return width, height
	}
	if n, err := strconv.Atoi(t.Getenv("COLUMNS")); err == nil && n > 0 {
		width = n
	}
	if n, err := strconv.Atoi(t.Getenv("LINES")); err == nil && n > 0 {
		height = n
	}
	return width, height
}

// Style is a way to set off a word. The zero value leaves it as it is.
type Style int

const (
	StylePlain Style = iota
	StyleTitle
	StyleError
	StyleGood
	StyleWarning
	StyleQuiet
)

// Paint sets text off where the terminal can.
func (t Output) Paint(s Style, text string) string {
	code := ""
	switch s {
	case StylePlain:
	case StyleTitle:
		code = "1"
	case StyleError:
		code = "1;31"
	case StyleGood:
		code = "32"
	case StyleWarning:
		code = "33"
	case StyleQuiet:
		code = "2"
	default:
		panic(fmt.Sprintf("unhandled style %d", s))
	}
	if !t.Color || code == "" || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// StateStyle is how a state is set off, by the word that a text about it begins
// with.
func StateStyle(text string) Style {
	word, _, _ := strings.Cut(text, ",")
	word, _, _ = strings.Cut(word, " ")
	switch word {
	case "completed", "yes", "passed", "verified", "landed", "accepted":
		return StyleGood
	case "failed", "no", "damaged", "degraded", "rejected":
		return StyleError
	case "cancelled", "stopped", "paused", "waiting", "asks":
		return StyleWarning
	case "queued":
		return StyleQuiet
	default:
		return StylePlain
	}
}

// State sets a text off by the state that it begins with.
func (t Output) State(text string) string { return t.Paint(StateStyle(text), text) }
