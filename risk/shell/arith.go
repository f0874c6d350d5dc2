package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// arith returns the value of an arithmetic expression, and whether it is known.
// It carries out the assignments of the expression.
func (s *scope) arith(x syntax.ArithmExpr) (int64, bool) {
	if !s.step(1) {
		return 0, false
	}
	switch x := x.(type) {
	case *syntax.Word:
		return s.number(x)
	case *syntax.ParenArithm:
		return s.arith(x.X)
	case *syntax.UnaryArithm:
		n, ok := s.arith(x.X)
		switch x.Op {
		case syntax.Plus:
			return n, ok
		case syntax.Minus:
			return -n, ok
		case syntax.BitNegation:
			return ^n, ok
		case syntax.Inc, syntax.Dec:
			s.counted(x.X)
		}
		return 0, false
	case *syntax.BinaryArithm:
		return s.binary(x)
	case nil:
		return 0, false
	}
	s.visit(x)
	return 0, false
}

// counted makes the variable unknown that an expression assigns to.
func (s *scope) counted(x syntax.ArithmExpr) {
	if w, ok := x.(*syntax.Word); ok && w.Lit() != "" {
		name, _, _ := strings.Cut(w.Lit(), "[")
		s.set(name, variable{value: unknown()})
	}
}

func (s *scope) binary(x *syntax.BinaryArithm) (int64, bool) {
	switch x.Op {
	case syntax.Assgn:
		b, ok := s.arith(x.Y)
		if w, word := x.X.(*syntax.Word); word && w.Lit() != "" && ok && !strings.Contains(w.Lit(), "[") {
			s.set(w.Lit(), variable{value: known(strconv.FormatInt(b, 10))})
		} else {
			s.counted(x.X)
		}
		return b, ok
	case syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn, syntax.AndAssgn,
		syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn:
		s.arith(x.Y)
		s.counted(x.X)
		return 0, false
	}
	a, ok := s.arith(x.X)
	b, ok2 := s.arith(x.Y)
	if !ok || !ok2 {
		return 0, false
	}
	switch x.Op {
	case syntax.Add:
		return a + b, true
	case syntax.Sub:
		return a - b, true
	case syntax.Mul:
		return a * b, true
	case syntax.Quo:
		if b != 0 && b != -1 {
			return a / b, true
		}
	case syntax.Rem:
		if b != 0 && b != -1 {
			return a % b, true
		}
	case syntax.And:
		return a & b, true
	case syntax.Or:
		return a | b, true
	case syntax.Xor:
		return a ^ b, true
	case syntax.Shl:
		return a << (uint64(b) & 63), true
	case syntax.Shr:
		return a >> (uint64(b) & 63), true
	}
	return 0, false
}

// number is a word as a number, or the variable of that name. A shell runs the
// substitutions in the value of a variable that it takes for an expression.
func (s *scope) number(w *syntax.Word) (int64, bool) {
	f := s.single(w, false)
	if !f.sure() {
		return 0, false
	}
	text := f.Value
	for range MaxDepth {
		if n, err := strconv.ParseInt(text, 0, 64); err == nil {
			return n, true
		}
		if text == "" {
			return 0, true
		}
		if indexed(text) {
			s.opaque("a value is read as an expression that runs commands", s.span(w))
			return 0, false
		}
		if !syntax.ValidName(text) {
			return 0, false
		}
		v := s.lookup(text)
		if v.unset {
			return 0, true
		}
		if !v.value.sure() || v.array {
			return 0, false
		}
		text = v.value.Value
	}
	return 0, false
}

// indexed reports whether a text, taken for the name of a variable, holds a
// command in its index: a[$(rm x)].
func indexed(text string) bool {
	_, index, ok := strings.Cut(text, "[")
	return ok && (strings.Contains(index, "$(") || strings.Contains(index, "`"))
}

// visit reads the commands that stand in a node of which nothing else matters.
func (s *scope) visit(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.CmdSubst:
			s.capture(x.Stmts)
			return false
		case *syntax.ProcSubst:
			p := splitter{s: s}
			p.process(x)
			return false
		}
		return s.step(1)
	})
}

// capture returns the output of the commands in a substitution.
func (s *scope) capture(stmts []*syntax.Stmt) output {
	sub := s.fork()
	return sub.stmts(stmts)
}
