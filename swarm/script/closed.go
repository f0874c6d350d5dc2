package script

import (
	"errors"
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
)

// closedOptions returns an error for a stopWhen or onTool of an agent in a text
// that is not closed. It does so before an agent starts; the call itself would
// refuse it only when it runs.
func (src Source) closedOptions(body ast.Node) error {
	var (
		seen    = make(map[ast.Node]bool) // a declaration can be in more than one list
		foreign = make(map[ast.Node]bool) // arguments of other functions
		todo    = []ast.Node{body}
	)
	// No recursion: trees nest as deeply as the text of a script does.
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[n] {
			continue
		}
		seen[n] = true
		switch e := n.(type) {
		case *ast.CallExpression:
			for _, a := range e.ArgumentList {
				foreign[a] = !takesOptions(e.Callee)
			}
		case *ast.ObjectLiteral:
			if foreign[e] {
				break
			}
			if err := src.closedIn(e); err != nil {
				return err
			}
		}
		inside := children(n)
		slices.Reverse(inside) // the first in the text is looked at first
		todo = append(todo, inside...)
	}
	return nil
}

// takesOptions reports whether a function passes options on to agents.
// Arguments of a script's own functions may mean anything.
func takesOptions(callee ast.Expression) bool {
	switch f := callee.(type) {
	case *ast.Identifier:
		return f.Name == "agent" || f.Name == "run"
	case *ast.DotExpression:
		of, ok := f.Left.(*ast.Identifier)
		return ok && (of.Name == "sa" || of.Name == "std" || of.Name == "Object")
	default:
		return false
	}
}

// closedIn looks at the functions that stand in an object as they are.
func (src Source) closedIn(o *ast.ObjectLiteral) error {
	for _, property := range o.Value {
		p, ok := property.(*ast.PropertyKeyed)
		if !ok || p.Computed {
			continue
		}
		key, ok := p.Key.(*ast.StringLiteral)
		if !ok || key.Value != "stopWhen" && key.Value != "onTool" {
			continue
		}
		switch p.Value.(type) {
		case *ast.ArrowFunctionLiteral, *ast.FunctionLiteral:
		default:
			continue
		}
		if p.Kind == ast.PropertyKindGet || p.Kind == ast.PropertyKindSet {
			continue
		}
		if err := src.closedAt(string(key.Value), p.Value); err != nil {
			return err
		}
	}
	return nil
}

// closedAt is the error of a function that is not closed, at the name that it
// may not use.
func (src Source) closedAt(key string, function ast.Expression) error {
	var why *Error
	if !errors.As(isClosed(function), &why) {
		return nil
	}
	var n freeNames
	n.find(function)
	at := n.at
	if n.free == "" {
		at = function.Idx0()
	}
	e := src.fault(why.Code, offsetOf(at), "%s: %s", key, why.Message)
	e.Name = why.Name
	return e
}

// offsetOf is where a node stands in its text, from 0.
func offsetOf(at file.Idx) int { return int(at) - 1 }
