package tui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"agentswarm/internal/termtext"
)

// Prompt is a line of text that a person types.
type Prompt struct {
	Label string // before the text
	Text  string
	// Done takes the text at Enter. nil: nothing happens. Changed, where set, takes
	// it at each change.
	Done    func(text string) Effect
	Changed func(text string)
}

// longestPrompt bounds the text, in bytes.
const longestPrompt = 16 << 10

// Update takes a key or pasted text. Open is false once the prompt is over: by
// Enter, Escape or Ctrl-C.
func (p *Prompt) Update(message any) (open bool, e Effect) {
	switch m := message.(type) {
	case Paste:
		p.add(string(m))
	case Key:
		switch m {
		case "enter":
			if p.Done != nil {
				e = p.Done(p.Text)
			}
			return false, e
		case "esc", "ctrl+c":
			p.set("")
			return false, nil
		case "backspace":
			_, size := utf8.DecodeLastRuneInString(p.Text)
			p.set(p.Text[:len(p.Text)-size])
		case "ctrl+u":
			p.set("")
		case "ctrl+w":
			text := strings.TrimRight(p.Text, " ")
			p.set(text[:strings.LastIndexByte(text, ' ')+1])
		case "space":
			p.add(" ")
		default:
			if utf8.RuneCountInString(string(m)) == 1 {
				p.add(string(m))
			}
		}
	}
	return true, nil
}

// add appends text; line breaks become blanks.
func (p *Prompt) add(text string) {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	if len(p.Text)+len(text) <= longestPrompt {
		p.set(p.Text + text)
	}
}

func (p *Prompt) set(text string) {
	p.Text = text
	if p.Changed != nil {
		p.Changed(text)
	}
}

// Line is the prompt in at most width columns: of a long text its end.
func (p *Prompt) Line(width int) string {
	const cursor = "_"
	label := termtext.CutEnd(p.Label, max(1, width/2))
	room := max(1, width-termtext.Columns(label)-len(cursor))
	text := termtext.Line(p.Text)
	for termtext.Columns(text) > room {
		_, size := utf8.DecodeRuneInString(text)
		text = text[size:]
	}
	return termtext.CutEnd(label+text+cursor, width)
}
