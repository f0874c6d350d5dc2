// Package patchpath reads the paths in the headers of patches. It reads them as
// git and GNU diff write them, and opens no file.
package patchpath

import (
	"strconv"
	"strings"
)

// Side returns the path in a "---" or "+++" line, from the text after that mark.
// It drops the TAB and the time that can follow the path, and unquotes the path.
// The prefix of the side, such as "b/", stays.
func Side(text string) string {
	if end := closing(text); end > 0 && (end+1 == len(text) || text[end+1] == '\t') {
		return Unquote(text[:end+1])
	}
	path, _, _ := strings.Cut(text, "\t")
	return path
}

// closing returns the index of the quote that ends a quoted path; -1: the text
// does not begin with a quoted path.
func closing(text string) int {
	if !strings.HasPrefix(text, `"`) {
		return -1
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// Unquote returns a path without the quotes and escapes of C. A text that is not
// a quoted path as a whole is returned as it is.
func Unquote(text string) string {
	if end := closing(text); end < 0 || end+1 != len(text) {
		return text
	}
	var out strings.Builder
	for body := text[1 : len(text)-1]; body != ""; {
		if body[0] != '\\' {
			out.WriteByte(body[0])
			body = body[1:]
			continue
		}
		if len(body) >= 4 {
			if octal, err := strconv.ParseUint(body[1:4], 8, 8); err == nil {
				out.WriteByte(byte(octal))
				body = body[4:]
				continue
			}
		}
		if at := strings.IndexByte(`abtnvfr`, body[1]); at >= 0 {
			out.WriteByte(byte(7 + at))
		} else {
			out.WriteByte(body[1])
		}
		body = body[2:]
	}
	return out.String()
}
