package risk

import (
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// openHTML counts the open elements of HTML in a document. The text after them
// stands inside the elements on a page, folded or struck out. It is not at the
// top level.
type openHTML map[string]int

// add counts the tags of a node and of all below it.
func (o openHTML) add(n ast.Node, source []byte) {
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.HTMLBlock:
			text := string(n.Lines().Value(source))
			if n.HasClosure() {
				text += string(n.ClosureLine.Value(source))
			}
			o.tags(text)
		case *ast.RawHTML:
			o.tags(string(n.Segments.Value(source)))
		}
		return ast.WalkContinue, nil
	})
}

// any reports whether something is open.
func (o openHTML) any() bool { return len(o) > 0 }

// tags counts the elements in a text. An element without an end tag does not
// count.
func (o openHTML) tags(text string) {
	for {
		at := strings.IndexByte(text, '<')
		if at < 0 {
			return
		}
		text = text[at+1:]
		if rest, ok := strings.CutPrefix(text, "!--"); ok {
			_, text, _ = strings.Cut(rest, "-->")
			continue
		}
		inner, ends := strings.CutPrefix(text, "/")
		name := strings.ToLower(inner[:nameLength(inner)])
		if name == "" || slices.Contains(unclosed(), name) {
			continue
		}
		switch {
		case !ends:
			o[name]++
		case o[name] > 1:
			o[name]--
		default:
			delete(o, name)
		}
	}
}

// nameLength is how long the name of an element at the beginning of a text is.
func nameLength(text string) int {
	n := 0
	for n < len(text) && (letter(text[n]) || n > 0 && (text[n] >= '0' && text[n] <= '9' || text[n] == '-')) {
		n++
	}
	return n
}

// unclosed are elements that have no end of their own, or that end where a
// heading begins.
func unclosed() []string {
	return []string{
		"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr", "p", "li", "dt", "dd", "td", "th", "tr",
	}
}
