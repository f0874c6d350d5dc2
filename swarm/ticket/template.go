package ticket

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"agentswarm/swarm/nearest"
)

// Template is a text with fields in braces, such as "Fix #{number}: {title}".
// {a.b} is the field b of a. {field|json} is the value as JSON, {field|head:80}
// its first 80 characters. {{field}} is the text "{field}". Braces around
// anything else stay as they are.
type Template struct {
	parts []part
}

// part is plain text, or a field where name is set.
type part struct {
	text    string
	name    string
	filters []filter
}

// filter changes a value.
type filter struct {
	json bool
	head int // in characters
}

// maxHead is the largest argument of head.
const maxHead = MaxTicket

// placeholder finds a field between braces, and the same between two of them.
// The names of columns in exports have spaces, brackets and slashes.
var placeholder = sync.OnceValue(func() *regexp.Regexp {
	const (
		name  = `[\pL\pN_@](?:[\pL\pM\pN_@ ./#()-]*[\pL\pM\pN_@)])?`
		field = `\{(` + name + `)((?:\|[^{}|\n]*)*)\}`
	)
	return regexp.MustCompile(`\{` + field + `\}|` + field)
})

// Parse reads a template. An error is an [*Error] that names the field.
func Parse(text string) (*Template, error) {
	t := &Template{}
	end := 0
	for _, m := range placeholder().FindAllStringSubmatchIndex(text, -1) {
		t.plain(text[end:m[0]])
		end = m[1]
		if m[2] >= 0 {
			t.plain(text[m[0]+1 : m[1]-1])
			continue
		}
		p := part{name: text[m[6]:m[7]]}
		var err *Error
		if p.filters, err = parseFilters(text[m[0]:m[1]], text[m[8]:m[9]]); err != nil {
			return nil, err
		}
		t.parts = append(t.parts, p)
	}
	t.plain(text[end:])
	return t, nil
}

func (t *Template) plain(text string) {
	if text != "" {
		t.parts = append(t.parts, part{text: text})
	}
}

// HasFields reports whether the template has a field.
func (t *Template) HasFields() bool {
	return slices.ContainsFunc(t.parts, func(p part) bool { return p.name != "" })
}

// filterNames are the filters, in the order of the documentation.
func filterNames() []string { return []string{"json", "head"} }

func parseFilters(word, text string) ([]filter, *Error) {
	if text == "" {
		return nil, nil
	}
	var all []filter
	for one := range strings.SplitSeq(text[1:], "|") {
		name, arg, hasArg := strings.Cut(strings.TrimSpace(one), ":")
		n, err := strconv.Atoi(arg)
		switch {
		case name == "json" && !hasArg:
			all = append(all, filter{json: true})
		case name == "head" && err == nil && n > 0 && n <= maxHead:
			all = append(all, filter{head: n})
		case name == "head":
			return nil, &Error{Reason: fmt.Sprintf("%s: head wants a number of characters from 1 to %d, such as head:2000", word, maxHead)}
		case name == "json":
			return nil, &Error{Reason: word + ": json takes no argument"}
		default:
			reason := fmt.Sprintf("%s: unknown filter %q", word, name)
			if near := nearest.Word(name, filterNames()); near != "" {
				reason += fmt.Sprintf("; did you mean %q?", near)
			}
			return nil, &Error{Reason: reason, Tip: "the filters are json and head:N"}
		}
	}
	return all, nil
}

// Values are the values of a ticket.
type Values struct {
	fields map[string]any
	own    map[string]any // swarm's additions: a field of the ticket takes precedence
}

// NewValues are the fields of a ticket, and {item}, {index} and {count}: its id,
// its place in the list from 1, and the number of tickets.
func NewValues(fields []byte, item string, index, count int) Values {
	return Values{
		fields: decode(fields),
		own:    map[string]any{"item": item, "index": strconv.Itoa(index), "count": strconv.Itoa(count)},
	}
}

// MissingError is a field of a template that a ticket does not have.
type MissingError struct {
	Field string
	near  string
}

func (e *MissingError) Error() string {
	reason := fmt.Sprintf("there is no field %q", e.Field)
	if e.near != "" {
		reason += fmt.Sprintf("; did you mean %q?", e.near)
	}
	return reason
}

// Hint says how to write braces that are no field.
func (e *MissingError) Hint() string {
	return "{{" + e.Field + "}} stands for the text {" + e.Field + "}"
}

func (v Values) value(name string) (any, *MissingError) {
	for _, from := range []map[string]any{v.fields, v.own} {
		if value, ok := lookup(from, name); ok {
			return value, nil
		}
	}
	var known []string
	for field := range v.fields {
		known = append(known, field)
	}
	slices.Sort(known)
	return nil, &MissingError{Field: name, near: nearest.Word(name, known)}
}

// fill puts a text in place of each field. An error is a [*MissingError],
// or an [*Error] where the text is too long.
func (t *Template) fill(v Values, show func(name string, value any) string) (string, error) {
	var b strings.Builder
	for _, p := range t.parts {
		if p.name == "" {
			b.WriteString(p.text)
			continue
		}
		value, missing := v.value(p.name)
		if missing != nil {
			return "", missing
		}
		for _, f := range p.filters {
			value = f.apply(value)
		}
		b.WriteString(show(p.name, value))
		if b.Len() > MaxTicket {
			return "", &Error{
				Reason: fmt.Sprintf("the filled text is longer than %d MiB", MaxTicket>>20),
				Tip:    "{" + p.name + "|head:2000} takes the first 2000 characters",
			}
		}
	}
	return b.String(), nil
}

// Line fills a template that is a line of a commit message. A value cannot
// end the line: white space in it becomes a space.
func (t *Template) Line(v Values) (string, error) {
	return t.fill(v, func(_ string, value any) string { return oneLine(text(value)) })
}

// Text fills a template of several lines that people read.
func (t *Template) Text(v Values) (string, error) {
	return t.fill(v, func(_ string, value any) string { return strings.TrimSpace(text(value)) })
}
