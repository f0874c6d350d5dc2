package language

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
)

// operator replaces an expression whose operator the engine gets wrong. Powers
// and comparisons with == become calls. Operands of bitwise operators and of a
// unary minus, which reads an object twice, pass a function. All other
// expressions stay as they are.
func operator(e ast.Expression) ast.Expression {
	switch e := e.(type) {
	case *ast.BinaryExpression:
		if _, is := e.Left.(*ast.PrivateIdentifier); is {
			e.Operator = token.IN // The parser puts the next operator there: #x in o && y.
			return e
		}
		switch {
		case e.Operator == token.EXPONENT:
			return call(e.Idx0(), name(e.Idx0(), power), e.Left, e.Right)
		case isBitwise(e.Operator):
			return bitwiseOf(e.Idx0(), e.Operator, e.Left, e.Right)
		case e.Operator == token.EQUAL && mayHoldBlanks(e.Left) && mayHoldBlanks(e.Right):
			return call(e.Idx0(), name(e.Idx0(), equal), e.Left, e.Right)
		case e.Operator == token.NOT_EQUAL && mayHoldBlanks(e.Left) && mayHoldBlanks(e.Right):
			return &ast.UnaryExpression{Operator: token.NOT, Idx: e.Idx0(), Operand: call(e.Idx0(), name(e.Idx0(), equal), e.Left, e.Right)}
		}
	case *ast.UnaryExpression:
		switch {
		case e.Operator == token.BITWISE_NOT:
			e.Operand = asBits(e.Operand)
		case e.Operator == token.MINUS && !isNumberLiteral(e.Operand):
			e.Operand = call(e.Operand.Idx0(), name(e.Operand.Idx0(), numeric), e.Operand)
		case e.Operator == token.PLUS && !isNumberLiteral(e.Operand):
			return call(e.Idx0(), name(e.Idx0(), plus), e.Operand)
		}
	case *ast.AssignExpression:
		return assignment(e)
	}
	return e
}

// bitwiseOf is the expression x op y. Both sides pass a function: in the
// expression itself where no code of the script tells the order and no BigInt is
// shifted, otherwise in a call with both.
func bitwiseOf(at file.Idx, op token.Token, x, y ast.Expression) ast.Expression {
	shifts := op == token.SHIFT_LEFT || op == token.SHIFT_RIGHT
	if isSmallLiteral(x) || isSmallLiteral(y) || isBits(x) && !shifts {
		return &ast.BinaryExpression{Operator: op, Left: asBits(x), Right: asBits(y)}
	}
	return call(at, name(at, bitwise), text(at, op.String()), x, y)
}

// assignment lowers x **= y, and x |= y and its like. The left side is read once,
// as before: it is written a second time only where that runs no code. A property
// whose object or name may run code is read and set by a function.
func assignment(e *ast.AssignExpression) ast.Expression {
	if e.Operator != token.EXPONENT && !isBitwise(e.Operator) {
		return e
	}
	if left := again(e.Left); left != nil {
		if e.Operator == token.EXPONENT {
			e.Right = call(e.Right.Idx0(), name(e.Right.Idx0(), power), left, e.Right)
		} else {
			e.Right = bitwiseOf(e.Right.Idx0(), e.Operator, left, e.Right)
		}
		e.Operator = token.ASSIGN
		return e
	}
	of, key := property(e.Left)
	if of == nil {
		return e
	}
	at := e.Idx0()
	return call(at, call(at, name(at, change), text(at, e.Operator.String()), of, key), e.Right)
}

// property returns the object and the name of a property. The object is nil for all
// else, and for properties that functions cannot reach: private ones and those of super.
func property(e ast.Expression) (of, key ast.Expression) {
	switch e := e.(type) {
	case *ast.DotExpression:
		of, key = e.Left, text(e.Identifier.Idx, e.Identifier.Name.String())
	case *ast.BracketExpression:
		of, key = e.Left, e.Member
	default:
		return nil, nil
	}
	if _, is := of.(*ast.SuperExpression); is {
		return nil, nil
	}
	return of, key
}

// again returns a second reading of an assignment target. The target is a
// variable, or a property of a variable or of this, with a name that is written
// out or a variable. It is nil for all others, whose parts may run code of the
// script.
func again(e ast.Expression) ast.Expression {
	switch e := e.(type) {
	case *ast.Identifier:
		return &ast.Identifier{Name: e.Name, Idx: e.Idx}
	case *ast.DotExpression:
		if of := owner(e.Left); of != nil {
			return &ast.DotExpression{Left: of, Identifier: e.Identifier}
		}
	case *ast.PrivateDotExpression:
		if of := owner(e.Left); of != nil {
			return &ast.PrivateDotExpression{Left: of, Identifier: e.Identifier}
		}
	case *ast.BracketExpression:
		of := owner(e.Left)
		if of == nil {
			return nil
		}
		switch key := e.Member.(type) {
		case *ast.Identifier:
			return &ast.BracketExpression{Left: of, Member: &ast.Identifier{Name: key.Name, Idx: key.Idx}, LeftBracket: e.LeftBracket, RightBracket: e.RightBracket}
		case *ast.NumberLiteral:
			return &ast.BracketExpression{Left: of, Member: &ast.NumberLiteral{Idx: key.Idx, Literal: key.Literal, Value: key.Value}, LeftBracket: e.LeftBracket, RightBracket: e.RightBracket}
		case *ast.StringLiteral:
			return &ast.BracketExpression{Left: of, Member: &ast.StringLiteral{Idx: key.Idx, Literal: key.Literal, Value: key.Value}, LeftBracket: e.LeftBracket, RightBracket: e.RightBracket}
		}
	}
	return nil
}

// owner is a second reading of an object; nil where it may run code.
func owner(e ast.Expression) ast.Expression {
	switch e := e.(type) {
	case *ast.Identifier:
		return &ast.Identifier{Name: e.Name, Idx: e.Idx}
	case *ast.ThisExpression:
		return &ast.ThisExpression{Idx: e.Idx}
	}
	return nil
}

func isNumberLiteral(e ast.Expression) bool {
	_, is := e.(*ast.NumberLiteral)
	return is
}

// mayHoldBlanks reports whether the comparison of an operand with == can depend on
// blanks beyond ASCII.
func mayHoldBlanks(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.NullLiteral:
		return false
	case *ast.UnaryExpression:
		return e.Operator != token.TYPEOF && e.Operator != token.VOID
	case *ast.Identifier:
		return e.Name.String() != "undefined"
	}
	return true
}

func isBitwise(t token.Token) bool {
	switch t {
	case token.AND, token.OR, token.EXCLUSIVE_OR, token.SHIFT_LEFT, token.SHIFT_RIGHT, token.UNSIGNED_SHIFT_RIGHT:
		return true
	}
	return false
}

// asBits passes an operand through a function, unless it is surely small.
func asBits(e ast.Expression) ast.Expression {
	if isBits(e) {
		return e
	}
	return call(e.Idx0(), name(e.Idx0(), bits), e)
}

// isBits reports whether an expression is a number that the bitwise operators of the
// engine read rightly, or a BigInt.
func isBits(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.BinaryExpression:
		return isBitwise(e.Operator)
	case *ast.CallExpression:
		called, ok := e.Callee.(*ast.Identifier)
		return ok && (called.Name.String() == bits || called.Name.String() == bitwise)
	}
	return isSmallLiteral(e)
}

func isSmallLiteral(e ast.Expression) bool {
	n, ok := e.(*ast.NumberLiteral)
	if !ok {
		return false
	}
	_, small := n.Value.(int64)
	return small
}
