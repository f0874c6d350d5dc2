package script

import "github.com/dop251/goja/ast"

// maxLiterals bounds how many items of a script are told before it runs. The
// rest is looked at when a call is made.
const maxLiterals = 100

// Literal is an item of the allow of an agent that stands in the text of a
// script as it is, so that it can be looked at before anything runs.
type Literal struct {
	Text  string `json:"text"`
	Where string `json:"where"` // file, line and column
	Line  string `json:"line"`  // what stands there
}

// Wrong is the error of an item that is none.
func (l Literal) Wrong(why error) *Error {
	return &Error{Name: "TypeError", Code: CodeOption, Message: why.Error(), Where: l.Where, Line: l.Line}
}

// literals are the items that stand in what agent and run are given.
func (src Source) literals(body ast.Node) []Literal {
	var all []Literal
	seen, todo := make(map[ast.Node]bool), []ast.Node{body}
	for len(todo) > 0 && len(all) < maxLiterals {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[n] {
			continue
		}
		seen[n] = true
		if call, ok := n.(*ast.CallExpression); ok {
			if f, ok := call.Callee.(*ast.Identifier); ok && (f.Name == "agent" || f.Name == "run") {
				for _, a := range call.ArgumentList {
					all = append(all, src.allowOf(a)...)
				}
			}
		}
		todo = append(todo, children(n)...)
	}
	return all[:min(len(all), maxLiterals)]
}

// allowOf are the texts of the allow of an object.
func (src Source) allowOf(e ast.Expression) []Literal {
	o, ok := e.(*ast.ObjectLiteral)
	if !ok {
		return nil
	}
	var all []Literal
	for _, property := range o.Value {
		p, ok := property.(*ast.PropertyKeyed)
		if !ok || p.Computed || p.Kind != ast.PropertyKindValue {
			continue
		}
		key, ok := p.Key.(*ast.StringLiteral)
		list, isList := p.Value.(*ast.ArrayLiteral)
		if !ok || !isList || key.Value != "allow" {
			continue
		}
		for _, item := range list.Value {
			if text, ok := item.(*ast.StringLiteral); ok {
				at := src.fault(CodeOption, offsetOf(text.Idx), "")
				all = append(all, Literal{Text: string(text.Value), Where: at.Where, Line: at.Line})
			}
		}
	}
	return all
}
