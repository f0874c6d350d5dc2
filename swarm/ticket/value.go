package ticket

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
)

// lookup finds a field by its name. A dot leads into an object, and into a list:
// a number is a place in it from 0, another name is that field of each of its
// objects. A field whose own name has dots is found, too. A field of null is
// null.
func lookup(in any, name string) (any, bool) {
	switch in := in.(type) {
	case map[string]any:
		if value, ok := in[name]; ok {
			return value, true
		}
		for i := len(name) - 1; i > 0; i-- {
			if name[i] != '.' {
				continue
			}
			if inner, ok := in[name[:i]]; ok {
				if value, ok := lookup(inner, name[i+1:]); ok {
					return value, true
				}
			}
		}
		return nil, false
	case []any:
		return lookupList(in, name)
	case nil:
		return nil, true
	default:
		return nil, false
	}
}

func lookupList(in []any, name string) (any, bool) {
	first, rest, deeper := strings.Cut(name, ".")
	if i, err := strconv.Atoi(first); err == nil {
		switch {
		case i < 0 || i >= len(in):
			return nil, false
		case deeper:
			return lookup(in[i], rest)
		default:
			return in[i], true
		}
	}
	all := make([]any, 0, len(in))
	for _, item := range in {
		value, ok := lookup(item, name)
		if !ok {
			return nil, false
		}
		all = append(all, value)
	}
	return all, true
}

func (f filter) apply(value any) any {
	if f.json {
		return asJSON(value)
	}
	shown := text(value)
	n := 0
	for i := range shown {
		if n == f.head {
			return strings.TrimRightFunc(shown[:i], unicode.IsSpace) + "…"
		}
		n++
	}
	return shown
}

// text is a value as a person would write it: a list of plain values with
// commas, null as the empty text, anything deeper as JSON.
func text(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return clean(v)
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	case []any:
		shown := make([]string, 0, len(v))
		for _, item := range v {
			switch item.(type) {
			case []any, map[string]any:
				return asJSON(value)
			}
			shown = append(shown, text(item))
		}
		return strings.Join(shown, ", ")
	default:
		return asJSON(value)
	}
}

func asJSON(value any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return ""
	}
	return clean(strings.TrimSuffix(b.String(), "\n"))
}

// clean drops characters that a reader does not see and a model does: controls,
// fillers, tags, selectors, and marks that turn the direction of writing. Joiners
// stay: scripts and emoji need them. Ends of lines are "\n".
func clean(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r', r == '\u2028', r == '\u2029':
			return '\n'
		case unicode.IsControl(r),
			r == 0x00AD, r == 0x061C, r == 0x180E, r == 0x200B, r == 0x200E, r == 0x200F,
			r >= 0x202A && r <= 0x202E, r >= 0x2060 && r <= 0x2069, r == 0x3164, r == 0xFEFF,
			r >= 0xE0000 && r <= 0xE007F, r >= 0xE0100 && r <= 0xE01EF:
			return -1
		}
		return r
	}, s)
}

// oneLine is a text with each run of white space as a space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// clipped shortens text that a message repeats.
func clipped(s string) string {
	const longest = 60
	if runes := []rune(s); len(runes) > longest {
		s = string(runes[:longest]) + "…"
	}
	return strconv.Quote(s)
}
