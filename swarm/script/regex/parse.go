package regex

import (
	"fmt"
	"math"
	"unicode/utf16"
)

// SyntaxError is a fault in a pattern.
type SyntaxError struct {
	At      int // where, in UTF-16 units from the start of the pattern
	Message string
}

func (e *SyntaxError) Error() string { return e.Message }

// mostDepth bounds how deeply groups nest: patterns are read and compiled by
// recursion.
const mostDepth = 500

// mostRepeat is the largest number of a quantifier that is told apart.
const mostRepeat = math.MaxInt32

// flags are the flags of a pattern.
type flags struct {
	indices, global, fold, lines, dotAll, unicode, sets, sticky bool
}

func parseFlags(text string) (flags, error) {
	var f flags
	for i, c := range text {
		to := map[rune]*bool{
			'd': &f.indices, 'g': &f.global, 'i': &f.fold, 'm': &f.lines,
			's': &f.dotAll, 'u': &f.unicode, 'v': &f.sets, 'y': &f.sticky,
		}[c]
		if to == nil || *to {
			return f, &SyntaxError{Message: fmt.Sprintf("Invalid flags supplied to RegExp constructor '%s': %q is unknown or stands twice", text, text[i:i+1])}
		}
		*to = true
	}
	if f.unicode && f.sets {
		return f, &SyntaxError{Message: fmt.Sprintf("Invalid flags supplied to RegExp constructor '%s': u and v exclude each other", text)}
	}
	return f, nil
}

// groupName is a named group and the alternatives that it stands in.
type groupName struct {
	name  string
	index int
	path  []branch
}

// branch is an alternative of a disjunction.
type branch struct{ choice, alternative int }

// reader reads a pattern. Its characters are code points with the flags u and
// v, else UTF-16 units.
type reader struct {
	flags
	source string
	text   []rune
	at     int

	wide    bool // u or v
	total   int  // capture groups in all
	named   bool // some have names
	groups  int  // capture groups so far
	names   []groupName
	path    []branch
	choices int
	depth   int
	back    []*backNode // by name, to be resolved at the end
	backs   []string
}

// fail ends the reading. [reader.pattern] takes it up.
func (p *reader) fail(format string, args ...any) {
	at := p.at
	if p.wide {
		at = 0
		for _, r := range p.text[:min(p.at, len(p.text))] {
			at += utf16.RuneLen(r)
			if r >= 0xD800 && r < 0xE000 {
				at += 2 // RuneLen is -1 there
			}
		}
	}
	panic(&SyntaxError{At: at, Message: fmt.Sprintf("Invalid regular expression: /%s/: ", p.source) + fmt.Sprintf(format, args...)})
}

func (p *reader) more() bool { return p.at < len(p.text) }

func (p *reader) peek() rune {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return -1
}

func (p *reader) eat(text string) bool {
	if !p.ahead(text) {
		return false
	}
	p.at += len(text)
	return true
}

func (p *reader) ahead(text string) bool {
	for i, r := range text {
		if p.at+i >= len(p.text) || p.text[p.at+i] != r {
			return false
		}
	}
	return true
}

// pattern reads the whole pattern.
func (p *reader) pattern() (n node, err error) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case *SyntaxError:
			err = x
		default:
			panic(x)
		}
	}()
	p.count()
	n = p.choice()
	if p.more() {
		p.fail("unmatched )")
	}
	for i, b := range p.back {
		for _, g := range p.names {
			if g.name == p.backs[i] {
				b.groups = append(b.groups, g.index)
			}
		}
		if len(b.groups) == 0 {
			p.fail("there is no group named %s", p.backs[i])
		}
	}
	return n, nil
}

// count looks ahead for groups, because the meaning of \1 and \k depends on
// them.
func (p *reader) count() {
	class := 0
	for i := 0; i < len(p.text); i++ {
		switch p.text[i] {
		case '\\':
			i++
		case '[':
			if class == 0 || p.sets {
				class++
			}
		case ']':
			class = max(0, class-1)
		case '(':
			if class > 0 {
				continue
			}
			rest := p.text[i+1:]
			switch {
			case len(rest) == 0 || rest[0] != '?':
				p.total++
			case len(rest) > 2 && rest[1] == '<' && rest[2] != '=' && rest[2] != '!':
				p.total++
				p.named = true
			}
		}
	}
}

// choice reads alternatives, up to the end of a group.
func (p *reader) choice() node {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > mostDepth {
		p.fail("groups nest more than %d deep", mostDepth)
	}
	id := p.choices
	p.choices++
	var all choiceNode
	for {
		p.path = append(p.path, branch{id, len(all)})
		all = append(all, p.sequence())
		p.path = p.path[:len(p.path)-1]
		if !p.eat("|") {
			break
		}
	}
	if len(all) == 1 {
		return all[0]
	}
	return &all
}

func (p *reader) sequence() node {
	var all sequenceNode
	for p.more() && p.peek() != '|' && p.peek() != ')' {
		before := p.groups
		n := p.term()
		all = append(all, p.quantified(n, before))
	}
	if len(all) == 1 {
		return all[0]
	}
	return &all
}

// term reads an atom that a quantifier may follow.
func (p *reader) term() node {
	c := p.peek()
	switch {
	case p.eat("^"):
		return &edgeNode{kind: choose(p.lines, edgeLineStart, edgeStart)}
	case p.eat("$"):
		return &edgeNode{kind: choose(p.lines, edgeLineEnd, edgeEnd)}
	case p.eat("("):
		return p.group()
	case p.eat("."):
		if p.dotAll {
			return &setNode{invert: true}
		}
		return &setNode{set: lineEnds, invert: true}
	case c == '[':
		return p.class()
	case c == '\\':
		p.at++
		return p.escape()
	case c == '*' || c == '+' || c == '?':
		p.fail("nothing to repeat")
	case c == '{' && !p.wide:
		if at := p.at; p.braces() != nil {
			p.at = at
			p.fail("nothing to repeat")
		}
	case p.wide && (c == '{' || c == '}' || c == ']'):
		p.fail("a lone %c: write \\%c", c, c)
	}
	p.at++
	return &charNode{c, p.fold}
}

func choose[T any](yes bool, a, b T) T {
	if yes {
		return a
	}
	return b
}

// quantified reads the quantifier behind a term, if there is any.
func (p *reader) quantified(n node, before int) node {
	low, high := 0, mostRepeat
	switch {
	case p.eat("*"):
	case p.eat("+"):
		low = 1
	case p.eat("?"):
		high = 1
	case p.peek() == '{':
		bounds := p.braces()
		if bounds == nil {
			if p.wide {
				p.fail("incomplete quantifier")
			}
			return n
		}
		low, high = bounds[0], bounds[1]
		if low > high {
			p.fail("numbers out of order in {} quantifier")
		}
	default:
		return n
	}
	switch x := n.(type) {
	case *edgeNode:
		p.fail("nothing to repeat")
	case *lookNode:
		if x.behind || p.wide {
			p.fail("nothing to repeat")
		}
	}
	return &repeatNode{body: n, min: low, max: high, lazy: p.eat("?"), from: before + 1, to: p.groups + 1}
}

// braces reads {2}, {2,} or {2,3}; nil is that none stands here.
func (p *reader) braces() []int {
	start := p.at
	p.at++
	low, ok := p.number()
	high := low
	if ok && p.eat(",") {
		high = mostRepeat
		if n, given := p.number(); given {
			high = n
		}
	}
	if !ok || !p.eat("}") {
		p.at = start
		return nil
	}
	return []int{low, high}
}

func (p *reader) number() (int, bool) {
	start, n := p.at, 0
	for p.peek() >= '0' && p.peek() <= '9' {
		n = min(n*10+int(p.peek()-'0'), mostRepeat)
		p.at++
	}
	return n, p.at > start
}
