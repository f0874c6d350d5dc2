package script

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// refusePowers refuses await x ** y, which the parser reads as (await x) ** y. It
// refuses the other unary operators there by itself. Places in the tree are those of
// the source.
func (r *reading) refusePowers(tree *ast.Program) error {
	first := -1
	structs(tree, func(v reflect.Value) {
		power, ok := v.Addr().Interface().(*ast.BinaryExpression)
		if !ok || power.Operator != token.EXPONENT {
			return
		}
		base, ok := power.Left.(*ast.AwaitExpression)
		if !ok {
			return
		}
		if at := offsetOf(base.Await); r.isBareBase(at) && (first < 0 || at < first) {
			first = at
		}
	})
	if first < 0 {
		return nil
	}
	return r.fault(CodeSyntax, first, "await before ** wants parentheses: (await x) ** y or await (x ** y)")
}

// isBareBase reports whether ** follows the operand of the await at a place of the
// source, without a closing parenthesis between.
func (r *reading) isBareBase(await int) bool {
	i, found := slices.BinarySearchFunc(r.lexemes, await, func(t lexeme, at int) int { return cmp.Compare(t.at, at) })
	for ; found && i < len(r.lexemes); i++ {
		t := r.lexemes[i]
		switch w := r.Text[t.at:t.end]; {
		case w == ")":
			return false
		case w == "*" && strings.HasPrefix(r.Text[t.end:], "*"):
			return true
		case w == "(" || w == "[" || w == "{" || strings.HasSuffix(w, "${"):
			i = r.closing(i)
		}
	}
	return false
}
