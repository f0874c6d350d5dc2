package config

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// hiddenText stands where a credential is not shown.
const hiddenText = "…"

// WriteTOML writes settings as a configuration file that says the same. With
// origins a comment behind each says where it comes from. A file without
// hidden values is valid. Nothing in it can reach a terminal raw.
func WriteTOML(w io.Writer, settings []Setting, origins bool) error {
	var b strings.Builder
	table := ""
	for _, s := range settings {
		if s.Table != table {
			if table != "" {
				b.WriteString("\n")
			}
			table = s.Table
			b.WriteString("[" + table + "]\n")
		}
		value, remark := "", ""
		if origins {
			remark = " # " + s.source()
		}
		switch {
		case s.Hidden:
			value, remark = tomlString(hiddenText), " # hidden: a credential"
			if origins {
				remark += ", " + s.source()
			}
		case s.Value == nil:
			b.WriteString("# " + s.Name + " is not set\n")
			continue
		default:
			value = tomlValue(s.Value)
		}
		b.WriteString(s.Name + " = " + value + remark + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// source says where the value comes from.
func (s Setting) source() string {
	if s.Origin.Layer == LayerUnset {
		return "default"
	}
	text := "from " + s.Origin.String()
	for _, o := range s.Also {
		text += ", " + o.String()
	}
	return text
}

func tomlValue(v any) string {
	switch v := v.(type) {
	case string:
		return tomlString(v)
	case int:
		return strconv.Itoa(v)
	case float64:
		if v >= 1<<53 {
			// Without a point or an exponent it would be a whole number, and
			// too large for a whole number.
			return strconv.FormatFloat(v, 'e', -1, 64)
		}
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	case []string:
		words := make([]string, len(v))
		for i, word := range v {
			words[i] = `"` + tomlEscape(word, "") + `"`
		}
		return "[" + strings.Join(words, ", ") + "]"
	default:
		panic(fmt.Sprintf("unhandled %T", v))
	}
}

// tomlString quotes a string; a string of several lines keeps them.
func tomlString(s string) string {
	if strings.Contains(s, "\n") {
		return "\"\"\"\n" + tomlEscape(s, "\n\t") + `"""`
	}
	return `"` + tomlEscape(s, "") + `"`
}

// tomlEscape writes runes that do not print, except those of keep, as escapes.
func tomlEscape(s, keep string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case strconv.IsPrint(r) || strings.ContainsRune(keep, r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r <= 0xFFFF:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	return b.String()
}
