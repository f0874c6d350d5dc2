package schema

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Agents and people read these messages, and mend the faults in turn. So the
// first few problems are enough, and none may be long.
const (
	maxProblems = 5
	maxMessage  = 300
)

// problems are the first few things that are wrong, each with its place.
func problems(e *jsonschema.ValidationError) string {
	var all []string
	printer := message.NewPrinter(language.English)
	leaves(e, func(leaf *jsonschema.ValidationError) {
		all = append(all, problem(leaf, printer)...)
	})
	// The library walks maps, whose order changes from time to time.
	slices.Sort(all)
	all = slices.Compact(all)
	more := len(all) - maxProblems
	if more > 0 {
		all = append(all[:maxProblems], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, "; ")
}

// leaves visits the problems that have no cause below them.
func leaves(e *jsonschema.ValidationError, visit func(*jsonschema.ValidationError)) {
	if len(e.Causes) == 0 {
		visit(e)
	}
	for _, cause := range e.Causes {
		leaves(cause, visit)
	}
}

// problem returns the faults at a place. A missing or unexpected property is
// named by its own pointer, not by that of the object around it.
func problem(e *jsonschema.ValidationError, p *message.Printer) []string {
	at := func(more ...string) string { return pointer(append(slices.Clone(e.InstanceLocation), more...)) }
	var all []string
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			all = append(all, at(name)+": is missing")
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			all = append(all, at(name)+": is not allowed here")
		}
	case *kind.FalseSchema:
		all = append(all, at()+": is not allowed here")
	default:
		all = append(all, at()+": "+cut(k.LocalizedString(p), maxMessage))
	}
	return all
}

// pointer is a JSON pointer, cut where it is long; the root is called so.
func pointer(path []string) string {
	if len(path) == 0 {
		return "the answer"
	}
	var b strings.Builder
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	for _, name := range path {
		b.WriteString("/" + escape.Replace(name))
	}
	return cut(b.String(), maxMessage)
}

// cut shortens a text to a number of bytes, at a rune, and says so.
func cut(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}
