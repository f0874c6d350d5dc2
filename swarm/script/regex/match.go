package regex

import "unicode/utf16"

// matcher is a running program on a text.
type matcher struct {
	*Program
	text  []uint16
	check func() error

	groups    []int // the bounds of each group; -1 is that it took no part
	registers []int
	trail     []change
	stack     []choicePoint
	steps     int // since check was called
}

// change is the previous value of a register or of a group's bound.
type change struct {
	to  *int
	was int
}

// choicePoint is the state to return to if the rest does not match.
type choicePoint struct {
	pc, at, trail int
	// For a run of characters: how many may be given back or taken, each by
	// itself.
	left int
	run  *instruction
}

func (m *matcher) set(to *int, v int) {
	if *to != v {
		m.trail = append(m.trail, change{to, *to})
		*to = v
	}
}

func (m *matcher) undo(length int) {
	for i := len(m.trail) - 1; i >= length; i-- {
		*m.trail[i].to = m.trail[i].was
	}
	m.trail = m.trail[:length]
}

// next returns the character at a place in the direction of the match, and its
// width. A width of 0 means that there is none.
func (m *matcher) next(at int, back bool) (r rune, width int) {
	if !back {
		if at >= len(m.text) {
			return 0, 0
		}
		r = rune(m.text[at])
		if m.wide && r >= 0xD800 && r < 0xDC00 && at+1 < len(m.text) {
			if full := utf16.DecodeRune(r, rune(m.text[at+1])); full != 0xFFFD {
				return full, 2
			}
		}
		return r, 1
	}
	if at <= 0 {
		return 0, 0
	}
	r = rune(m.text[at-1])
	if m.wide && r >= 0xDC00 && r < 0xE000 && at >= 2 {
		if full := utf16.DecodeRune(rune(m.text[at-2]), r); full != 0xFFFD {
			return full, -2
		}
	}
	return r, -1
}

// one reports whether an instruction matches a character.
func (m *matcher) one(i *instruction, r rune) bool {
	switch {
	case i.set == nil:
		return r == i.r || i.fold && same(r, i.r, m.wide)
	case r < 128:
		return i.ascii[r]
	default:
		return i.set.matches(r, m.wide)
	}
}

// between is how often a match asks whether it is to end.
const between = 1 << 20

// run matches from a place, and gives where the match ends, or -1.
func (m *matcher) run(pc, at int) (int, error) {
	base, trail := len(m.stack), len(m.trail)
	for {
		if m.steps++; m.steps >= between && m.check != nil {
			m.steps = 0
			if err := m.check(); err != nil {
				return -1, err
			}
		}
		i := &m.code[pc]
		ok := true
		switch i.code {
		case opMatch:
			m.stack = m.stack[:base]
			return at, nil
		case opRune, opSet:
			r, width := m.next(at, i.back)
			ok = width != 0 && m.one(i, r)
			at += width
			pc++
		case opSplit:
			m.stack = append(m.stack, choicePoint{pc: i.y, at: at, trail: len(m.trail)})
			pc = i.x
		case opJump:
			pc = i.x
		case opLook:
			end, err := m.look(i, pc, at)
			if err != nil {
				return -1, err
			}
			ok = end
			pc = i.x
		case opRun:
			at, ok = m.runOf(i, pc, at)
			pc++
		case opLoop, opNext:
			pc, ok = m.loop(i, pc, at)
		default:
			at, ok = m.simple(i, at)
			pc++
		}
		if ok {
			continue
		}
		if len(m.stack) == base {
			m.undo(trail)
			return -1, nil
		}
		pc, at = m.backtrack()
	}
}

// backtrack takes up the last choice that was left.
func (m *matcher) backtrack() (pc, at int) {
	n := len(m.stack) - 1
	c := &m.stack[n]
	m.undo(c.trail)
	if c.run == nil {
		pc, at = c.pc, c.at
		m.stack = m.stack[:n]
		return pc, at
	}
	// A greedy run gives its last character back. A lazy run takes another,
	// which is known to match.
	_, width := m.next(c.at, c.run.back != !c.run.lazy)
	c.at += width
	c.left--
	pc, at = c.pc, c.at
	if c.left == 0 || c.run.lazy && !m.another(c) {
		m.stack = m.stack[:n]
	}
	return pc, at
}

// another reports whether a lazy run may take another character.
func (m *matcher) another(c *choicePoint) bool {
	r, width := m.next(c.at, c.run.back)
	return width != 0 && m.one(c.run, r)
}

// runOf matches a run of single characters.
func (m *matcher) runOf(i *instruction, pc, at int) (int, bool) {
	count := 0
	for most := choose(i.lazy, i.min, i.max); count < most; count++ {
		m.steps++
		r, width := m.next(at, i.back)
		if width == 0 || !m.one(i, r) {
			break
		}
		at += width
	}
	if count < i.min {
		return at, false
	}
	c := choicePoint{pc: pc + 1, at: at, trail: len(m.trail), left: count - i.min, run: i}
	if i.lazy {
		c.left = i.max - i.min
	}
	if c.left > 0 && (!i.lazy || m.another(&c)) {
		m.stack = append(m.stack, c)
	}
	return at, true
}

// loop begins or ends a turn of a quantifier.
func (m *matcher) loop(i *instruction, pc, at int) (int, bool) {
	count := &m.registers[i.y]
	if i.code == opNext {
		// A turn that need not be and that matched nothing is none.
		if *count >= i.min && m.registers[i.r] == at {
			return pc, false
		}
		m.set(count, *count+1)
		return i.x, true
	}
	body, end := pc+1, i.x
	switch {
	case *count < i.min:
		return body, true
	case *count >= i.max:
		return end, true
	case i.lazy:
		body, end = end, body
	}
	m.stack = append(m.stack, choicePoint{pc: end, at: at, trail: len(m.trail)})
	return body, true
}

// look runs the body of a lookahead or lookbehind. No choice inside of it is
// taken up again later.
func (m *matcher) look(i *instruction, pc, at int) (bool, error) {
	trail := len(m.trail)
	end, err := m.run(pc+1, at)
	if err != nil {
		return false, err
	}
	if i.negative {
		m.undo(trail)
	}
	return (end >= 0) != i.negative, nil
}

// simple are the instructions that leave no choice.
func (m *matcher) simple(i *instruction, at int) (int, bool) {
	switch i.code {
	case opMark:
		m.set(&m.registers[i.x], at)
	case opZero:
		m.set(&m.registers[i.x], 0)
	case opClear:
		for g := 2 * i.x; g < 2*i.y; g++ {
			m.set(&m.groups[g], -1)
		}
	case opGroup:
		from, to := m.registers[i.y], at
		if i.back {
			from, to = to, from
		}
		m.set(&m.groups[2*i.x], from)
		m.set(&m.groups[2*i.x+1], to)
	case opEdge:
		return at, m.edge(i, at)
	case opBack:
		return m.back(i, at)
	default:
		return at, false
	}
	return at, true
}

func (m *matcher) edge(i *instruction, at int) bool {
	lineEnd := func(at int) bool { return lineEnds.has(rune(m.text[at])) }
	word := func(at int) bool {
		if at < 0 || at >= len(m.text) {
			return false
		}
		r := rune(m.text[at])
		return words.has(r) || i.fold && (r == 0x17F || r == 0x212A)
	}
	switch i.edge {
	case edgeStart:
		return at == 0
	case edgeLineStart:
		return at == 0 || lineEnd(at-1)
	case edgeEnd:
		return at == len(m.text)
	case edgeLineEnd:
		return at == len(m.text) || lineEnd(at)
	case edgeWord:
		return word(at-1) != word(at)
	case edgeNoWord:
		return word(at-1) == word(at)
	default:
		return false
	}
}

// back matches the text of a group once more.
func (m *matcher) back(i *instruction, at int) (int, bool) {
	for _, g := range i.groups {
		from, to := m.groups[2*g], m.groups[2*g+1]
		if from < 0 {
			continue
		}
		if i.back {
			from, to = to, from
		}
		for from != to {
			m.steps++
			a, step := m.next(from, i.back)
			b, width := m.next(at, i.back)
			if width == 0 || a != b && !(i.fold && same(a, b, m.wide)) {
				return at, false
			}
			from, at = from+step, at+width
		}
		return at, true
	}
	return at, true
}
