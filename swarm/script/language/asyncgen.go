package language

import (
	"reflect"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
)

// lowerer rewrites for await loops and async generators.
type lowerer struct {
	forAwait  map[file.Idx]bool
	seen      map[any]bool
	functions []*function // those around the node at hand, the innermost last
	err       *SyntaxError
}

// function is a function around a node.
type function struct {
	async, generator bool
	arrow            bool
	super            bool // super was read inside, arrow functions included
}

func (l *lowerer) inner() *function { return l.functions[len(l.functions)-1] }

// method is the innermost function that is no arrow function.
func (l *lowerer) method() *function {
	for i := len(l.functions) - 1; i > 0; i-- {
		if !l.functions[i].arrow {
			return l.functions[i]
		}
	}
	return l.functions[0]
}

func (l *lowerer) fail(at file.Idx, message string) {
	if l.err == nil {
		l.err = &SyntaxError{At: at, Message: message}
	}
}

// walk rewrites all that hangs on a value, from the inside out.
func (l *lowerer) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || l.seen[v.Interface()] {
			return
		}
		l.seen[v.Interface()] = true
		l.node(v)
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		before := l.before(v.Interface())
		if before != nil {
			v.Set(reflect.ValueOf(before))
		}
		l.walk(v.Elem())
		if after := l.after(v.Interface()); after != nil {
			v.Set(reflect.ValueOf(after))
		}
	case reflect.Slice:
		for i := range v.Len() {
			l.walk(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				l.walk(f)
			}
		}
	default: // texts, numbers and flags
	}
}

// node rewrites inside a node, of which v is a pointer.
func (l *lowerer) node(v reflect.Value) {
	switch n := v.Interface().(type) {
	case *ast.FunctionLiteral:
		f := &function{async: n.Async, generator: n.Generator}
		l.within(f, v)
		if n.Async && n.Generator {
			generator(n, f.super)
		}
	case *ast.ArrowFunctionLiteral:
		l.within(&function{async: n.Async, arrow: true}, v)
	case *ast.ClassStaticBlock:
		l.within(&function{}, v)
	case *ast.FieldDefinition:
		l.walk(reflect.ValueOf(&n.Key).Elem())
		l.within(&function{}, reflect.ValueOf(&n.Initializer))
	case *ast.PropertyKeyed:
		// An async method of an object was written as a value for the parser.
		if f, ok := n.Value.(*ast.FunctionLiteral); ok && n.Kind == ast.PropertyKindValue && f.Async && f.Generator && n.Key.Idx0() > f.Function {
			n.Kind = ast.PropertyKindMethod
		}
		l.walk(v.Elem())
	default:
		l.walk(v.Elem())
	}
}

func (l *lowerer) within(f *function, v reflect.Value) {
	l.functions = append(l.functions, f)
	l.walk(v.Elem())
	l.functions = l.functions[:len(l.functions)-1]
}

// before rewrites a node before its children. It returns nil if the node stays.
func (l *lowerer) before(n any) ast.Node {
	switch n := n.(type) {
	case *ast.LabelledStatement:
		inside := n.Statement
		for {
			next, ok := inside.(*ast.LabelledStatement)
			if !ok {
				break
			}
			inside = next.Statement
		}
		if loop, ok := inside.(*ast.ForOfStatement); ok && l.isAwait(loop) {
			return l.loop(loop, n)
		}
	case *ast.ForOfStatement:
		if l.isAwait(n) {
			return l.loop(n, nil)
		}
	case *ast.CallExpression:
		// The call of a method of super keeps its this.
		if key, at, ok := superKey(n.Callee); ok && l.lowersSuper() {
			l.method().super = true
			with := append([]ast.Expression{&ast.ThisExpression{Idx: at}}, n.ArgumentList...)
			return &ast.CallExpression{
				Callee:          member(at, call(at, name(at, superGet), key), "call"),
				LeftParenthesis: n.LeftParenthesis, ArgumentList: with, RightParenthesis: n.RightParenthesis,
			}
		}
	case *ast.AssignExpression:
		if key, at, ok := superKey(n.Left); ok && l.lowersSuper() {
			l.method().super = true
			if n.Operator != token.ASSIGN {
				l.fail(at, "super is changed in an async generator by another operator than =: write super.x = super.x + …")
			}
			return call(at, name(at, superSet), key, n.Right)
		}
	case *ast.UnaryExpression:
		if _, at, ok := superKey(n.Operand); ok && l.lowersSuper() && (n.Operator == token.INCREMENT || n.Operator == token.DECREMENT) {
			l.fail(at, "super is changed in an async generator by another operator than =: write super.x = super.x + …")
		}
	}
	return nil
}

// lowersSuper reports whether the method around a node is an async generator.
func (l *lowerer) lowersSuper() bool {
	m := l.method()
	return m.async && m.generator
}

// superKey is the key of a property of super.
func superKey(e ast.Expression) (ast.Expression, file.Idx, bool) {
	switch e := e.(type) {
	case *ast.DotExpression:
		if s, ok := e.Left.(*ast.SuperExpression); ok {
			return text(e.Identifier.Idx, e.Identifier.Name.String()), s.Idx, true
		}
	case *ast.BracketExpression:
		if s, ok := e.Left.(*ast.SuperExpression); ok {
			return e.Member, s.Idx, true
		}
	}
	return nil, 0, false
}

// after rewrites a node when all inside of it is done.
func (l *lowerer) after(n any) ast.Node {
	f := l.inner()
	if n, ok := n.(ast.Expression); ok && l.lowersSuper() {
		if key, at, found := superKey(n); found {
			l.method().super = true
			return call(at, name(at, superGet), key)
		}
	}
	if !f.async || !f.generator {
		return nil
	}
	switch n := n.(type) {
	case *ast.AwaitExpression:
		return awaited(n.Await, n.Argument)
	case *ast.YieldExpression:
		switch {
		case n.Delegate:
			return &ast.YieldExpression{Yield: n.Yield, Argument: call(n.Yield, name(n.Yield, delegating), n.Argument)}
		case n.Argument != nil:
			n.Argument = awaited(n.Yield, n.Argument)
		default:
			n.Argument = awaited(n.Yield, name(n.Yield, "undefined"))
		}
	case *ast.ReturnStatement:
		if n.Argument != nil {
			n.Argument = awaited(n.Return, n.Argument)
		}
	}
	return nil
}

// awaited yields a promise to the driver of an async generator.
func awaited(at file.Idx, e ast.Expression) *ast.YieldExpression {
	return &ast.YieldExpression{Yield: at, Argument: call(at, name(at, awaiting), e)}
}

// generator makes a plain function of an async generator, which drives a
// generator: function (…) { return %generate(function* (…) {…}, this, arguments, new.target) }
func generator(f *ast.FunctionLiteral, super bool) {
	at := f.Body.LeftBrace
	inside := &ast.FunctionLiteral{
		Function: f.Function, ParameterList: f.ParameterList, Body: f.Body, Source: f.Source,
		DeclarationList: f.DeclarationList, Generator: true,
	}
	made := call(at, name(at, generating), inside, &ast.ThisExpression{Idx: at}, name(at, "arguments"),
		&ast.MetaProperty{Meta: name(at, "new"), Property: name(at, "target"), Idx: at})
	list := []ast.Statement{&ast.ReturnStatement{Return: at, Argument: made}}
	if super {
		list = append(superAccess(at), list...)
	}
	f.Async, f.Generator, f.DeclarationList = false, false, nil
	f.Body = &ast.BlockStatement{LeftBrace: at, List: list, RightBrace: f.Body.RightBrace}
	f.ParameterList = counted(f.ParameterList)
}

// superAccess declares functions that read and write properties of super. The
// generator inside is no method, and has none.
func superAccess(at file.Idx) []ast.Statement {
	property := func() *ast.BracketExpression {
		return &ast.BracketExpression{Left: &ast.SuperExpression{Idx: at}, Member: name(at, "key"), LeftBracket: at, RightBracket: at}
	}
	arrow := func(body ast.Expression, parameters ...string) *ast.ArrowFunctionLiteral {
		list := &ast.ParameterList{Opening: at, Closing: at}
		for _, p := range parameters {
			list.List = append(list.List, &ast.Binding{Target: name(at, p)})
		}
		return &ast.ArrowFunctionLiteral{Start: at, ParameterList: list, Body: &ast.ExpressionBody{Expression: body}}
	}
	return []ast.Statement{
		constant(at, superGet, arrow(property(), "key")),
		constant(at, superSet, arrow(&ast.AssignExpression{Operator: token.ASSIGN, Left: property(), Right: name(at, "value")}, "key", "value")),
	}
}

// counted are as many parameters as the length of a function counts.
func counted(p *ast.ParameterList) *ast.ParameterList {
	out := &ast.ParameterList{Opening: p.Opening, Closing: p.Closing}
	for i, b := range p.List {
		if b.Initializer != nil {
			break
		}
		out.List = append(out.List, &ast.Binding{Target: name(p.Opening, "%"+string(rune('a'+i%26))+string(rune('0'+i/26)))})
	}
	return out
}
