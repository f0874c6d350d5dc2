package mark

import "strings"

// codeReader takes comments and the inside of strings out of lines, as far as
// the lines show where they begin.
type codeReader struct {
	language string
	until    string // ends the comment or string that the last line began; empty: none
}

// line is a line without comments, and with empty strings.
func (c *codeReader) line(text string) string {
	if c.until == "" && !strings.ContainsAny(text, "\"'`/#-") {
		return text // neither a comment nor a string begins
	}
	var out strings.Builder
	for text != "" {
		if c.until != "" {
			at := strings.Index(text, c.until)
			if at < 0 {
				return out.String()
			}
			text = text[at+len(c.until):]
			c.until = ""
			out.WriteByte(' ')
			continue
		}
		if c.comments(text) {
			return out.String()
		}
		if end := c.opens(text); end != "" {
			c.until = end
			text = text[len(end):]
			continue
		}
		if q := text[0]; q == '"' || q == '\'' && c.language != "rs" {
			rest := afterString(text)
			out.WriteByte(q)
			if rest != "" || strings.HasSuffix(text[1:], string(q)) {
				out.WriteByte(q)
			}
			text = rest
			continue
		}
		out.WriteByte(text[0])
		text = text[1:]
	}
	return out.String()
}

// comments reports whether the rest of a line is a comment.
func (c *codeReader) comments(text string) bool {
	switch c.language {
	case "py", "yaml", "sh", "make", "docker", "rb", "toml", "bzl", "ex", "exs", "pl", "r", "cfg", "conf", "ini":
		return text[0] == '#'
	case "sql", "lua", "hs", "elm":
		return strings.HasPrefix(text, "--")
	case "json", "md", "txt", "rst", "xml", "html", "":
		return false
	case "php":
		return text[0] == '#' || strings.HasPrefix(text, "//")
	}
	return strings.HasPrefix(text, "//")
}

// opens returns the end of the comment or string over several lines that a text
// begins with; empty for none.
func (c *codeReader) opens(text string) string {
	switch c.language {
	case "py":
		for _, quote := range []string{`"""`, "'''"} {
			if strings.HasPrefix(text, quote) {
				return quote
			}
		}
	case "go":
		if text[0] == '`' {
			return "`"
		}
	}
	switch c.language {
	case "go", "js", "ts", "java", "kt", "scala", "groovy", "c", "h", "cc", "cpp", "hpp", "cs", "rs", "swift", "php", "css", "scss":
		if strings.HasPrefix(text, "/*") {
			return "*/"
		}
	}
	return ""
}

// afterString is the text behind the string that a text begins with; empty
// where the string does not end.
func afterString(text string) string {
	quote := text[0]
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case quote:
			return text[i+1:]
		}
	}
	return ""
}
