package shell

import (
	"strings"
	"testing"

	"agentswarm/risk/argv"
)

// reader is a reader of the table that is built in.
func reader(t testing.TB) *Reader {
	t.Helper()
	r, err := NewReader()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// here is where the texts of the tests start.
func here() Start {
	return Start{Cwd: "/tree", Home: "/home/u", Env: map[string]string{"USER": "u"}}
}

// spell formats a script in a fixed form, with its nesting. Remote invocations
// have an R, and the unknown rest of a word is "?".
func spell(c *Script) string {
	var lines []string
	for _, v := range c.Invocations {
		lines = append(lines, line(v))
	}
	for _, w := range c.Writes {
		mark := ">"
		if w.Append {
			mark = ">>"
		}
		lines = append(lines, mark+word(w.Path))
	}
	for range c.Opaque {
		lines = append(lines, "OPAQUE")
	}
	return strings.Join(lines, "; ")
}

func line(v Invocation) string {
	text := v.Program
	if text == "" {
		text = word(v.Path)
	}
	for _, a := range v.Args {
		text += " " + word(a)
	}
	if len(v.Via) > 0 {
		text = strings.Join(v.Via, ",") + ":" + text
	}
	if v.Remote {
		text = "R:" + text
	}
	if v.Shadowed {
		text = "(" + text + ")"
	}
	return text
}

func word(w argv.Word) string {
	text := w.Value
	switch {
	case w.Glob:
		text = "glob(" + text + ")"
	case text == "" && w.Known:
		return "''"
	}
	if !w.Known {
		text += "?"
	}
	return text
}
