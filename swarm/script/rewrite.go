package script

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"

	"agentswarm/swarm/script/language"
)

// asyncMethod stands in the text for the parser where an object has an async
// generator as a method, which the parser reads only as the value of a key.
const asyncMethod = ": async function*"

// element and elementEnd stand around an element with a default in an array
// pattern that has a default itself, [a = 1] = []. The parser reads that in a
// declaration only. No script has the key: a NUL byte.
const (
	element    = "{" + elementKey + ": "
	elementKey = "'\x00'"
	elementEnd = "}"
)

// insertion is text that was put in at a place of the source.
type insertion struct {
	text string
	at   int // in the source
	from int // where the text begins that it stands for
}

// rewriting is a text as the parser is given it.
type rewriting struct {
	forAwait  []int       // where for await loops begin, in the source
	insertion []insertion // in the order of the text
}

// lexeme is a token of a text.
type lexeme struct{ at, end int }

// rewrite turns a text into a text that the parser can read. It moves places
// only by its insertions. for await loops become plain loops, and async
// generators of objects become values of keys.
func (r *reading) rewrite() {
	erased := []byte(r.text)
	erase := func(t lexeme) {
		for i := t.at; i < t.end; i++ {
			erased[i] = ' '
		}
	}
	word := func(i int) string {
		if i < 0 || i >= len(r.lexemes) {
			return ""
		}
		return r.text[r.lexemes[i].at:r.lexemes[i].end]
	}
	for i, t := range r.lexemes {
		switch {
		case word(i) == "await" && word(i-1) == "for" && word(i+1) == "(" && word(i-2) != ".":
			r.forAwait = append(r.forAwait, r.lexemes[i-1].at)
			erase(t)
		case word(i) == "async" && word(i+1) == "*" && (word(i-1) == "," || word(i-1) == "{" && !r.isClass(i-1)):
			if paren, ok := r.methodHead(i + 2); ok {
				r.insertion = append(r.insertion, insertion{asyncMethod, r.lexemes[paren].at, t.at})
				erase(t)
				erase(r.lexemes[i+1])
			}
		case word(i) == "[" && slices.Contains([]string{"[", "(", ",", ":"}, word(i-1)):
			if end := r.closing(i); word(end+1) == "=" && !strings.HasPrefix(r.text[r.lexemes[end+1].end:], "=") {
				r.elements(i, end)
			}
		}
	}
	r.text = string(erased)
	slices.SortStableFunc(r.insertion, func(a, b insertion) int { return a.at - b.at })
	for _, in := range slices.Backward(r.insertion) {
		r.text = r.text[:in.at] + in.text + r.text[in.at:]
	}
}

// elements marks the elements with a default of the array pattern between two brackets.
func (r *reading) elements(open, end int) {
	word := func(i int) string { return r.text[r.lexemes[i].at:r.lexemes[i].end] }
	first, hasDefault := open+1, false
	for i := first; i <= end && i < len(r.lexemes); i++ {
		switch w := word(i); {
		case i == end || w == ",":
			if hasDefault {
				from, to := r.lexemes[first].at, r.lexemes[i-1].end
				r.insertion = append(r.insertion, insertion{element, from, from}, insertion{elementEnd, to, to})
			}
			first, hasDefault = i+1, false
		case w == "=":
			hasDefault = true
		case w == "(" || w == "[" || w == "{" || strings.HasSuffix(w, "${"):
			i = r.closing(i)
		}
	}
}

// isClass reports whether a brace opens the body of a class.
func (r *reading) isClass(brace int) bool {
	for i := brace - 1; i >= 0; i-- {
		switch r.text[r.lexemes[i].at:r.lexemes[i].end] {
		case "class":
			return i == 0 || r.text[r.lexemes[i-1].at] != '.'
		case ";", "{", "}", "=>", "return", ",", ":":
			return false
		}
	}
	return false
}

// methodHead finds the parenthesis behind the key of a method that begins at a
// token. A method has a body behind its parameters.
func (r *reading) methodHead(i int) (paren int, ok bool) {
	if i >= len(r.lexemes) {
		return 0, false
	}
	if r.text[r.lexemes[i].at] == '[' {
		i = r.closing(i)
	}
	paren = i + 1
	if paren >= len(r.lexemes) || r.text[r.lexemes[paren].at] != '(' {
		return 0, false
	}
	body := r.closing(paren) + 1
	return paren, body < len(r.lexemes) && r.text[r.lexemes[body].at] == '{'
}

// closing is the token that closes a bracket.
func (r *reading) closing(i int) int {
	for depth := 0; i < len(r.lexemes); i++ {
		t := r.text[r.lexemes[i].at:r.lexemes[i].end]
		if t == ")" || t == "]" || t[0] == '}' {
			depth--
		}
		if t == "(" || t == "[" || t == "{" || strings.HasSuffix(t, "${") {
			depth++
		}
		if depth == 0 {
			break
		}
	}
	return i
}

// origin returns the place in the source for a place in the parser's text,
// which begins with inserted text.
func (r *reading) origin(at int) int {
	at -= len(r.before)
	for _, in := range r.insertion {
		if at < in.at {
			break
		}
		if at < in.at+len(in.text) {
			return in.from
		}
		at -= len(in.text)
	}
	return max(0, min(at, len(r.Text)))
}

// restore gives functions and classes their text as it stands in the source,
// before the places in the tree are changed.
func (r *reading) restore(tree *ast.Program) {
	if len(r.forAwait)+len(r.insertion) == 0 {
		return
	}
	restored := func(start file.Idx, text string) string {
		at := offsetOf(start)
		return r.Text[r.origin(at):r.origin(at+len(text))]
	}
	structs(tree, func(v reflect.Value) {
		switch n := v.Addr().Interface().(type) {
		case *ast.ArrayPattern:
			for i, e := range n.Elements {
				n.Elements[i] = unmarked(e)
			}
		case *ast.FunctionLiteral:
			n.Source = restored(n.Function, n.Source)
		case *ast.ArrowFunctionLiteral:
			n.Source = restored(n.Start, n.Source)
		case *ast.ClassLiteral:
			n.Source = restored(n.Class, n.Source)
		case *ast.ClassStaticBlock:
			n.Source = restored(n.Block.LeftBrace, n.Source)
		}
	})
}

// unmarked returns the element of an array pattern that stands between marks, and all
// others as they are.
func unmarked(e ast.Expression) ast.Expression {
	o, ok := e.(*ast.ObjectPattern)
	if !ok || len(o.Properties) != 1 {
		return e
	}
	p, ok := o.Properties[0].(*ast.PropertyKeyed)
	if !ok {
		return e
	}
	if key, ok := p.Key.(*ast.StringLiteral); !ok || key.Literal != elementKey {
		return e
	}
	return p.Value
}

// lower rewrites a tree so that the engine can run it.
func (src Source) lower(tree *ast.Program, forAwait []int) error {
	loops := make(map[file.Idx]bool)
	for _, at := range forAwait {
		loops[file.Idx(at+1)] = true
	}
	err := language.Lower(tree, loops)
	if err == nil {
		return nil
	}
	if e := (*language.SyntaxError)(nil); errors.As(err, &e) {
		return src.fault(CodeSyntax, offsetOf(e.At), "%s", lower(e.Message))
	}
	return src.fault(CodeSyntax, 0, "%s", err)
}
