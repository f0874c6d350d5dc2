package language

import (
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"
	"github.com/rivo/uniseg"
)

// segments returns the lengths in UTF-16 units of the segments of a text, by
// their granularity: grapheme, word or sentence. A negative length is that of a
// segment which is like a word.
func (in *installer) segments(call goja.FunctionCall) goja.Value {
	text, granularity := call.Argument(0).String(), call.Argument(1).String()
	var lengths []any
	for state := -1; text != ""; {
		var segment string
		switch granularity {
		case "word":
			segment, text, state = uniseg.FirstWordInString(text, state)
		case "sentence":
			segment, text, state = firstSentence(text, state)
		default:
			segment, text, state = firstGrapheme(text)
		}
		n := 0
		for _, r := range segment {
			n += utf16.RuneLen(r)
		}
		if granularity == "word" && isWord(segment) {
			n = -n
		}
		lengths = append(lengths, n)
	}
	return in.rt.NewArray(lengths...)
}

// firstSentence splits a text after its first sentence. A separator of paragraphs
// ends a sentence and begins none by itself (rule SB9 of UAX #29), which
// uniseg overlooks after a full stop.
func firstSentence(text string, state int) (sentence, rest string, after int) {
	sentence, rest, after = uniseg.FirstSentenceInString(text, state)
	separated := strings.TrimRight(sentence, separators) != sentence
	for !separated && rest != "" && strings.TrimLeft(rest, separators) != rest || strings.HasSuffix(sentence, "\r") && strings.HasPrefix(rest, "\n") {
		separated = true
		_, size := utf8.DecodeRuneInString(rest)
		sentence, rest, after = sentence+rest[:size], rest[size:], -1
	}
	return sentence, rest, after
}

// separators are those of paragraphs.
const separators = "\n\r\u0085\u2028\u2029"

// firstGrapheme splits a text after its first grapheme cluster. Consonants of
// Indic scripts that a virama joins are a single cluster (rule GB9c of UAX
// #29), which uniseg does not have.
func firstGrapheme(text string) (cluster, rest string, state int) {
	cluster, rest, _, _ = uniseg.FirstGraphemeClusterInString(text, -1)
	for rest != "" && joins(cluster, rest) {
		var next string
		next, rest, _, _ = uniseg.FirstGraphemeClusterInString(rest, -1)
		cluster += next
	}
	return cluster, rest, -1
}

// joins reports whether a cluster ends in a consonant with a virama, and a
// consonant of a script with such clusters follows.
func joins(cluster, rest string) bool {
	if next, _ := utf8.DecodeRuneInString(rest); !unicode.Is(conjoining, next) {
		return false
	}
	linked := false
	runes := []rune(cluster)
	for i := len(runes) - 1; i >= 0; i-- {
		switch r := runes[i]; {
		case unicode.Is(viramas, r):
			linked = true
		case unicode.Is(conjoining, r):
			return linked
		case r != '\u200d' && !unicode.Is(unicode.Mn, r):
			return false
		}
	}
	return false
}

// conjoining are the consonants, and viramas the marks between them, of the
// scripts that have clusters of several: Devanagari, Bengali, Gujarati, Oriya,
// Telugu and Malayalam.
var (
	conjoining = &unicode.RangeTable{R16: []unicode.Range16{
		{0x915, 0x939, 1}, {0x958, 0x95f, 1}, {0x978, 0x97f, 1}, {0x995, 0x9a8, 1}, {0x9aa, 0x9b0, 1}, {0x9b2, 0x9b2, 1},
		{0x9b6, 0x9b9, 1}, {0x9dc, 0x9dd, 1}, {0x9df, 0x9df, 1}, {0x9f0, 0x9f1, 1}, {0xa95, 0xaa8, 1}, {0xaaa, 0xab0, 1},
		{0xab2, 0xab3, 1}, {0xab5, 0xab9, 1}, {0xaf9, 0xaf9, 1}, {0xb15, 0xb28, 1}, {0xb2a, 0xb30, 1}, {0xb32, 0xb33, 1},
		{0xb35, 0xb39, 1}, {0xb5c, 0xb5d, 1}, {0xb5f, 0xb5f, 1}, {0xb71, 0xb71, 1}, {0xc15, 0xc28, 1}, {0xc2a, 0xc39, 1},
		{0xc58, 0xc5a, 1}, {0xd15, 0xd3a, 1},
	}}
	viramas = &unicode.RangeTable{R16: []unicode.Range16{
		{0x94d, 0x94d, 1}, {0x9cd, 0x9cd, 1}, {0xacd, 0xacd, 1}, {0xb4d, 0xb4d, 1}, {0xc4d, 0xc4d, 1}, {0xd4d, 0xd4d, 1},
	}}
)

// isWord reports whether a segment is a word or a number, and no punctuation.
func isWord(segment string) bool {
	return strings.ContainsFunc(segment, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.Is(unicode.Nd, r) || unicode.Is(unicode.Nl, r)
	}) ||
		len(segment) > 1 && strings.Trim(segment, "_") == ""
}
