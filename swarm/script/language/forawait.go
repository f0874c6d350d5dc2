package language

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
)

func (l *lowerer) isAwait(loop *ast.ForOfStatement) bool { return l.forAwait[loop.For] }

// loop makes of a for await loop
//
//	{
//	  const record = open(source)
//	  try {
//	    label: for (; record.took(await record.next());) { const x = record.value; … }
//	  } catch (caught) {
//	    if (record.fails()) try { await record.end() } catch {}
//	    throw caught
//	  } finally {
//	    if (record.leaves()) record.left(await record.end())
//	  }
//	}
//
// so that the iterator is closed on every way out of it.
func (l *lowerer) loop(n *ast.ForOfStatement, labels *ast.LabelledStatement) ast.Statement {
	at := n.For
	if f := l.inner(); !f.async {
		l.fail(at, "for await stands in a function that is not async: write async in front of its parameters")
	}
	delete(l.forAwait, at)
	method := func(m string, with ...ast.Expression) ast.Expression {
		return call(at, member(at, name(at, record), m), with...)
	}
	wait := func(e ast.Expression) ast.Expression { return &ast.AwaitExpression{Await: at, Argument: e} }
	do := func(e ast.Expression) ast.Statement { return &ast.ExpressionStatement{Expression: e} }

	var repeat ast.Statement = &ast.ForStatement{
		For: at, Test: method("took", wait(method("next"))),
		Body: block(at, bind(at, n.Into, member(at, name(at, record), "value")), n.Body),
	}
	if labels != nil {
		inside := labels
		for {
			next, ok := inside.Statement.(*ast.LabelledStatement)
			if !ok {
				break
			}
			inside = next
		}
		inside.Statement = repeat
		repeat = labels
	}
	quietly := &ast.TryStatement{
		Try: at, Body: block(at, do(wait(method("end")))), Catch: &ast.CatchStatement{Catch: at, Body: block(at)},
	}
	return block(at,
		constant(at, record, call(n.Source.Idx0(), name(n.Source.Idx0(), opening), n.Source)),
		&ast.TryStatement{
			Try:  at,
			Body: block(at, repeat),
			Catch: &ast.CatchStatement{Catch: at, Parameter: name(at, caught), Body: block(at,
				&ast.IfStatement{If: at, Test: method("fails"), Consequent: quietly},
				&ast.ThrowStatement{Throw: at, Argument: name(at, caught)},
			)},
			Finally: block(at, &ast.IfStatement{
				If: at, Test: method("leaves"), Consequent: do(method("left", wait(method("end")))),
			}),
		})
}

// bind gives the variable of a loop its value.
func bind(at file.Idx, into ast.ForInto, v ast.Expression) ast.Statement {
	switch i := into.(type) {
	case *ast.ForIntoVar:
		return &ast.VariableStatement{Var: at, List: []*ast.Binding{{Target: i.Binding.Target, Initializer: v}}}
	case *ast.ForDeclaration:
		kind := token.LET
		if i.IsConst {
			kind = token.CONST
		}
		return &ast.LexicalDeclaration{Idx: i.Idx, Token: kind, List: []*ast.Binding{{Target: i.Target, Initializer: v}}}
	case *ast.ForIntoExpression:
		return &ast.ExpressionStatement{Expression: &ast.AssignExpression{Operator: token.ASSIGN, Left: i.Expression, Right: v}}
	default:
		panic("unhandled variable of a loop")
	}
}
