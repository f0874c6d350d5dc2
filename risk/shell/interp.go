package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"agentswarm/risk/argv"
)

// shell reads the commands of a shell: a text, its input, or a file.
func (s *scope) shell(w *wrapping) output {
	if w.line.Has("-n") {
		return output{} // it only parses
	}
	if plus := w.c.words; len(w.ops) > 0 && w.line.Dashes != 0 && len(w.ops[0].Value) > 1 && w.ops[0].Value[0] == '+' { // an option that is switched off
		at := len(plus) - len(w.ops)
		n := 1
		if strings.HasSuffix(strings.ToLower(w.ops[0].Value), "o") {
			n = 2
		}
		c := *w.c
		c.words = slices.Concat(plus[:at], plus[min(at+n, len(plus)):])
		return s.unwrap(w.name, &c)
	}
	sub := s.child(w)
	given := w.ops
	switch {
	case w.line.Has("-c"):
		if len(given) == 0 {
			return output{}
		}
		text := given[0]
		if !text.Known || text.guess {
			s.opaque("the text that "+w.name+" runs is not known", w.c.span)
			return output{}
		}
		sub.params = &params{zero: known(w.name)}
		if len(given) > 1 {
			sub.params = &params{zero: given[1], rest: given[2:]}
		}
		return sub.code(text.Value, w.c.span)
	case w.line.Has("-s") || len(given) == 0:
		sub.params = &params{zero: known(w.name), rest: given}
		return s.fed(sub, w)
	}
	sub.params = &params{zero: given[0], rest: given[1:]}
	if given[0].Known && given[0].Value == "-" {
		return s.fed(sub, w)
	}
	out := s.open(given[0])
	switch {
	case out.known:
		return sub.code(out.text, w.c.span)
	case given[0].piped == nil && (out.file || s.pathed(given[0])):
	default:
		s.opaque("the text that "+w.name+" runs is not known", w.c.span)
	}
	return output{}
}

// fed reads the input of a shell as its text.
func (s *scope) fed(sub *scope, w *wrapping) output {
	switch {
	case s.stdin.Kind == StdinText:
		sub.stdin = feed{Stdin: Stdin{Kind: StdinInherited}}
		return sub.code(s.stdin.Text, w.c.span)
	case s.stdin.Kind == StdinUnknown && !s.stdin.file:
		s.opaque("the input of "+w.name+" is not known", w.c.span)
	}
	return output{}
}

// interpreter reads the code of an interpreter of another language.
func (s *scope) interpreter(w *wrapping) {
	var code []argv.Word
	for _, o := range w.line.Options {
		switch o.Name {
		case "-c", "-e", "-E", "-pe", "--eval", "--print", "--run", "--process-begin", "--process-code", "--process-end", "--command", "-Command", "--init-command", "--exec":
			if o.Valued && (o.Name != "-E" || w.Language == "perl") {
				code = append(code, o.Value)
			}
		case "-m":
			if o.Valued && w.Language == "python" {
				s.module(w, o)
				return
			}
		}
	}
	ops, runs := w.ops, slices.Equal(w.line.Sub, []string{"run"})
	if len(code) == 0 && len(ops) > 0 && (slices.Equal(w.line.Sub, []string{"eval"}) || w.Language == "javascript" && w.line.Has("--print")) {
		code = append(code, ops[0].Word)
	}
	if len(code) > 1 && !slices.ContainsFunc(code, func(one argv.Word) bool { return !one.Known }) && (w.Language == "perl" || w.Language == "ruby") {
		code = []argv.Word{argv.Known(textOf(code))} // the lines of a single program
	}
	sub := s.child(w)
	if runs && len(ops) > 0 {
		if name, ok := packaged(ops[0].Value); ok {
			words := slices.Clone(ops)
			words[0].Value = name
			sub.command(&command{words: words, assigns: w.c.assigns, writes: w.c.writes, span: w.c.span, outside: true})
			return
		}
	}
	for _, text := range code {
		if !text.Known {
			s.opaque("the code that "+w.name+" runs is not known", w.c.span)
			continue
		}
		sub.foreign(w.Language, text.Value, w.c.span)
	}
	switch {
	case len(code) > 0 || len(w.line.Sub) > 0 && !runs:
	case len(ops) == 0 || ops[0].Known && ops[0].Value == "-":
		switch {
		case s.stdin.Kind == StdinText:
			sub.foreign(w.Language, s.stdin.Text, w.c.span)
		case s.stdin.Kind == StdinUnknown && !s.stdin.file && len(w.line.Options) == 0:
			s.opaque("the input of "+w.name+" is not known", w.c.span)
		}
	default:
		out := s.open(ops[0])
		switch {
		case out.known:
			sub.foreign(w.Language, out.text, w.c.span)
		case ops[0].piped != nil, ops[0].Known && ops[0].Value == "/dev/stdin" && !out.file && s.stdin.Kind == StdinUnknown:
			s.opaque("the code that "+w.name+" runs is not known", w.c.span)
		}
	}
}

// packaged is the program of a package that deno fetches and runs.
func packaged(word string) (string, bool) {
	for _, scheme := range []string{"npm:", "jsr:"} {
		if name, ok := strings.CutPrefix(word, scheme); ok {
			return base(unversioned(name)), true
		}
	}
	return "", false
}

// textOf are words as the lines of a text.
func textOf(words []argv.Word) string {
	lines := make([]string, len(words))
	for i, w := range words {
		lines[i] = w.Value
	}
	return strings.Join(lines, "\n")
}

// module reads "python -m x …" as the program x.
func (s *scope) module(w *wrapping, o argv.Option) {
	rest := w.c.words[1+o.At+1:]
	if w.c.words[1+o.At].Value == "-m" || strings.HasSuffix(w.c.words[1+o.At].Value, "m") && len(rest) > 0 && rest[0].Word == o.Value {
		rest = rest[min(1, len(rest)):]
	}
	words := append([]field{{Word: o.Value}}, rest...)
	s.child(w).command(&command{words: words, assigns: w.c.assigns, writes: w.c.writes, span: w.c.span, outside: true})
}

// idiom reports whether a word is the output of a program that is known to
// print settings for the shell.
func (s *scope) idiom(w *syntax.Word) bool {
	parts := w.Parts
	if q, ok := first(parts).(*syntax.DblQuoted); ok && len(parts) == 1 {
		parts = q.Parts
	}
	if len(parts) != 1 {
		return false
	}
	var stmts []*syntax.Stmt
	switch x := parts[0].(type) {
	case *syntax.CmdSubst:
		stmts = x.Stmts
	case *syntax.ProcSubst:
		stmts = x.Stmts
	}
	return len(stmts) == 1 && len(s.stdin.Text) == 0 && s.idiomCommand(stmts[0])
}

// bearing reads the value of a variable that holds code.
func (s *scope) bearing(name string, f field, at Span) {
	kind := s.variables[name]
	switch {
	case strings.HasPrefix(name, "GIT_CONFIG_"):
		s.configured(name, at)
		return
	case kind == "":
		return
	case !f.Known && kind == "file" && f.piped == nil, f.Known && f.Value == "":
		return
	}
	sub := s.within(name)
	sub.orphan()
	switch {
	case kind == "file":
		out := s.open(f)
		if out.known {
			sub.code(out.text, at)
		} else if !out.file {
			s.opaque("the text that "+name+" names is not known", at)
		}
	case kind == "prompt":
		if !f.Known || strings.ContainsAny(f.Value, "`$") {
			s.opaque("a value is read as a prompt", at)
		}
	case !f.Known || f.guess:
		s.opaque("the text that "+name+" holds is not known", at)
	case kind == "command":
		sub.code(f.Value+" '"+anything+"'", at)
	default:
		sub.code(f.Value, at)
	}
}
