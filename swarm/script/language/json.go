package language

import (
	"strings"
	"unicode/utf16"

	"github.com/dop251/goja"
)

// mostGap is the longest indentation of JSON.stringify.
const mostGap = 10

// json mends JSON.stringify. That of the engine indents too far behind an empty
// list or an empty object.
func (in *installer) json() error {
	holder, err := in.place("JSON")
	if err != nil {
		return err
	}
	native, _ := goja.AssertFunction(holder.Get("stringify"))
	return in.mend(holder, "stringify", func(call goja.FunctionCall) goja.Value {
		gap := gapOf(call.Argument(2))
		v, err := native(call.This, call.Argument(0), call.Argument(1))
		in.must(err)
		if text, ok := v.(goja.String); ok && gap != "" {
			return in.rt.ToValue(indented(text.String(), gap))
		}
		return v
	})
}

// gapOf is the indentation that the third argument of JSON.stringify asks for.
func gapOf(v goja.Value) string {
	if o, ok := v.(*goja.Object); ok {
		switch o.ClassName() {
		case "Number":
			v = o.ToNumber()
		case "String":
			v = o.ToString()
		}
	}
	if text, ok := v.(goja.String); ok {
		units := unitsOf(text)
		return string(utf16.Decode(units[:min(len(units), mostGap)]))
	}
	switch v.Export().(type) {
	case int64, float64:
		return strings.Repeat(" ", int(min(max(v.ToInteger(), 0), mostGap)))
	}
	return ""
}

// indented is a JSON text without blanks, with each member on a line of its own.
func indented(text, gap string) string {
	var b strings.Builder
	depth, quoted := 0, false
	line := func() {
		b.WriteByte('\n')
		for range depth {
			b.WriteString(gap)
		}
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted:
			if c == '\\' {
				b.WriteByte(c)
				i++
				c = text[i]
			} else if c == '"' {
				quoted = false
			}
			b.WriteByte(c)
		case c == '"':
			quoted = true
			b.WriteByte(c)
		case c == '[' || c == '{':
			b.WriteByte(c)
			if next := text[i+1]; next == ']' || next == '}' {
				b.WriteByte(next)
				i++
				continue
			}
			depth++
			line()
		case c == ']' || c == '}':
			depth--
			line()
			b.WriteByte(c)
		case c == ',':
			b.WriteByte(c)
			line()
		case c == ':':
			b.WriteString(": ")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
