package shell

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// strip takes the backslashes out of text that is not quoted.
func strip(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
			if text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// unescape takes the backslashes out of text in double quotes, or in the body
// of a here-document.
func unescape(text string, hdoc bool) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			switch c := text[i+1]; {
			case c == '\n':
				i++
				continue
			case c == '$' || c == '`' || c == '\\' || c == '"' && !hdoc:
				i++
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// globs reports whether text that is not quoted holds a pattern. A bracket
// alone is the program of that name.
func globs(text string) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '*', '?':
			return true
		case '[':
			if strings.IndexByte(text[i:], ']') > 0 {
				return true
			}
		}
	}
	return false
}

// ansi decodes the escapes of $'…', which are also those of printf and of
// echo -e, near enough. It reports whether it knew all of them.
func ansi(text string) (string, bool) {
	if strings.IndexByte(text, '\\') < 0 {
		return text, true
	}
	var b strings.Builder
	sure := true
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch c := text[i]; {
		case strings.IndexByte("abefnrtvE", c) >= 0:
			b.WriteByte("\a\b\x1b\f\n\r\t\v\x1b"[strings.IndexByte("abefnrtvE", c)])
		case strings.IndexByte(`\'"?`, c) >= 0:
			b.WriteByte(c)
		case c == 'x':
			i = digits(&b, numeral{text, i + 1, 2, 16})
		case c == 'u':
			i = digits(&b, numeral{text, i + 1, 4, 16})
		case c == 'U':
			i = digits(&b, numeral{text, i + 1, 8, 16})
		case c >= '0' && c <= '7':
			i = digits(&b, numeral{text, i, 3, 8})
		case c == 'c' && i+1 < len(text):
			i++
			b.WriteByte(text[i] & 0x1f)
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
	if !utf8.ValidString(b.String()) || strings.IndexByte(b.String(), 0) >= 0 {
		sure = false
	}
	return b.String(), sure
}

// numeral is a number in a text: where, of how many digits, in which base.
type numeral struct {
	text             string
	from, most, base int
}

// digits writes the character of a numeral, and returns where it ends.
func digits(b *strings.Builder, n numeral) int {
	end := n.from
	for end < len(n.text) && end < n.from+n.most {
		if _, err := strconv.ParseUint(n.text[end:end+1], n.base, 8); err != nil {
			break
		}
		end++
	}
	v, err := strconv.ParseUint(n.text[n.from:end], n.base, 32)
	switch {
	case err != nil:
		b.WriteString(n.text[n.from-1 : end])
	case n.most <= 3: // a byte
		b.WriteByte(byte(v))
	default:
		b.WriteRune(rune(v))
	}
	return end - 1
}
