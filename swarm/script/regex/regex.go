// Package regex owns the regular expressions of ECMAScript 2025: it reads a
// pattern, says where it is wrong, and matches it against UTF-16 text as the
// standard says. It knows nothing of the engine that runs scripts.
//
// A pattern that goes back and forth takes time that grows with the power of
// its text, as in every such engine. [Program.Match] asks its caller regularly
// whether it is to go on.
package regex

import "unicode/utf16"

// Program is a pattern that was read.
type Program struct {
	Flags string
	// Groups counts the capture groups, without the whole match.
	Groups int
	// Names are the names of groups, in the order of their first groups, each
	// with all its groups.
	Names []Name

	code      []instruction
	registers int
	wide      bool
}

// Name is the name of capture groups. Several groups share it only if at most
// one of them can take part.
type Name struct {
	Name   string
	Groups []int
}

// Compile reads a pattern, in UTF-16, with its flags. Its errors are of the
// type [*SyntaxError].
func Compile(source []uint16, flagText string) (*Program, error) {
	f, err := parseFlags(flagText)
	if err != nil {
		return nil, err
	}
	p := &reader{flags: f, source: string(utf16.Decode(source)), wide: f.unicode || f.sets}
	p.text = characters(source, p.wide)
	tree, err := p.pattern()
	if err != nil {
		return nil, err
	}
	c := &compiler{wide: p.wide}
	c.node(&groupNode{0, tree}, false)
	c.emit(instruction{code: opMatch})
	out := &Program{Flags: flagText, Groups: p.groups, code: c.code, registers: c.registers, wide: p.wide}
	for _, g := range p.names {
		out.add(g)
	}
	return out, nil
}

// Wide reports whether the pattern reads code points: its flags have u or v.
func (p *Program) Wide() bool { return p.wide }

func (p *Program) add(g groupName) {
	for i := range p.Names {
		if p.Names[i].Name == g.name {
			p.Names[i].Groups = append(p.Names[i].Groups, g.index)
			return
		}
	}
	p.Names = append(p.Names, Name{g.name, []int{g.index}})
}

// characters splits a text into code points, or into its UTF-16 units.
func characters(text []uint16, wide bool) []rune {
	out := make([]rune, 0, len(text))
	for i := 0; i < len(text); i++ {
		r := rune(text[i])
		if wide && i+1 < len(text) {
			if full := utf16.DecodeRune(r, rune(text[i+1])); full != 0xFFFD {
				r = full
				i++
			}
		}
		out = append(out, r)
	}
	return out
}

// Match finds the first match that begins at a place or behind it; exactly
// there, where only is set. It gives the bounds of the match and of each group,
// in units; -1 is a group that took no part, and nil is no match. check, which
// may be nil, is called from time to time: its error ends the match.
func (p *Program) Match(text []uint16, at int, only bool, check func() error) ([]int, error) {
	m := &matcher{
		Program: p, text: text, check: check,
		groups: make([]int, 2*(p.Groups+1)), registers: make([]int, p.registers),
	}
	for i := range m.groups {
		m.groups[i] = -1
	}
	for ; at <= len(text); at++ {
		end, err := m.run(0, at)
		if err != nil {
			return nil, err
		}
		if end >= 0 {
			return m.groups, nil
		}
		if only {
			break
		}
		// A match does not begin inside of a pair.
		if _, width := m.next(at, false); width == 2 {
			at++
		}
	}
	return nil, nil
}
