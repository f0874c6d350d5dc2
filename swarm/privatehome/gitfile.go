package privatehome

import (
	"bytes"
	"strings"
)

// gitEntry is a variable of a configuration of git.
type gitEntry struct {
	section string // in lower case
	sub     string // subsection
	hasSub  bool
	key     string // in lower case
	value   string
	bare    bool // without a value, which is true
}

// readGit reads a configuration as git does (git-config(1), syntax). It ends at the
// first error.
func readGit(text []byte) (all []gitEntry) {
	r := &gitReader{text: bytes.TrimPrefix(text, []byte("\ufeff"))}
	var in gitEntry
	for {
		c, ok := r.next()
		switch {
		case !ok:
			return all
		case c == '\n' || blankByte(c):
		case c == '#' || c == ';':
			r.line()
		case c == '[':
			if in, ok = r.header(); !ok {
				return all
			}
		case letter(c) && in.section != "":
			e := in
			if !r.variable(&e, c) {
				return all
			}
			all = append(all, e)
		default:
			return all
		}
	}
}

type gitReader struct {
	text []byte
	at   int
}

// next is the next byte. A carriage return before a line feed is left out, and the
// end of the text counts as the end of a line once.
func (r *gitReader) next() (byte, bool) {
	if r.at > len(r.text) {
		return 0, false
	}
	if r.at == len(r.text) {
		r.at++
		return '\n', true
	}
	if r.text[r.at] == '\r' && r.at+1 < len(r.text) && r.text[r.at+1] == '\n' {
		r.at++
	}
	r.at++
	return r.text[r.at-1], true
}

// line passes over the rest of a line.
func (r *gitReader) line() {
	for {
		if c, ok := r.next(); !ok || c == '\n' {
			return
		}
	}
}

// header reads the name of a section behind its bracket.
func (r *gitReader) header() (e gitEntry, ok bool) {
	var name strings.Builder
	for {
		c, ok := r.next()
		switch {
		case !ok:
			return e, false
		case c == ']':
			e.section, e.sub, e.hasSub = strings.Cut(name.String(), ".")
			return e, e.section != ""
		case blankByte(c):
			return r.subsection(name.String())
		case !letter(c) && !digit(c) && c != '.' && c != '-':
			return e, false
		}
		name.WriteByte(lower(c))
	}
}

func (r *gitReader) subsection(name string) (e gitEntry, ok bool) {
	c, ok := r.next()
	for ok && blankByte(c) {
		c, ok = r.next()
	}
	if !ok || c != '"' {
		return e, false
	}
	var sub strings.Builder
	for {
		c, ok = r.next()
		if ok && c == '\\' {
			c, ok = r.next()
		} else if c == '"' {
			break
		}
		if !ok || c == '\n' {
			return e, false
		}
		sub.WriteByte(c)
	}
	if c, ok = r.next(); !ok || c != ']' {
		return e, false
	}
	section, more, dotted := strings.Cut(name, ".")
	e = gitEntry{section: section, sub: sub.String(), hasSub: true}
	if dotted {
		e.sub = more + "." + e.sub
	}
	return e, section != ""
}

// variable reads a name that begins with a letter, and its value.
func (r *gitReader) variable(e *gitEntry, first byte) bool {
	var name strings.Builder
	c, ok := first, true
	for ok && (letter(c) || digit(c) || c == '-') {
		name.WriteByte(lower(c))
		c, ok = r.next()
	}
	e.key = name.String()
	for ok && (c == ' ' || c == '\t') {
		c, ok = r.next()
	}
	switch {
	case !ok:
		return false
	case c == '\n':
		e.bare = true
		return true
	case c != '=':
		return false
	}
	e.value, ok = r.value()
	return ok
}

func (r *gitReader) value() (string, bool) {
	var b strings.Builder
	quoted, comment := false, false
	length := 0 // without blanks at the end
	for {
		c, ok := r.next()
		switch {
		case !ok:
			return "", false
		case c == '\n':
			return b.String()[:length], !quoted
		case comment:
		case !quoted && blankByte(c):
			if b.Len() > 0 {
				b.WriteByte(c)
			}
			continue
		case !quoted && (c == '#' || c == ';'):
			comment = true
		case c == '"':
			quoted = !quoted
			length = b.Len()
		case c == '\\':
			c, ok = r.next()
			i := strings.IndexByte("tbn\\\"\n", c)
			if !ok || i < 0 {
				return "", false
			}
			if c != '\n' {
				b.WriteByte("\t\b\n\\\""[i])
			}
			length = b.Len()
		default:
			b.WriteByte(c)
			length = b.Len()
		}
	}
}

// writeGit writes variables so that git reads the same ones.
func writeGit(all []gitEntry) []byte {
	var b bytes.Buffer
	var in gitEntry
	for _, e := range all {
		if e.section != in.section || e.sub != in.sub || e.hasSub != in.hasSub {
			b.WriteString("[" + e.section)
			if e.hasSub {
				b.WriteString(` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(e.sub) + `"`)
			}
			b.WriteString("]\n")
			in = e
		}
		b.WriteString("\t" + e.key)
		if !e.bare {
			b.WriteString(` = "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`).Replace(e.value) + `"`)
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func letter(c byte) bool { return 'a' <= lower(c) && lower(c) <= 'z' }

func digit(c byte) bool { return '0' <= c && c <= '9' }

func blankByte(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
