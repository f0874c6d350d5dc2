package regex

import (
	"strings"
	"unicode/utf16"
)

// escape reads the rest of an escape after the backslash, outside of a class.
func (p *reader) escape() node {
	c := p.peek()
	switch {
	case c == -1:
		p.fail("\\ at the end of the pattern")
	case c == 'b' || c == 'B':
		p.at++
		return &edgeNode{kind: choose(c == 'b', edgeWord, edgeNoWord), fold: p.fold && p.wide}
	case c >= '1' && c <= '9':
		if n := p.backReference(); n != nil {
			return n
		}
	case c == 'k' && (p.wide || p.named):
		p.at++
		if !p.eat("<") {
			p.fail("invalid named reference")
		}
		n := &backNode{fold: p.fold}
		p.back, p.backs = append(p.back, n), append(p.backs, p.identifier())
		return n
	}
	if s, ok := p.classEscape(); ok {
		return p.setOf(s, nil)
	}
	return &charNode{p.character(false), p.fold}
}

// backReference reads \1; nil is that it is no reference.
func (p *reader) backReference() node {
	start := p.at
	n, _ := p.number()
	if p.wide && n > p.total {
		p.fail("there is no group %d", n)
	}
	if n <= p.total {
		return &backNode{groups: []int{n}, fold: p.fold}
	}
	p.at = start
	return nil
}

// classEscape reads an escape that stands for a set of characters, such as \d
// or \p{L}.
func (p *reader) classEscape() (s set, ok bool) {
	c := p.peek()
	switch c {
	case 'd', 'D':
		s = digits
	case 's', 'S':
		s = spaces
	case 'w', 'W':
		s = wordSet(p.fold && p.wide)
	case 'p', 'P':
		if !p.wide {
			return nil, false
		}
		p.at++
		s = p.propertyEscape()
		p.at--
	default:
		return nil, false
	}
	p.at++
	if p.sets && p.fold {
		s = s.fold()
	}
	if c == 'D' || c == 'S' || c == 'W' || c == 'P' {
		s = p.all().without(s)
	}
	return s, true
}

// wordSet is \w, which without case has the long s and the Kelvin sign too.
func wordSet(fold bool) set {
	if fold {
		return words.union(set{{0x17F, 0x17F}, {0x212A, 0x212A}})
	}
	return words
}

// all are the characters that a complement is taken of.
func (p *reader) all() set {
	if p.sets && p.fold {
		return allFolded()
	}
	return set{{0, lastRune}}
}

// propertyEscape reads the {…} of \p.
func (p *reader) propertyEscape() set {
	start := p.at - len(`\p`)
	if !p.eat("{") {
		p.fail("\\p wants a property: \\p{L}")
	}
	var b strings.Builder
	for !p.eat("}") {
		if !p.more() {
			p.fail("invalid property name")
		}
		b.WriteRune(p.peek())
		p.at++
	}
	name := b.String()
	if s, ok := lookUp(name); ok {
		return s
	}
	p.at = start
	if ofStrings(name) {
		p.fail("\\p{%s} is a property of strings, which is not there: use \\p{Emoji_Presentation} or \\p{Extended_Pictographic}", name)
	}
	p.fail("invalid property name %s", name)
	return nil
}

// character reads an escape that stands for a single character.
func (p *reader) character(inClass bool) rune {
	c := p.peek()
	p.at++
	if i := strings.IndexRune("fnrtv", c); i >= 0 {
		return []rune{'\f', '\n', '\r', '\t', '\v'}[i]
	}
	switch {
	case c == 'c':
		return p.control(inClass)
	case c == '0' && !(p.peek() >= '0' && p.peek() <= '9'):
		return 0
	case c >= '0' && c <= '9':
		return p.octal(c)
	case c == 'x':
		if r, ok := p.hex(2); ok {
			return r
		}
	case c == 'u':
		if r, ok := p.unicodeEscape(p.wide); ok {
			return r
		}
	case p.wide:
		if !strings.ContainsRune("^$\\.*+?()[]{}|/", c) && !(inClass && c == '-') {
			p.at--
			p.fail("invalid escape \\%c", c)
		}
		return c
	}
	if p.wide && (c == 'x' || c == 'u') {
		p.fail("invalid escape \\%c", c)
	}
	return c
}

func (p *reader) control(inClass bool) rune {
	c := p.peek()
	letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	if letter || inClass && !p.wide && (c >= '0' && c <= '9' || c == '_') {
		p.at++
		return c % 32
	}
	if p.wide {
		p.fail("invalid Unicode escape")
	}
	p.at-- // the backslash stands for itself
	return '\\'
}

// octal reads the old form of an escape, of which c is the first digit.
func (p *reader) octal(c rune) rune {
	if p.wide {
		p.at--
		p.fail("invalid escape \\%c", c)
	}
	if c >= '8' {
		return c
	}
	r := c - '0'
	for range 2 {
		d := p.peek()
		if d < '0' || d > '7' || r*8+d-'0' > 0xFF {
			break
		}
		r = r*8 + d - '0'
		p.at++
	}
	return r
}

func (p *reader) hex(digits int) (rune, bool) {
	start, r := p.at, rune(0)
	for range digits {
		d := strings.IndexRune("0123456789abcdef", p.peek()|0x20)
		if c := p.peek(); d < 0 || c < '0' || c > '9' && c < 'A' {
			p.at = start
			return 0, false
		}
		r = r*16 + rune(d)
		p.at++
	}
	return r, true
}

// unicodeEscape reads the digits after \u.
func (p *reader) unicodeEscape(wide bool) (rune, bool) {
	if wide && p.eat("{") {
		r, n := rune(0), 0
		for !p.eat("}") {
			d, ok := p.hex(1)
			r, n = r*16+d, n+1
			if !ok || r > lastRune {
				p.fail("invalid Unicode escape")
			}
		}
		if n == 0 {
			p.fail("invalid Unicode escape")
		}
		return r, true
	}
	r, ok := p.hex(4)
	if !ok || !wide || !utf16.IsSurrogate(r) {
		return r, ok
	}
	start := p.at
	if p.eat("\\u") {
		if low, ok := p.hex(4); ok && utf16.DecodeRune(r, low) != 0xFFFD {
			return utf16.DecodeRune(r, low), true
		}
	}
	p.at = start
	return r, true
}
