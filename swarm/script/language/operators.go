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
		if e.Operator == token.BITWISE_NOT {
			e.Operand = asBits(e.Operand)
		}
	case *ast.AssignExpression:
		return assignment(e)
	}
	return e
}

// assignment lowers x **= y, and x |= y and its like. The left side is read once
// more only where it is a variable.
func assignment(e *ast.AssignExpression) ast.Expression {
	left, isName := e.Left.(*ast.Identifier)
	switch {
	case e.Operator == token.EXPONENT && isName:
		e.Operator, e.Right = token.ASSIGN, call(e.Right.Idx0(), name(e.Right.Idx0(), power), &ast.Identifier{Name: left.Name, Idx: left.Idx}, e.Right)
	case isBitwise(e.Operator) && isName:
		read := asBits(&ast.Identifier{Name: left.Name, Idx: left.Idx})
		e.Operator, e.Right = token.ASSIGN, &ast.BinaryExpression{Operator: e.Operator, Left: read, Right: e.Right}
	case isBitwise(e.Operator):
		e.Right = asBits(e.Right)
	}
	return e
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
