package language

import (
	"errors"
	"reflect"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"

	"agentswarm/swarm/script/regex"
)

// SyntaxError is an error in the text of a script.
type SyntaxError struct {
	At      file.Idx // the place in the tree that was given
	Message string
}

func (e *SyntaxError) Error() string { return e.Message }

// The global functions that lowered syntax calls. No script can spell them.
const (
	awaiting   = "%await"
	delegating = "%delegate"
	generating = "%generate"
	opening    = "%open"
	// superGet and superSet are variables of a method that reads super.
	superGet = "%superGet"
	superSet = "%superSet"
	// record and caught are variables of a for await loop.
	record = "%record"
	caught = "%caught"
)

// Lower rewrites the parts of a tree that the engine does not know, or gets
// wrong: for await, async generators and regular expressions. It keeps every
// position. The loops of forAwait, by the places of their for, are for await
// loops. Errors are of the type [*SyntaxError].
func Lower(tree *ast.Program, forAwait map[file.Idx]bool) error {
	s := &survey{seen: make(map[any]bool)}
	if err := s.look(tree); err != nil {
		return err
	}
	if !s.generators && len(forAwait) == 0 {
		return nil
	}
	l := &lowerer{forAwait: forAwait, seen: make(map[any]bool), functions: []*function{{}}}
	l.walk(reflect.ValueOf(&tree.Body).Elem())
	l.walk(reflect.ValueOf(&tree.DeclarationList).Elem())
	for at := range forAwait {
		if l.err == nil || at < l.err.At {
			l.err = &SyntaxError{At: at, Message: "for await wants of: for await (const x of …)"}
		}
	}
	if l.err != nil {
		return l.err
	}
	return nil
}

// survey finds the nodes to lower. Regular expressions become calls at once.
type survey struct {
	seen       map[any]bool // a declaration can be in more than one list
	generators bool         // an async generator was seen
}

func (s *survey) look(tree *ast.Program) error {
	todo := []reflect.Value{reflect.ValueOf(&tree.Body).Elem(), reflect.ValueOf(&tree.DeclarationList).Elem()}
	// No recursion: trees nest as deeply as the text of a script does.
	for len(todo) > 0 {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch v.Kind() {
		case reflect.Pointer:
			if v.IsNil() || s.seen[v.Interface()] {
				continue
			}
			s.seen[v.Interface()] = true
			if f, ok := v.Interface().(*ast.FunctionLiteral); ok && f.Async && f.Generator {
				s.generators = true
			}
			todo = append(todo, v.Elem())
		case reflect.Interface:
			literal, ok := v.Interface().(*ast.RegExpLiteral)
			if !ok {
				if e, is := v.Interface().(ast.Expression); is && !v.IsNil() && !s.seen[e] {
					v.Set(reflect.ValueOf(operator(e)))
				}
				if !v.IsNil() {
					todo = append(todo, v.Elem())
				}
				continue
			}
			made, err := expressionCall(literal)
			if err != nil {
				return err
			}
			v.Set(reflect.ValueOf(made))
		case reflect.Slice:
			for i := v.Len() - 1; i >= 0; i-- {
				todo = append(todo, v.Index(i))
			}
		case reflect.Struct:
			for i := v.NumField() - 1; i >= 0; i-- {
				if f := v.Field(i); f.CanSet() {
					todo = append(todo, f)
				}
			}
		default: // texts, numbers and flags
		}
	}
	return nil
}

// expressionCall is the call that makes a regular expression.
func expressionCall(e *ast.RegExpLiteral) (ast.Expression, error) {
	source := utf16.Encode([]rune(e.Pattern))
	_, err := regex.Compile(source, e.Flags)
	if wrong := (*regex.SyntaxError)(nil); errors.As(err, &wrong) {
		return nil, &SyntaxError{At: e.Idx + file.Idx(1+bytesOf(e.Pattern, wrong.At)), Message: wrong.Message}
	}
	if err != nil {
		return nil, err
	}
	return call(e.Idx, name(e.Idx, Regexp), text(e.Idx, e.Pattern), text(e.Idx, e.Flags)), nil
}

// bytesOf is the place of a UTF-16 unit of a text, in bytes.
func bytesOf(text string, unit int) int {
	at := 0
	for _, r := range text {
		if unit <= 0 {
			break
		}
		unit -= utf16.RuneLen(r)
		at += utf8.RuneLen(r)
	}
	return at
}

func name(at file.Idx, n string) *ast.Identifier {
	return &ast.Identifier{Name: unistring.NewFromString(n), Idx: at}
}

func text(at file.Idx, s string) *ast.StringLiteral {
	return &ast.StringLiteral{Idx: at, Literal: "''", Value: unistring.NewFromString(s)}
}

func call(at file.Idx, f ast.Expression, with ...ast.Expression) *ast.CallExpression {
	return &ast.CallExpression{Callee: f, LeftParenthesis: at, ArgumentList: with, RightParenthesis: at}
}

func member(at file.Idx, of ast.Expression, n string) *ast.DotExpression {
	return &ast.DotExpression{Left: of, Identifier: *name(at, n)}
}

func block(at file.Idx, list ...ast.Statement) *ast.BlockStatement {
	return &ast.BlockStatement{LeftBrace: at, List: list, RightBrace: at}
}

func constant(at file.Idx, n string, v ast.Expression) *ast.LexicalDeclaration {
	return &ast.LexicalDeclaration{Idx: at, Token: token.CONST, List: []*ast.Binding{{Target: name(at, n), Initializer: v}}}
}
