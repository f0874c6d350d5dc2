package regex

import (
	"strings"
	"unicode/utf16"
)

// group reads a group after its opening parenthesis.
func (p *reader) group() node {
	open := p.at - 1
	var n node
	switch {
	case p.eat("?:"):
		n = grouped(p.choice())
	case p.eat("?="):
		n = &lookNode{body: p.choice()}
	case p.eat("?!"):
		n = &lookNode{body: p.choice(), negative: true}
	case p.eat("?<="):
		n = &lookNode{body: p.choice(), behind: true}
	case p.eat("?<!"):
		n = &lookNode{body: p.choice(), behind: true, negative: true}
	case p.eat("?<"):
		p.groups++
		index := p.groups
		p.name(index)
		n = &groupNode{index, p.choice()}
	case p.eat("?"):
		n = grouped(p.modified())
	default:
		p.groups++
		index := p.groups
		n = &groupNode{index, p.choice()}
	}
	if !p.eat(")") {
		p.at = open
		p.fail("unterminated group")
	}
	return n
}

// grouped marks an assertion in a group, which may be repeated, unlike an
// assertion alone.
func grouped(n node) node {
	switch n.(type) {
	case *edgeNode, *lookNode:
		return &sequenceNode{n}
	}
	return n
}

// name reads the name of a group and notes it.
func (p *reader) name(index int) {
	name := p.identifier()
	for _, g := range p.names {
		if g.name == name && !apart(g.path, p.path) {
			p.fail("duplicate capture group name %s", name)
		}
	}
	p.names = append(p.names, groupName{name, index, append([]branch(nil), p.path...)})
}

// apart reports whether two groups are in different alternatives of the same
// choice.
func apart(a, b []branch) bool {
	for i := range min(len(a), len(b)) {
		if a[i].choice != b[i].choice {
			return false
		}
		if a[i].alternative != b[i].alternative {
			return true
		}
	}
	return false
}

// modified reads a group with flags of its own: (?i-s:…).
func (p *reader) modified() node {
	outer := p.flags
	defer func() { p.fold, p.lines, p.dotAll = outer.fold, outer.lines, outer.dotAll }()
	seen, value, minus := "", true, false
	for !p.eat(":") {
		c := p.peek()
		to := map[rune]*bool{'i': &p.fold, 'm': &p.lines, 's': &p.dotAll}[c]
		switch {
		case c == '-' && !minus:
			value, minus = false, true
		case to == nil:
			p.fail("invalid group")
		case strings.ContainsRune(seen, c):
			p.fail("repeated flag in a group")
		default:
			seen += string(c)
			*to = value
		}
		p.at++
	}
	if minus && seen == "" {
		p.fail("invalid group")
	}
	return p.choice()
}

// identifier reads a name up to its >.
func (p *reader) identifier() string {
	var name []uint16
	for !p.eat(">") {
		if !p.more() {
			p.fail("invalid capture group name")
		}
		r := p.peek()
		p.at++
		if r == '\\' {
			if !p.eat("u") {
				p.fail("invalid Unicode escape")
			}
			var ok bool
			if r, ok = p.unicodeEscape(true); !ok {
				p.fail("invalid Unicode escape")
			}
		}
		name = utf16Append(name, r)
	}
	text := string(utf16.Decode(name))
	for i, r := range text {
		if !(r == '$' || r == '_' || i == 0 && property("ID_Start").has(r) ||
			i > 0 && (property("ID_Continue").has(r) || r == 0x200C || r == 0x200D)) {
			p.fail("invalid capture group name")
		}
	}
	if text == "" {
		p.fail("invalid capture group name")
	}
	return text
}

func utf16Append(to []uint16, r rune) []uint16 {
	if r >= 0xD800 && r < 0xE000 {
		return append(to, uint16(r))
	}
	return utf16.AppendRune(to, r)
}
