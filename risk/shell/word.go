package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"agentswarm/risk/argv"
)

// field is a word as the shell makes it of a word of the text.
type field struct {
	argv.Word
	// tail is the known end of a value whose rest is not known.
	tail string
	// loose says that the unknown part may be several words, and comes from the
	// text and not from the environment.
	loose bool
	// guess says that the value is a default, and that the environment may have
	// another value.
	guess bool
	// may lists texts that the value may be, if it is not certain; among says
	// that it can be nothing else.
	may   []string
	among bool
	// piped is the output of a process substitution in its place.
	piped *output
}

func known(text string) field { return field{Word: argv.Known(text)} }

// sure reports whether all is known of a field, as text.
func (f field) sure() bool { return f.Known && !f.Glob && !f.guess }

// anything stands in a text for its unknown parts: the place where xargs or
// find puts a name.
const anything = "\ue000"

// maxFields bounds the words that the braces of a single word make.
const maxFields = 512

// fields are the words that a shell makes of words.
func (s *scope) fields(words []*syntax.Word) []field {
	all := make([]field, 0, len(words))
	for _, w := range words {
		if !s.step(1) {
			return all
		}
		if text, ok := literal(w); ok {
			all = append(all, known(text))
			continue
		}
		split := &syntax.Word{Parts: w.Parts}
		lists := [][]syntax.WordPart{w.Parts}
		if syntax.SplitBraces(split) {
			b := braces{left: maxFields}
			if lists = b.expand(split.Parts); b.left <= 0 || !s.step(b.size/8) {
				s.visit(w)
				all = append(all, unknown())
				continue
			}
		}
		for _, parts := range lists {
			p := splitter{s: s}
			p.start(parts, false)
			all = append(all, p.end()...)
		}
	}
	return all
}

// literal is the text of a word in which nothing is special.
func literal(w *syntax.Word) (string, bool) {
	if len(w.Parts) != 1 {
		return "", false
	}
	lit, ok := w.Parts[0].(*syntax.Lit)
	if !ok || strings.ContainsAny(lit.Value, "\\*?[{~"+anything) {
		return "", false
	}
	return lit.Value, true
}

// constant returns the text of parts that have only quotes.
func constant(parts []syntax.WordPart, quoted bool) (string, bool) {
	var b strings.Builder
	for _, part := range parts {
		text, ok := "", true
		switch x := part.(type) {
		case *syntax.Lit:
			ok = quoted || !globs(x.Value) && !strings.ContainsAny(x.Value, "{~"+anything)
			if text = strip(x.Value); quoted {
				text = unescape(x.Value, false)
			}
		case *syntax.SglQuoted:
			if text = x.Value; x.Dollar {
				text, ok = ansi(x.Value)
			}
		case *syntax.DblQuoted:
			text, ok = constant(x.Parts, true)
		default:
			ok = false
		}
		if !ok {
			return "", false
		}
		b.WriteString(text)
	}
	return b.String(), true
}

// single returns a word in a place where the shell makes a single word of it.
// Such places are the value of an assignment, the file of a redirection, and
// the body of a here-document.
func (s *scope) single(w *syntax.Word, quoted bool) field {
	if w == nil {
		return known("")
	}
	if !s.step(1) {
		return unknown()
	}
	p := splitter{s: s, join: true, begun: true}
	p.cur.Known = true
	if quoted {
		for _, part := range w.Parts {
			p.part(part, true)
		}
	} else {
		p.start(w.Parts, true)
	}
	return p.end()[0]
}

// splitter makes fields of the parts of a word.
type splitter struct {
	s     *scope
	join  bool // into a single field
	hdoc  bool
	begun bool
	cur   field
	done  []field
}

// start reads the parts of a word from its beginning, where a tilde can stand.
func (p *splitter) start(parts []syntax.WordPart, value bool) {
	if lit, ok := first(parts).(*syntax.Lit); ok && strings.HasPrefix(lit.Value, "~") {
		rest := *lit
		rest.Value = p.tilde(lit.Value, len(parts) == 1 || value)
		p.part(&rest, false)
		parts = parts[1:]
	}
	for _, part := range parts {
		p.part(part, false)
	}
}

func first(parts []syntax.WordPart) syntax.WordPart {
	if len(parts) == 0 {
		return nil
	}
	return parts[0]
}

// tilde reads a tilde and the name after it, and returns the rest.
func (p *splitter) tilde(text string, whole bool) string {
	name, rest := text, ""
	if i := strings.IndexByte(text, '/'); i >= 0 {
		name, rest = text[:i], text[i:]
	} else if !whole {
		return text
	}
	switch {
	case name == "~":
		p.value(p.s.lookup("HOME"), true)
	case name == "~+":
		p.value(p.s.lookup("PWD"), true)
	case name == "~-":
		p.value(p.s.lookup("OLDPWD"), true)
	case strings.ContainsAny(name, "\\*?[{"):
		return text
	default: // another user's home
		p.unknown(false)
	}
	return rest
}

// text adds known text to the field.
func (p *splitter) text(text string) {
	before, _, hole := strings.Cut(text, anything)
	if text == "" {
		return
	}
	p.open()
	switch {
	case hole:
		p.text(before)
		p.unknown(false)
		p.text(strings.ReplaceAll(text[len(before)+len(anything):], anything, ""))
	case len(p.cur.Value)+len(p.cur.Rest)+len(text) > MaxText || !p.s.step(len(text)/64):
		p.unknown(true)
	case p.cur.Known:
		p.cur.Value += text
	default:
		p.cur.tail += text
		p.cur.Rest += text
		p.cur.may, p.cur.among = nil, false
	}
}

// open begins a field, if none is begun.
func (p *splitter) open() {
	if !p.begun {
		p.begun, p.cur.Known = true, true
	}
}

// unknown adds an unknown part.
func (p *splitter) unknown(loose bool) {
	p.open()
	p.cur.Known, p.cur.tail, p.cur.may, p.cur.among = false, "", nil, false
	p.cur.loose = p.cur.loose || loose
}

// flush ends a field.
func (p *splitter) flush() {
	if p.begun {
		if p.cur.guess {
			p.cur.Known = false
		}
		p.done = append(p.done, p.cur)
	}
	p.begun, p.cur = false, field{}
}

func (p *splitter) end() []field {
	p.flush()
	return p.done
}

// part adds a part of a word.
func (p *splitter) part(part syntax.WordPart, quoted bool) {
	switch x := part.(type) {
	case *syntax.Lit:
		p.open()
		switch {
		case quoted:
			p.text(unescape(x.Value, p.hdoc))
		default:
			p.cur.Glob = p.cur.Glob || globs(x.Value)
			p.text(strip(x.Value))
		}
	case *syntax.SglQuoted:
		p.open()
		text, ok := x.Value, true
		if x.Dollar {
			text, ok = ansi(x.Value)
		}
		p.text(text)
		if !ok {
			p.unknown(false)
		}
	case *syntax.DblQuoted:
		if !emptyList(p.s, x.Parts) {
			p.open()
		}
		for _, inner := range x.Parts {
			p.part(inner, true)
		}
	case *syntax.ParamExp:
		p.param(x, quoted)
	case *syntax.CmdSubst:
		out := p.s.capture(x.Stmts)
		p.result(strings.TrimRight(out.text, "\n"), out.known, quoted)
	case *syntax.ArithmExp:
		n, ok := p.s.arith(x.X)
		p.result(strconv.FormatInt(n, 10), ok, quoted)
	case *syntax.ProcSubst:
		p.process(x)
	case *syntax.ExtGlob:
		p.open()
		p.cur.Glob = true
		p.text(x.Op.String() + x.Pattern.Value + ")")
	default: // a brace expression within an unsplit word
		p.s.visit(part)
		p.unknown(true)
	}
}

// process reads a process substitution. If it is written to, its input is not
// known.
func (p *splitter) process(x *syntax.ProcSubst) {
	sub := p.s.fork()
	if x.Op != syntax.CmdIn {
		sub.stdin = feed{}
	}
	out := sub.stmts(x.Stmts)
	p.open()
	p.text("/dev/fd/")
	p.unknown(false)
	if x.Op == syntax.CmdIn {
		p.cur.piped = &out
	}
}

// result adds the result of a substitution.
func (p *splitter) result(text string, ok, quoted bool) {
	switch {
	case !ok:
		p.unknown(!quoted)
	case quoted || p.join:
		p.open()
		p.text(text)
	default:
		p.split(text)
	}
}

// split adds text as an unquoted expansion: blanks part words.
func (p *splitter) split(text string) {
	ifs := p.s.lookup("IFS").value
	if !ifs.Known {
		p.unknown(true)
		return
	}
	for len(text) > 0 && p.s.step(1) {
		i := strings.IndexAny(text, ifs.Value)
		if i < 0 {
			i = len(text)
		}
		if i > 0 {
			p.open()
			p.cur.Glob = p.cur.Glob || globs(text[:i])
			p.text(text[:i])
		}
		if i < len(text) {
			p.flush()
			i++
		}
		text = text[i:]
	}
}

// value adds the value of a variable.
func (p *splitter) value(v variable, quoted bool) {
	f := v.value
	switch {
	case v.array && len(v.list) > 0:
		f = v.list[0]
	case v.array || v.unset:
		f = known("")
	case v.outside:
		p.unknown(false)
		return
	}
	p.add(f, quoted)
}

// add adds a field to the begun field.
func (p *splitter) add(f field, quoted bool) {
	if f.guess {
		p.open()
		p.cur.guess = true
		f.Known = true
	}
	switch {
	case f.Known && !quoted && !p.join:
		p.split(f.Value)
	default:
		p.open()
		p.cur.Glob = p.cur.Glob || f.Glob
		p.text(f.Value)
		if !f.Known {
			alone := p.cur.Known && p.cur.Value == ""
			p.unknown(f.loose && !quoted)
			p.text(f.tail)
			if alone {
				p.cur.may, p.cur.among = f.may, f.among
			}
		}
	}
}

// list adds several words, as "$@" does.
func (p *splitter) list(all []field, quoted bool) {
	for i, f := range all {
		if i > 0 && p.join {
			p.text(" ")
		} else if i > 0 {
			p.flush()
		}
		if quoted {
			p.open()
		}
		p.add(f, quoted)
	}
}
