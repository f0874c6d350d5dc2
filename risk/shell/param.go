package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// param adds a parameter expansion.
func (p *splitter) param(x *syntax.ParamExp, quoted bool) {
	if x.Param == nil || x.Flags != nil || x.NestedParam != nil || len(x.Modifiers) > 0 {
		p.s.visit(x)
		p.unknown(true)
		return
	}
	if x.Exp != nil || x.Slice != nil || x.Repl != nil || x.Excl || x.Length || x.Width || x.IsSet || x.Names != 0 {
		p.changed(x, quoted)
		return
	}
	if all, ok := p.s.listed(x); ok {
		if x.Param.Value == "*" && quoted {
			all = joined(all)
		}
		p.list(all, quoted)
		return
	}
	v := p.s.parameter(x)
	if v.outside && !quoted && !p.join && strings.ContainsAny(x.Param.Value, "@*0123456789") {
		p.unknown(true)
		return
	}
	p.value(v, quoted)
}

// joined makes a single field of several.
func joined(all []field) []field {
	p := splitter{join: true, begun: true, s: &scope{reading: &reading{script: &Script{}}}}
	p.cur.Known = true
	p.list(all, true)
	return p.end()
}

// emptyList reports whether parts are a "$@" without words: not even an empty
// word.
func emptyList(s *scope, parts []syntax.WordPart) bool {
	if len(parts) != 1 {
		return false
	}
	x, ok := parts[0].(*syntax.ParamExp)
	if !ok || x.Param == nil || x.Exp != nil {
		return false
	}
	all, ok := s.listed(x)
	return ok && len(all) == 0
}

// listed are the words of an expansion that makes several: $@, $*, ${a[@]}.
func (s *scope) listed(x *syntax.ParamExp) ([]field, bool) {
	if name := x.Param.Value; name == "@" || name == "*" {
		if s.params == nil {
			return nil, false
		}
		return s.params.rest, true
	}
	w, ok := x.Index.(*syntax.Word)
	if !ok || w.Lit() != "@" && w.Lit() != "*" {
		return nil, false
	}
	v := s.lookup(x.Param.Value)
	if v.array {
		return v.list, true
	}
	return []field{v.value}, !v.outside
}

// parameter is the variable that an expansion names.
func (s *scope) parameter(x *syntax.ParamExp) variable {
	name := x.Param.Value
	if x.Index != nil {
		n, ok := s.arith(x.Index)
		v := s.lookup(name)
		switch {
		case !ok || !v.array && n != 0:
			return variable{value: unknown()}
		case !v.array:
			return v
		case n < 0:
			n += int64(len(v.list))
		}
		if n < 0 || n >= int64(len(v.list)) {
			return variable{unset: true}
		}
		return variable{value: v.list[n]}
	}
	if n, err := strconv.Atoi(name); err == nil {
		switch {
		case s.params == nil:
			return variable{outside: true}
		case n == 0:
			return variable{value: s.params.zero}
		case n <= len(s.params.rest):
			return variable{value: s.params.rest[n-1]}
		}
		return variable{unset: true}
	}
	switch name {
	case "#":
		if s.params != nil {
			return variable{value: known(strconv.Itoa(len(s.params.rest)))}
		}
		return variable{outside: true}
	case "@", "*", "?", "$", "!", "-", "_":
		return variable{outside: true}
	}
	return s.lookup(name)
}

// changed adds an expansion that does something to a value.
func (p *splitter) changed(x *syntax.ParamExp, quoted bool) {
	v := p.s.parameter(x)
	if all, ok := p.s.listed(x); ok {
		if x.Length {
			p.result(strconv.Itoa(len(all)), true, quoted)
			return
		}
		if v = (variable{value: joined(all)[0]}); len(all) == 0 {
			v = variable{unset: true}
		}
	}
	if x.Excl && x.Names == 0 && v.value.sure() && !v.unset && x.Exp == nil {
		p.value(p.s.lookup(v.value.Value), quoted)
		return
	}
	if e := x.Exp; e != nil && !x.Excl {
		if p.fallback(x, v, quoted) {
			return
		}
	}
	f := v.value
	if v.unset {
		f = known("")
	}
	text, ok := p.s.transform(x, f)
	p.result(text, ok, quoted)
}

// fallback adds an expansion that has another value, where the variable has
// none; false: it is none such.
func (p *splitter) fallback(x *syntax.ParamExp, v variable, quoted bool) bool {
	e := x.Exp
	other := splitter{s: p.s, join: p.join, hdoc: p.hdoc}
	read := func() []field {
		if e.Word != nil {
			other.start(e.Word.Parts, false)
		}
		return other.end()
	}
	empty := v.unset || v.value.Known && v.value.Value == "" && len(v.list) == 0 && !v.outside
	switch e.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		null := e.Op == syntax.DefaultUnsetOrNull || e.Op == syntax.AssignUnsetOrNull
		all := read()
		use := v.unset || empty && null
		if v.outside {
			for i := range all {
				all[i].guess = true
			}
			use = true
		}
		if !use {
			p.value(v, quoted)
			return true
		}
		if e.Op == syntax.AssignUnset || e.Op == syntax.AssignUnsetOrNull {
			one := joined(all)[0]
			p.s.assign(x.Param.Value, variable{value: one}, p.s.span(x))
		}
		p.list(all, quoted)
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		all := read()
		switch {
		case v.outside || !v.value.Known && !v.unset:
			for i := range all {
				all[i].guess = true
			}
			p.list(all, quoted)
		case !v.unset && (!empty || e.Op == syntax.AlternateUnset):
			p.list(all, quoted)
		}
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		read()
		p.value(v, quoted)
	default:
		return false
	}
	return true
}

// transform is a value with something done to it.
func (s *scope) transform(x *syntax.ParamExp, f field) (string, bool) {
	text, ok := f.Value, f.sure() && !x.Excl && !x.Width && !x.IsSet && x.Names == 0
	if x.Slice != nil {
		var from, length int64
		var ok1, ok2 bool
		from, ok1 = s.arith(x.Slice.Offset)
		if length, ok2 = s.arith(x.Slice.Length); x.Slice.Length == nil {
			length, ok2 = int64(len(text)), true
		}
		text, ok = slice(text, from, length), ok && ok1 && ok2
	}
	if x.Repl != nil {
		orig, with := s.single(x.Repl.Orig, false), s.single(x.Repl.With, false)
		if ok = ok && orig.sure() && with.sure() && orig.Value != "" && !strings.ContainsAny(orig.Value[:1], "#%"); ok {
			n := 1
			if x.Repl.All {
				n = -1
			}
			if len(with.Value)*len(text) > MaxText {
				return "", false
			}
			text = strings.Replace(text, orig.Value, with.Value, n)
		}
	}
	if x.Exp != nil {
		arg := s.single(x.Exp.Word, false)
		text, ok = s.expand(x.Exp.Op, text, arg, ok)
	}
	if x.Length {
		text = strconv.Itoa(len([]rune(text)))
	}
	return text, ok
}

func slice(text string, from, length int64) string {
	r := []rune(text)
	n := int64(len(r))
	if from < 0 {
		from = max(0, from+n)
	}
	from = min(from, n)
	end := from + min(length, n)
	if length < 0 {
		end = n + max(length, -n)
	}
	return string(r[from:max(from, min(end, n))])
}

// expand applies an operator of an expansion.
func (s *scope) expand(op syntax.ParExpOperator, text string, arg field, ok bool) (string, bool) {
	plain := arg.Known && !arg.guess
	switch op {
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		if !ok || !plain || !s.step(len(text)*len(arg.Value)/8) {
			return "", false
		}
		cuts := make([]int, 0, len(text)+1)
		for i := range len(text) + 1 {
			cuts = append(cuts, i)
		}
		prefix := op == syntax.RemSmallPrefix || op == syntax.RemLargePrefix
		if op == syntax.RemLargePrefix || op == syntax.RemSmallSuffix {
			slices.Reverse(cuts)
		}
		for _, i := range cuts {
			switch {
			case !s.step(1):
				return "", false
			case prefix && matches(arg.Value, text[:i]):
				return text[i:], true
			case !prefix && matches(arg.Value, text[i:]):
				return text[:i], true
			}
		}
		return text, true
	case syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll:
		if arg.Value != "" || !plain || text == "" {
			return text, ok && text == ""
		}
		switch op {
		case syntax.UpperAll:
			return strings.ToUpper(text), ok
		case syntax.LowerAll:
			return strings.ToLower(text), ok
		case syntax.UpperFirst:
			return strings.ToUpper(text[:1]) + text[1:], ok
		}
		return strings.ToLower(text[:1]) + text[1:], ok
	case syntax.OtherParamOps:
		switch arg.Value {
		case "U":
			return strings.ToUpper(text), ok
		case "L":
			return strings.ToLower(text), ok
		case "P": // as a prompt: commands in it run
			if !ok || strings.ContainsAny(text, "$`") {
				s.opaque("a value is read as a prompt", Span{0, s.size})
			}
		}
	}
	return "", false
}

// matches reports whether a text matches a pattern. It knows stars and question
// marks; for brackets it returns false.
func matches(pattern, text string) bool {
	p, t, star, mark := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, t
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			p++
			t++
		case star >= 0:
			p, mark = star+1, mark+1
			t = mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
