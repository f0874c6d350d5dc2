package shell

import (
	"strings"
	"unicode/utf8"
)

// unreadable says why a text is not even parsed; empty: it is. The parser
// drops some characters that a shell keeps, terminals hide others, and its
// recursion has no bound of its own.
func unreadable(text string) string {
	switch {
	case len(text) > MaxText:
		return "the text is longer than is read"
	case !utf8.ValidString(text):
		return "the text is not valid UTF-8"
	}
	for _, r := range text {
		if hidden(r) {
			return "the text holds characters that do not show"
		}
	}
	if tooDeep(text) {
		return "the text is nested deeper than is read"
	}
	return ""
}

// hidden reports whether a character is invisible to people, or read
// differently by parsers.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20 || r >= 0x7f && r < 0xa0: // control characters, CR among them
		return true
	case r == 0x061c || r >= 0x200b && r <= 0x200f || r >= 0x2028 && r <= 0x202e:
		return true // zero width, line separators, direction
	case r >= 0x2060 && r <= 0x206f || r == 0xfeff || r == 0x00ad || r == 0x180e:
		return true
	case r >= 0xe0000 && r <= 0xe007f: // tags
		return true
	}
	return false
}

// maxKeywords is how deep compound commands may seem to stand in each other.
// It is more than MaxNesting because other languages, of which here-documents
// are full, begin their lines with the same words and do not end them.
const maxKeywords = 10 * MaxNesting

// tooDeep reports whether brackets or compound commands may nest deeper than
// the reader goes. It ignores quotes, so that it errs towards more. MaxText
// bounds the nesting that it misses.
func tooDeep(text string) bool {
	depth, words, first := 0, 0, true // first: a command may begin here
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '(' || c == '{' || c == '[':
			depth++
			first = true
		case c == ')' || c == '}' || c == ']':
			depth = max(0, depth-1)
			first = true
		case c == ';' || c == '&' || c == '|' || c == '\n' || c == '!':
			first = true
		case c == ' ' || c == '\t':
		case !first:
		default:
			end := i
			for end < len(text) && text[end] >= 'a' && text[end] <= 'z' {
				end++
			}
			var step int
			step, first = keyword(text[i:end])
			words = max(0, words+step)
			i = max(i, end-1)
		}
		if depth > MaxNesting || words > maxKeywords {
			return true
		}
	}
	return false
}

// keyword says by how much a word deepens, and whether a command may follow.
func keyword(word string) (int, bool) {
	switch word {
	case "if", "while", "until", "for", "case", "select", "time", "coproc", "function":
		return 1, true
	case "fi", "done", "esac":
		return -1, false
	case "then", "do", "else", "elif":
		return 0, true
	}
	return 0, false
}

// base returns the last element of a path: the name of a program.
func base(path string) string {
	return path[strings.LastIndexByte(path, '/')+1:]
}
