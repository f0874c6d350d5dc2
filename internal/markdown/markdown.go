// Package markdown writes foreign text into Markdown as code, so that it makes no
// link, no heading and names nobody.
package markdown

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mostCode bounds a text on a line, in bytes.
const mostCode = 300

// Code is a text as code on a single line, at most 300 bytes of it. An empty text
// stays empty.
func Code(text string) string {
	text = strings.Join(strings.Fields(Visible(text)), " ")
	if len(text) > mostCode {
		cut := mostCode
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "…"
	}
	if text == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + " " + text + " " + fence
}

// Fence is a text as a block of code in a language, which may be empty. The text
// cannot end the block.
func Fence(language, text string) string {
	text = strings.TrimRight(Visible(text), "\n")
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + language + "\n" + text + "\n" + fence + "\n"
}

// Visible shows characters that are not printed, such as those that turn the
// direction of text, as escapes. Line ends and tabs stay.
func Visible(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case c == utf8.RuneError && size == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(text[i])|0x100, 16)[1:])
		case unicode.IsPrint(c) || c == '\n' || c == '\t':
			b.WriteRune(c)
		default:
			quoted := strconv.QuoteRuneToASCII(c)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		i += size
	}
	return b.String()
}
