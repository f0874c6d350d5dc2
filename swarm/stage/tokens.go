package stage

import (
	"strings"
	"unicode/utf8"
)

// Tokens is about how many tokens a model reads a text as, rather too many than
// too few: each model counts in its own way.
func Tokens(text string) int {
	quarters, run := 0, 0
	for _, r := range text {
		var n int
		n, run = weigh(r, run)
		quarters += n
	}
	return (quarters + 3) / 4
}

// longWord is from which letter on a word is taken for none, but for something
// like a key or a digest, of which each token holds few letters.
const longWord = 16

// weigh is how many quarters of a token a letter is, behind run others of the
// same word.
func weigh(r rune, run int) (quarters, word int) {
	switch {
	case r >= 'a' && r <= 'z' && run < longWord:
		return 1, run + 1
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return 2, run + 1
	case r == ' ':
		return 1, 0
	case r < 0x800:
		return 2, 0
	case r < 0x10000:
		return 4, 0
	default:
		return 8, 0
	}
}

// cutMark stands where something was left out.
const cutMark = "…"

// Head is the beginning of a text that has at most so many tokens, with a mark
// where something was left out.
func Head(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if Tokens(text) <= most {
		return text
	}
	left, run := 4*(most-Tokens(cutMark)), 0
	for i, r := range text {
		var n int
		n, run = weigh(r, run)
		if left -= n; left < 0 {
			return text[:i] + cutMark
		}
	}
	return text // not reached: it has more
}

// Tail is the end of a text, in the same way.
func Tail(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if Tokens(text) <= most {
		return text
	}
	// A word weighs more from its far end on: every letter counts as a letter
	// of a long word.
	left, i := 4*(most-Tokens(cutMark)), len(text)
	for i > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:i])
		n, _ := weigh(r, longWord)
		if left -= n; left < 0 {
			break
		}
		i -= size
	}
	return cutMark + text[i:]
}

// Middle returns a text without its middle, if it has too many tokens. Both
// ends identify it, as those of a path do.
func Middle(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if Tokens(text) <= most {
		return text
	}
	head := most / 3
	return Head(text, head) + strings.TrimPrefix(Tail(text, most-head), cutMark)
}
