package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// command is a simple command that is about to run.
type command struct {
	words   []field // the program first; never empty
	assigns []Assign
	writes  []Write
	span    Span
	// outside says that no shell looks the program up: it is no function and
	// no builtin.
	outside bool
	noFuncs bool             // command and builtin pass functions by
	node    *syntax.CallExpr // nil: the text does not have it as such
	r       *redirects
}

// call reads a simple command.
func (s *scope) call(x *syntax.CallExpr, r *redirects) output {
	words := s.fields(x.Args)
	at := s.span(x)
	if len(words) == 0 {
		out := nothing()
		for _, a := range x.Assigns {
			out = s.assignment(a, at)
		}
		if len(x.Args) > 0 || len(x.Assigns) > 0 {
			return nothing() // such as X=$(…), or nothing at all is left
		}
		return out
	}
	c := &command{words: words, writes: r.writes, span: at, node: x, r: r}
	if len(x.Assigns) > 0 {
		// They hold for this command only.
		before := s.vars
		sub := s.state.clone()
		s.vars = sub.vars
		for _, a := range x.Assigns {
			v := s.lookup(a.Name.Value)
			s.assignment(a, at)
			v = s.vars[a.Name.Value]
			v.exported = true
			s.vars[a.Name.Value] = v
			c.assigns = append(c.assigns, Assign{Name: a.Name.Value, Value: v.value.Word})
		}
		out := s.command(c)
		s.vars = before
		return out
	}
	return s.command(c)
}

// assignment sets a variable.
func (s *scope) assignment(a *syntax.Assign, at Span) output {
	if a.Name == nil {
		return nothing()
	}
	name := a.Name.Value
	v := variable{}
	switch {
	case a.Array != nil:
		v.array = true
		for _, e := range a.Array.Elems {
			if e.Index != nil {
				s.arith(e.Index)
				v = variable{value: unknown()}
				s.single(e.Value, false)
				continue
			}
			if fs := s.fields([]*syntax.Word{e.Value}); v.array {
				v.list = append(v.list, fs...)
			}
		}
		if slices.ContainsFunc(v.list, func(f field) bool { return f.loose }) {
			v = variable{value: unknown()}
		}
	case a.Value != nil || !a.Naked:
		v.value = s.single(a.Value, false)
	}
	old := s.lookup(name)
	switch {
	case a.Index != nil:
		s.arith(a.Index)
		v = variable{value: unknown()}
	case a.Append && a.Array != nil:
		if old.array && v.array {
			v.list = slices.Concat(old.list, v.list)
		} else {
			v = variable{value: unknown()}
		}
	case a.Append:
		p := splitter{s: s, join: true, begun: true}
		p.cur.Known = true
		p.value(old, true)
		p.add(v.value, true)
		v.value = p.end()[0]
		if old.array {
			v = variable{value: unknown()}
		}
	}
	s.assign(name, v, at)
	return nothing()
}

// declare reads export, local, declare and their kin.
func (s *scope) declare(x *syntax.DeclClause) {
	at := s.span(x)
	export := x.Variant.Value == "export"
	local := x.Variant.Value == "local" || x.Variant.Value == "declare" || x.Variant.Value == "typeset"
	odd := x.Variant.Value == "nameref"
	for _, a := range x.Args {
		if a.Name == nil {
			f := s.single(a.Value, false)
			switch {
			case indexed(f.Value):
				s.opaque("a value is read as an expression that runs commands", at)
			case strings.HasPrefix(f.Value, "-"):
				export = export || strings.Contains(f.Value, "x")
				local = local && !strings.Contains(f.Value, "g")
				odd = odd || strings.ContainsAny(f.Value, "niluc")
			default:
				s.exported(f, at)
			}
			continue
		}
		name := a.Name.Value
		if local && s.locals != nil {
			if _, ok := s.locals[name]; !ok {
				s.locals[name] = s.lookup(name)
			}
			if a.Naked {
				s.set(name, variable{unset: true})
			}
		}
		if !a.Naked {
			s.assignment(a, at)
		}
		if odd {
			s.set(name, variable{value: unknown()})
		}
		if export {
			v := s.lookup(name)
			v.exported = true
			s.set(name, v)
		}
	}
}

// exported reads NAME=VALUE as export and readonly take it in a word.
func (s *scope) exported(f field, at Span) {
	name, value, ok := strings.Cut(f.Value, "=")
	switch {
	case !f.Known && !ok:
		s.forget() // which variable is not known
	case ok && syntax.ValidName(name):
		v := known(value)
		if !f.Known {
			v = unknown()
			v.Value = value
		}
		s.set(name, variable{exported: true})
		s.assign(name, variable{value: v, exported: true}, at)
	}
}

// program returns the name of a command's program, and whether it is known.
func (f field) program() (string, bool) {
	switch {
	case f.Glob || strings.HasSuffix(f.Value, "/") && f.Known:
		return "", false
	case f.Known || f.guess:
		return base(f.Value), f.Value != ""
	case !f.loose && f.piped == nil && strings.Contains(f.tail, "/"):
		return base(f.tail), base(f.tail) != "" // "$VENV/bin/python"
	}
	return "", false
}

// command reads a command of known or unknown words.
func (s *scope) command(c *command) output {
	if !s.step(1 + len(c.words)/4) {
		return output{}
	}
	f := c.words[0]
	name, ok := f.program()
	if !ok {
		if f.Known && f.Value == "" && !f.Glob { // such as "" or "$UNSET": no program
			return nothing()
		}
		if f.piped != nil && f.piped.known {
			s.within("sh").code(f.piped.text, c.span)
			return output{}
		}
		if s.either(c); f.among && !c.outside { // a wrapper could take it for an option
			return output{}
		}
		s.add(c, "")
		s.opaque("the name of the program is not known", c.span)
		return output{}
	}
	defer s.consume(name, c)()
	bare := !strings.Contains(f.Value, "/")
	if bare && !c.outside && !c.noFuncs {
		if text, ok := s.aliases[name]; ok && s.nest < maxNest/2 {
			s.repeated = true
			s.within(name).code(text+quoted(c.words[1:]), c.span)
		}
		if fs := s.funcs[name]; len(fs) > 0 {
			at := s.add(c, name)
			sure := fs[0].sure
			s.script.Invocations[at].Shadowed = sure
			if out := s.invoke(fs, c.words[1:]); sure {
				return out
			}
		}
	}
	s.add(c, name)
	if bare && !c.outside {
		if out, ok := s.builtin(name, c); ok {
			return out
		}
	}
	if out, ok := s.produced(name, c); ok {
		return out
	}
	return s.unwrap(name, c)
}

// either reads a command once for each of the texts that its name may be.
func (s *scope) either(c *command) {
	for _, text := range c.words[0].may {
		p := splitter{s: s}
		p.split(text)
		one := *c
		if one.words = append(p.end(), c.words[1:]...); len(one.words) > 0 {
			s.repeated = true
			s.fork().command(&one)
		}
	}
}

// consume clears the input if another command may have read from it. It returns
// a function that records the reading of this command.
func (s *scope) consume(name string, c *command) func() {
	reads, changes := harmless(name, values(c.words[1:]))
	used := s.stdin.used
	if used != nil && *used {
		s.stdin = feed{}
	}
	return func() {
		if reads && used != nil {
			*used = true
		}
		if changes {
			s.changes++
		}
	}
}

// add records an invocation, and says where.
func (s *scope) add(c *command, program string) int {
	v := Invocation{
		Program: program, Path: c.words[0].Word, Args: values(c.words[1:]), Via: s.via, Assigns: c.assigns,
		Stdin: s.stdin.Stdin, Cwd: s.cwd, Writes: c.writes, Remote: s.remote, Span: c.span,
	}
	var more []Assign
	for name, value := range s.vars {
		if value.exported && !slices.ContainsFunc(c.assigns, func(a Assign) bool { return a.Name == name }) {
			more = append(more, Assign{Name: name, Value: value.value.Word})
		}
	}
	if len(more) > 0 {
		slices.SortFunc(more, func(a, b Assign) int { return strings.Compare(a.Name, b.Name) })
		s.step(len(more))
		v.Assigns = slices.Concat(more, c.assigns)
	}
	s.step(8) // it is looked at by others, too
	s.script.Invocations = append(s.script.Invocations, v)
	return len(s.script.Invocations) - 1
}

// quoted returns words as they stand in a text. Unknown parts become
// "anything".
func quoted(words []field) string {
	var b strings.Builder
	for _, w := range words {
		text := w.Value
		if !w.Known {
			text += anything
		}
		b.WriteString(" '" + strings.ReplaceAll(text, "'", `'\''`) + "'")
	}
	return b.String()
}

// joinedText are words with blanks between, as eval makes a text of them.
func joinedText(words []field) (string, bool) {
	text := make([]string, len(words))
	known := true
	for i, w := range words {
		text[i] = w.Value
		known = known && w.Known && !w.guess
	}
	return strings.Join(text, " "), known
}
