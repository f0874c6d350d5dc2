package shell

import (
	"fmt"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// maxNest bounds the nesting of commands. The nesting of a text is bounded
// before; this bounds the nesting that functions add.
const maxNest = 4 * MaxNesting

// stmts reads commands in order.
func (s *scope) stmts(list []*syntax.Stmt) output {
	out := nothing()
	for _, st := range list {
		out = out.then(s.stmt(st))
	}
	return out
}

// stmt reads a command with its redirections.
func (s *scope) stmt(st *syntax.Stmt) output {
	if !s.step(1) {
		return output{}
	}
	if s.nest++; s.nest > maxNest {
		s.over = true
		return output{}
	}
	defer func() { s.nest-- }()
	if st.Background || st.Coprocess || st.Disown {
		s = s.fork()
	}
	outer := s.stdin
	r := s.redirect(st.Redirs)
	var out output
	switch cmd := st.Cmd.(type) {
	case nil:
		out = nothing()
		if r.file != nil {
			out = *r.file
		}
	case *syntax.CallExpr:
		out = s.call(cmd, &r)
	default:
		out = s.compound(cmd)
	}
	if !r.keep {
		s.stdin = outer
	}
	if r.to != nil {
		s.wrote(*r.to, out, r.append)
	}
	if r.away {
		return nothing()
	}
	return out
}

// compound reads a compound command.
func (s *scope) compound(cmd syntax.Command) output {
	switch x := cmd.(type) {
	case *syntax.BinaryCmd:
		return s.binaryCmd(x)
	case *syntax.Block:
		return s.stmts(x.Stmts)
	case *syntax.Subshell:
		return s.capture(x.Stmts)
	case *syntax.IfClause:
		return s.ifClause(x)
	case *syntax.WhileClause:
		s.loop(func() {
			s.stmts(x.Cond)
			s.stmts(x.Do)
		})
		return output{}
	case *syntax.ForClause:
		s.forClause(x)
		return output{}
	case *syntax.CaseClause:
		return s.caseClause(x)
	case *syntax.FuncDecl:
		s.define(x)
	case *syntax.TimeClause:
		if x.Stmt != nil {
			s.via = append(slices.Clip(s.via), "time")
			out := s.stmt(x.Stmt)
			s.via = s.via[:len(s.via)-1]
			return out
		}
	case *syntax.CoprocClause:
		sub := s.within("coproc")
		sub.stdin = feed{}
		if x.Name != nil {
			s.visit(x.Name)
		}
		sub.stmt(x.Stmt)
	case *syntax.DeclClause:
		s.declare(x)
	case *syntax.ArithmCmd:
		s.arith(x.X)
	case *syntax.LetClause:
		for _, e := range x.Exprs {
			s.arith(e)
		}
	case *syntax.TestClause:
		s.test(x.X)
	case *syntax.TestDecl:
		s.visit(x.Description)
		s.capture([]*syntax.Stmt{x.Body})
	default:
		s.opaque(fmt.Sprintf("a command of a kind that is not known: %T", x), s.span(x))
		return output{}
	}
	return nothing()
}

// binaryCmd reads a pipe, or a pair of commands in which the exit code of the
// first decides whether the second runs.
func (s *scope) binaryCmd(x *syntax.BinaryCmd) output {
	switch x.Op {
	case syntax.Pipe, syntax.PipeAll:
		left := s.fork()
		out := left.stmt(x.X)
		right := s.fork()
		right.stdin = out.feed()
		return right.stmt(x.Y)
	}
	chain := []*syntax.Stmt{x.Y}
	for {
		inner, ok := x.X.Cmd.(*syntax.BinaryCmd)
		if !ok || inner.Op != x.Op || x.X.Negated || len(x.X.Redirs) > 0 || x.X.Background {
			chain = append(chain, x.X)
			break
		}
		chain = append(chain, inner.Y)
		x = inner
	}
	slices.Reverse(chain)
	// Each command is read as if those before it had the exit code that lets it
	// run. Commands after the chain may find it broken off at any point.
	var may []state
	out := nothing()
	for i, st := range chain {
		if x.Op == syntax.OrStmt && ends(st) {
			sub := s.fork()
			sub.stmt(st)
			continue
		}
		if i > 0 && (x.Op == syntax.OrStmt || !succeeds(chain[i-1])) {
			may = append(may, s.state.clone())
			s.step(1 + len(s.vars)/4)
			out = output{}
			s.stmt(st)
			continue
		}
		out = out.then(s.stmt(st))
	}
	for i := range may {
		s.merge(&may[i])
	}
	return out
}

// name is the first word of a simple command, if it is fixed.
func name(st *syntax.Stmt) (string, *syntax.CallExpr) {
	call, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return "", call
	}
	return call.Args[0].Lit(), call
}

// ends reports whether the commands after a command never run.
func ends(st *syntax.Stmt) bool {
	if st.Background || st.Negated {
		return false
	}
	switch x := st.Cmd.(type) {
	case *syntax.Block:
		return len(x.Stmts) > 0 && ends(x.Stmts[len(x.Stmts)-1])
	case *syntax.BinaryCmd:
		return x.Op == syntax.AndStmt && succeeds(x.X) && ends(x.Y)
	}
	n, _ := name(st)
	return n == "exit" || n == "return" || n == "continue" || n == "break"
}

// succeeds reports whether a command is assumed not to fail. cd and the like
// can fail, but the next command of a chain depends on the folder they lead to.
func succeeds(st *syntax.Stmt) bool {
	if st.Negated {
		return false
	}
	if _, ok := st.Cmd.(*syntax.DeclClause); ok {
		return true
	}
	n, call := name(st)
	switch n {
	case "cd", "pushd", "popd", "set", "true", ":", "echo", "printf", "mkdir", "shopt", "umask", "alias", "trap", "unset", "hash":
		return true
	}
	return call != nil && len(call.Args) == 0
}

func (s *scope) ifClause(x *syntax.IfClause) output {
	s.stmts(x.Cond)
	then := s.fork()
	then.stmts(x.Then)
	never := func(list []*syntax.Stmt) bool { return len(list) > 0 && ends(list[len(list)-1]) }
	switch {
	case x.Else == nil:
	case len(x.Else.Cond) > 0: // elif
		s.ifClause(x.Else)
	default:
		if s.stmts(x.Else.Then); never(x.Else.Then) {
			s.state = then.state
			return output{}
		}
	}
	if !never(x.Then) {
		s.merge(&then.state)
	}
	return output{}
}

func (s *scope) caseClause(x *syntax.CaseClause) output {
	s.single(x.Word, false)
	before := s.state.clone()
	for _, item := range x.Items {
		for _, p := range item.Patterns {
			s.visit(p)
		}
		sub := s.fork()
		if item.Op != syntax.Break { // it may be fallen into
			sub.state = s.state.clone()
		} else {
			sub.state = before.clone()
		}
		sub.stmts(item.Stmts)
		s.merge(&sub.state)
	}
	return output{}
}

// forClause reads a loop over words once for each, if they are known.
func (s *scope) forClause(x *syntax.ForClause) {
	if c, ok := x.Loop.(*syntax.CStyleLoop); ok {
		s.arith(c.Init)
		s.loop(func() {
			s.arith(c.Cond)
			s.stmts(x.Do)
			s.arith(c.Post)
		})
		return
	}
	it, ok := x.Loop.(*syntax.WordIter)
	if !ok {
		s.loop(func() { s.stmts(x.Do) })
		return
	}
	items, all := s.items(it)
	pass := func() {
		for _, item := range items {
			s.assign(it.Name.Value, variable{value: item}, s.span(it))
			s.stmts(x.Do)
		}
	}
	s.repeated = true
	if all && !x.Select {
		s.loops++
		pass()
		s.loops--
		return
	}
	s.loop(pass)
}

// items returns the items of a loop, and whether the list is complete.
func (s *scope) items(it *syntax.WordIter) ([]field, bool) {
	var items []field
	switch {
	case it.InPos.IsValid():
		items = s.fields(it.Items)
	case s.params != nil:
		items = s.params.rest
	default:
		return []field{unknown()}, false
	}
	const most = 32
	if len(items) > most {
		return []field{unknown()}, false
	}
	return items, !slices.ContainsFunc(items, func(f field) bool { return !f.sure() })
}

// loop reads a body that may run any number of times. It repeats with the state
// that is still known, until no more knowledge is lost.
func (s *scope) loop(pass func()) {
	s.repeated = true
	s.loops++
	defer func() { s.loops-- }()
	for range 3 {
		before := s.state.clone()
		s.step(1 + len(s.vars)/4)
		pass()
		if s.over || !s.merge(&before) {
			return
		}
	}
	s.forget()
	pass()
	s.forget()
}

// define notes a function, and that nothing has called it yet.
func (s *scope) define(x *syntax.FuncDecl) {
	if x.Name == nil {
		s.capture([]*syntax.Stmt{x.Body})
		return
	}
	d := &definition{decl: x}
	if s.funcs == nil {
		s.funcs = map[string][]function{}
	}
	s.funcs[x.Name.Value] = []function{{definition: d, sure: true}}
	d.where = s.fork()
	d.where.params = nil
	*s.uncalled = append(*s.uncalled, d)
}

// leftOver reads the functions that nothing has called.
func (s *scope) leftOver(all []*definition) {
	for _, d := range all {
		if !d.called && !s.over {
			d.called = true
			var more []*definition
			d.where.uncalled = &more
			d.where.stmt(d.decl.Body)
			s.leftOver(more)
		}
	}
}

// invoke reads the body of a function for a call of it.
func (s *scope) invoke(fs []function, args []field) output {
	out := output{}
	for i, f := range fs {
		again := 0
		for _, a := range s.active {
			if a == f.definition {
				again++
			}
		}
		if again > 1 || len(s.active) > 4*MaxDepth {
			continue
		}
		s.repeated = true
		f.called = true
		given, locals, active := s.params, s.locals, s.active
		s.params = &params{zero: unknown(), rest: args}
		if again == 1 { // it calls itself, with unknown words, any number of times later
			s.forget()
		}
		s.active, s.locals = append(slices.Clip(active), f.definition), map[string]variable{}
		got := s.stmt(f.decl.Body)
		for name, v := range s.locals {
			s.vars[name] = v
		}
		s.params, s.locals, s.active = given, locals, active
		if i == 0 && len(fs) == 1 && f.sure {
			out = got
		}
	}
	return out
}

func (s *scope) test(x syntax.TestExpr) {
	switch x := x.(type) {
	case *syntax.BinaryTest:
		s.test(x.X)
		s.test(x.Y)
	case *syntax.UnaryTest:
		s.test(x.X)
	case *syntax.ParenTest:
		s.test(x.X)
	case *syntax.Word:
		if f := s.single(x, false); indexed(f.Value) {
			s.opaque("a value is read as an expression that runs commands", s.span(x))
		}
	}
}
