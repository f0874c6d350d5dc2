// Package argv owns the words of a command line: the known part of each, and
// which of them are options by the table of their program. Of shells it knows
// how a word is quoted. It knows nothing of risk.
package argv

// Word is a word of a command line, as far as its value is known.
type Word struct {
	// Value is the text. Where not all of it is known it is the beginning that
	// is.
	Value string
	// Rest is the known text behind the first gap of a word that is not all known:
	// "@" of "$NAME@$VERSION".
	Rest string
	// Known says that Value is complete, and that it is a single word.
	Known bool
	// Glob says that it holds a pattern that files may be put for: Value is
	// the pattern.
	Glob bool
}

// Known is a word of which all is known.
func Known(text string) Word { return Word{Value: text, Known: true} }

// Words are known words.
func Words(text ...string) []Word {
	words := make([]Word, len(text))
	for i, t := range text {
		words[i] = Known(t)
	}
	return words
}

// Text are the values of words, and whether all of them are known.
func Text(words []Word) (text []string, known bool) {
	text, known = make([]string, len(words)), true
	for i, w := range words {
		text[i] = w.Value
		known = known && w.Known && !w.Glob
	}
	return text, known
}
