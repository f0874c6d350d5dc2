// Package markdown writes foreign text into Markdown as code, so that it makes
// no link and no heading, and mentions no user.
package markdown

import (
	"strings"
	"unicode/utf8"

	"agentswarm/internal/termtext"
)

// mostCode bounds a text on a line, in bytes.
const mostCode = 300

// Code is a text as code on a single line, at most 300 bytes of it. An empty text
// stays empty.
func Code(text string) string {
	text = strings.Join(strings.Fields(termtext.Text(text)), " ")
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
	text = strings.TrimRight(termtext.Text(text), "\n")
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + language + "\n" + text + "\n" + fence + "\n"
}
