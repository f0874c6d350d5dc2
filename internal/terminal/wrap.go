package terminal

import (
	"strings"
)

// Wrap breaks text at blanks into lines of at most width columns; a word that
// is longer gets a line of its own. There is at least one line.
func Wrap(text string, width int) []string {
	lines := []string{""}
	for word := range strings.FieldsSeq(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case Columns(*last)+1+Columns(word) <= width:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}
