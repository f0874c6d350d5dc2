package variants

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxText is how long the file of a variant may be, in bytes. It goes into the
// prompt of every agent.
const MaxText = 8 << 10

// Error is a fault in the file of a variant.
type Error struct {
	File   string
	Line   int // 0: the file as a whole
	Reason string
}

// Error returns the place and the fault. A name may come from any source, so no
// control character of it is shown.
func (e *Error) Error() string {
	file := e.File
	if strings.ContainsFunc(file, func(r rune) bool { return !unicode.IsPrint(r) }) {
		file = strconv.Quote(file)
	}
	if e.Line == 0 {
		return file + ": " + e.Reason
	}
	return fmt.Sprintf("%s:%d: %s", file, e.Line, e.Reason)
}

// Parse reads the file FAMILY/MODE.md of a variant: front matter that says
// failure and measure, and the text. Its errors are [*Error].
func Parse(file, text string) (Variant, error) {
	v := Variant{
		Family: Family(path.Base(path.Dir(file))), File: file,
		Mode: strings.TrimSuffix(path.Base(file), ".md"),
	}
	wrong := func(line int, format string, args ...any) (Variant, error) {
		return Variant{Family: v.Family, Mode: v.Mode, File: file}, &Error{File: file, Line: line, Reason: fmt.Sprintf(format, args...)}
	}
	switch {
	case !slices.Contains(Families(), v.Family):
		return wrong(0, "the folder %q is not a family; the families are %s", v.Family, list())
	case !isMode(v.Mode):
		return wrong(0, "%q names no failure mode; want letters from a to z, digits and dashes", v.Mode)
	case len(text) > MaxText:
		return wrong(0, "has %d bytes; a variant may have %d", len(text), MaxText)
	}
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if !utf8.ValidString(line) {
			return wrong(i+1, "is no UTF-8")
		}
		if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) && r != '\t' }) {
			return wrong(i+1, "holds a control character")
		}
		if strings.ContainsFunc(line, unseen) {
			return wrong(i+1, "holds an invisible character")
		}
	}
	if lines[0] != "---" {
		return wrong(1, "want front matter between two lines of ---")
	}
	end := slices.Index(lines[1:], "---") + 1
	if end == 0 {
		return wrong(1, "the front matter has no end: want a second line of ---")
	}
	for i, line := range lines[1:end] {
		if why := v.field(line); why != "" {
			return wrong(i+2, "%s", why)
		}
	}
	if v.Failure == "" {
		return wrong(1, "the front matter does not say the failure")
	}
	v.Text = strings.TrimSpace(strings.Join(lines[end+1:], "\n"))
	if v.Text == "" {
		return wrong(end+1, "there is no text below the front matter")
	}
	return v, nil
}

// unseen reports whether a character turns or hides text that people read, who
// have to see the instructions of agents. Characters that join emoji do not
// count.
func unseen(r rune) bool {
	return r == '\u200b' || r == '\u200e' || r == '\u200f' || r >= '\u202a' && r <= '\u202e' || r >= '\u2060' && r <= '\u2069' ||
		r == '\ufeff' || r >= 0xe0000 && r <= 0xe007f
}

// field takes a line of the front matter, and returns its fault.
func (v *Variant) field(line string) (why string) {
	if strings.TrimSpace(line) == "" {
		return ""
	}
	name, value, ok := strings.Cut(line, ":")
	to := map[string]*string{"failure": &v.Failure, "measure": &v.Measure}[strings.TrimSpace(name)]
	switch value = strings.TrimSpace(value); {
	case to == nil:
		return fmt.Sprintf("unknown field %q; the fields are failure, measure", name)
	case !ok, value == "":
		return fmt.Sprintf("the field %q is empty", name)
	case *to != "":
		return fmt.Sprintf("the field %q appears twice", name)
	}
	*to = value
	return ""
}

// maxMode is how long the name of a failure mode may be.
const maxMode = 64

// isMode reports whether a word can be the name of a failure mode.
func isMode(word string) bool {
	return word != "" && len(word) <= maxMode && strings.Trim(word, "-") == word &&
		!strings.ContainsFunc(word, func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9') })
}

// IsKey reports whether a word can name variants: FAMILY or FAMILY/MODE.
func IsKey(word string) bool {
	family, mode, one := strings.Cut(word, "/")
	return slices.Contains(Families(), Family(family)) && (!one || isMode(mode))
}

func list() string {
	var names []string
	for _, f := range Families() {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}
