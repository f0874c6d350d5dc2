package regex

import (
	"slices"
	"strings"
)

// members are the members of a class: characters, and with the flag v strings
// of none or several characters.
type members struct {
	set
	strings [][]rune
}

// setOf is the node of a set of characters and strings.
func (p *reader) setOf(s set, words [][]rune) node {
	n := &setNode{set: s, fold: p.fold, folded: p.fold && p.sets}
	if len(words) == 0 {
		return n
	}
	// The longest string is tried first, and a single character counts as a
	// string.
	slices.SortStableFunc(words, func(a, b []rune) int { return len(b) - len(a) })
	var all choiceNode
	added := false
	for _, w := range words {
		if len(w) == 0 && !added {
			all, added = append(all, n), true
		}
		text := sequenceNode{}
		for _, r := range w {
			text = append(text, &charNode{r, p.fold})
		}
		all = append(all, &text)
	}
	if !added {
		all = append(all, n)
	}
	return &all
}

// class reads a class in brackets.
func (p *reader) class() node {
	open := p.at
	p.at++
	invert := p.eat("^")
	if !p.sets {
		return &setNode{set: p.oldClass(open), invert: invert, fold: p.fold}
	}
	m := p.operands(open)
	if invert {
		if len(m.strings) > 0 {
			p.at = open
			p.fail("a negated class may not hold strings")
		}
		m.set = p.all().without(m.set)
	}
	return p.setOf(m.set, m.strings)
}

// oldClass reads the rest of a class without the flag v.
func (p *reader) oldClass(open int) set {
	var spans []span
	for !p.eat("]") {
		from, s := p.oldAtom(open)
		if p.peek() != '-' || p.at+1 >= len(p.text) || p.text[p.at+1] == ']' {
			spans = append(spans, s...)
			continue
		}
		p.at++
		to, t := p.oldAtom(open)
		if from < 0 || to < 0 {
			if p.wide {
				p.fail("invalid character class")
			}
			spans = append(append(append(spans, s...), t...), span{'-', '-'})
			continue
		}
		if from > to {
			p.fail("range out of order in character class")
		}
		spans = append(spans, span{from, to})
	}
	return normal(spans)
}

// oldAtom reads a character of a class, or an escape that stands for many; then
// the first result is negative.
func (p *reader) oldAtom(open int) (rune, set) {
	r := p.peek()
	if r == -1 {
		p.at = open
		p.fail("unterminated character class")
	}
	p.at++
	if r == '\\' {
		if s, ok := p.classEscape(); ok {
			return -1, s
		}
		r = p.classCharacter()
	}
	return r, set{{r, r}}
}

// classCharacter reads an escaped character of a class.
func (p *reader) classCharacter() rune {
	switch {
	case !p.more():
		p.fail("\\ at the end of the pattern")
	case p.eat("b"):
		return '\b'
	case p.wide && p.peek() >= '1' && p.peek() <= '9':
		p.fail("invalid class escape")
	}
	return p.character(true)
}

// operands reads the rest of a class with the flag v.
func (p *reader) operands(open int) members {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > mostDepth {
		p.fail("classes nest more than %d deep", mostDepth)
	}
	var all members
	operator, count := "", 0
	for !p.eat("]") {
		if !p.more() {
			p.at = open
			p.fail("unterminated character class")
		}
		next := ""
		for _, o := range []string{"--", "&&"} {
			if count > 0 && p.eat(o) {
				next = o
			}
		}
		if count == 1 && operator == "" {
			operator = next
		}
		if next != operator {
			p.fail("set operations do not mix with others in one class: use brackets")
		}
		if operator == "&&" && p.peek() == '&' {
			p.fail("invalid set operation")
		}
		m, ranged := p.operand(operator == "")
		if ranged && count == 0 && (p.ahead("--") || p.ahead("&&")) {
			p.fail("a range in a set operation: put it in brackets")
		}
		count++
		switch operator {
		case "":
			all.set, all.strings = all.union(m.set), append(all.strings, m.strings...)
		case "--":
			all.set, all.strings = all.without(m.set), p.strings(all.strings, m.strings, false)
		default:
			all.set, all.strings = all.intersect(m.set), p.strings(all.strings, m.strings, true)
		}
	}
	return all
}

// strings are those of a that are in b, or are not.
func (p *reader) strings(a, b [][]rune, in bool) [][]rune {
	var out [][]rune
	for _, s := range a {
		if in == slices.ContainsFunc(b, func(o []rune) bool {
			return slices.EqualFunc(s, o, func(x, y rune) bool { return x == y || p.fold && same(x, y, true) })
		}) {
			out = append(out, s)
		}
	}
	return out
}

// operand reads an operand of a class with the flag v, or a range of
// characters where that may stand.
func (p *reader) operand(mayRange bool) (members, bool) {
	open := p.at
	switch {
	case p.eat("["):
		invert := p.eat("^")
		m := p.operands(open)
		if invert {
			if len(m.strings) > 0 {
				p.fail("a negated class may not hold strings")
			}
			m.set = p.all().without(m.set)
		}
		return m, false
	case p.eat(`\q{`):
		return p.quotedStrings(), false
	case p.peek() == '\\':
		p.at++
		if s, ok := p.classEscape(); ok {
			return members{set: s}, false
		}
		p.at--
	}
	from := p.setCharacter()
	to, ranged := from, false
	if mayRange && p.peek() == '-' && !p.ahead("--") {
		p.at++
		to, ranged = p.setCharacter(), true
		if from > to {
			p.fail("range out of order in character class")
		}
	}
	return members{set: p.folded(set{{from, to}})}, ranged
}

func (p *reader) folded(s set) set {
	if p.fold {
		return s.fold()
	}
	return s
}

// quotedStrings reads the rest of \q{a|bc}.
func (p *reader) quotedStrings() members {
	var m members
	var text []rune
	end := func() {
		if len(text) == 1 {
			m.set = m.union(p.folded(set{{text[0], text[0]}}))
		} else {
			m.strings = append(m.strings, text)
		}
		text = nil
	}
	for !p.eat("}") {
		if !p.more() {
			p.fail("invalid escape \\q")
		}
		if p.eat("|") {
			end()
			continue
		}
		text = append(text, p.setCharacter())
	}
	end()
	return m
}

// setCharacter reads a single character of a class with the flag v.
func (p *reader) setCharacter() rune {
	c := p.peek()
	if c == -1 {
		p.fail("unterminated character class")
	}
	if c == '\\' {
		p.at++
		if next := p.peek(); next != -1 && strings.ContainsRune("&-!#%,:;<=>@`~", next) {
			p.at++
			return next
		}
		return p.classCharacter()
	}
	if strings.ContainsRune("()[]{}/-|", c) {
		p.fail("a lone %c in a class of the flag v: write \\%c", c, c)
	}
	if p.at+1 < len(p.text) && p.text[p.at+1] == c && strings.ContainsRune("&!#$%*+,.:;<=>?@^`~", c) {
		p.fail("%c%c is reserved in a class of the flag v", c, c)
	}
	p.at++
	return c
}
