package language

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// operator returns an expression in the place of one whose operator the engine
// gets wrong: powers and comparisons with == become calls, and operands of bitwise
// operators pass a function. All other expressions stay as they are.
func operator(e ast.Expression) ast.Expression {
	switch e := e.(type) {
	case *ast.BinaryExpression:
		switch {
		case e.Operator == token.EXPONENT:
			return call(e.Idx0(), name(e.Idx0(), power), e.Left, e.Right)
		case isBitwise(e.Operator):
			e.Left, e.Right = asBits(e.Left), asBits(e.Right)
		case e.Operator == token.EQUAL && mayHoldBlanks(e.Left) && mayHoldBlanks(e.Right):
			return call(e.Idx0(), name(e.Idx0(), equal), e.Left, e.Right)
		case e.Operator == token.NOT_EQUAL && mayHoldBlanks(e.Left) && mayHoldBlanks(e.Right):
			return &ast.UnaryExpression{Operator: token.NOT, Idx: e.Idx0(), Operand: call(e.Idx0(), name(e.Idx0(), equal), e.Left, e.Right)}
		}
	case *ast.UnaryExpression:
		switch {
		case e.Operator == token.BITWISE_NOT:
			e.Operand = asBits(e.Operand)
		case e.Operator == token.PLUS && !isNumberLiteral(e.Operand):
			return call(e.Idx0(), name(e.Idx0(), plus), e.Operand)
		}
	case *ast.AssignExpression:
		return assignment(e)
	}
	return e
}

// assignment lowers x **= y, and x |= y and its like. The left side is read once,
// as before: it is written a second time only where that runs no code.
func assignment(e *ast.AssignExpression) ast.Expression {
	left := again(e.Left)
	switch {
	case left != nil && e.Operator == token.EXPONENT:
		e.Operator, e.Right = token.ASSIGN, call(e.Right.Idx0(), name(e.Right.Idx0(), power), left, e.Right)
	case left != nil && isBitwise(e.Operator):
		e.Operator, e.Right = token.ASSIGN, &ast.BinaryExpression{Operator: e.Operator, Left: asBits(left), Right: asBits(e.Right)}
	case isBitwise(e.Operator):
		e.Right = asBits(e.Right)
	}
	return e
}

// again is a second reading of what is assigned to: a variable, or a property of a
// variable or of this, with a name that is written out. It is nil for all else, whose
// parts may run code of the script.
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
	switch e := e.(type) {
	case *ast.NumberLiteral:
		if _, small := e.Value.(int64); small {
			return e
		}
	case *ast.BinaryExpression:
		if isBitwise(e.Operator) {
			return e
		}
	case *ast.CallExpression:
		if called, ok := e.Callee.(*ast.Identifier); ok && called.Name.String() == bits {
			return e
		}
	}
	return call(e.Idx0(), name(e.Idx0(), bits), e)
}
