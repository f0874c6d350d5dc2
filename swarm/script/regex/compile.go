package regex

// opcode is the operation of an instruction.
type opcode int

const (
	opFail  opcode = iota
	opRune         // matches r, or the folded form of r
	opSet          // matches a character of set
	opSplit        // goes on at x, and later at y
	opJump         // goes on at x
	opMark         // keeps the position in register x
	opGroup        // sets group x from register y
	opClear        // forgets the groups from x on up to y
	opZero         // sets register x to 0
	opLoop         // see [matcher.loop]
	opNext         // ends a turn of a loop
	opRun          // matches a run of single characters
	opLook         // runs a lookahead or lookbehind, whose end is x
	opEdge         // asserts
	opBack         // matches the text of a group
	opMatch
)

// instruction is a step of a program. Which fields it uses depends on its code.
type instruction struct {
	code     opcode
	x, y     int
	min, max int
	r        rune
	fold     bool
	lazy     bool
	negative bool
	back     bool // towards the beginning of the text
	set      *setNode
	ascii    *[128]bool // the members of set in ASCII
	edge     edgeKind
	groups   []int
}

type compiler struct {
	code      []instruction
	registers int
	wide      bool
}

func (c *compiler) emit(i instruction) int {
	c.code = append(c.code, i)
	return len(c.code) - 1
}

func (c *compiler) register() int {
	c.registers++
	return c.registers - 1
}

// node compiles a part of a pattern, for the direction in which it is matched.
func (c *compiler) node(n node, back bool) {
	switch n := n.(type) {
	case *charNode:
		c.emit(instruction{code: opRune, r: n.r, fold: n.fold, back: back})
	case *setNode:
		c.emit(instruction{code: opSet, set: n, ascii: c.ascii(n), back: back})
	case *sequenceNode:
		for i := range *n {
			if back {
				i = len(*n) - 1 - i
			}
			c.node((*n)[i], back)
		}
	case *choiceNode:
		c.choice(*n, back)
	case *groupNode:
		r := c.register()
		c.emit(instruction{code: opMark, x: r})
		c.node(n.body, back)
		c.emit(instruction{code: opGroup, x: n.index, y: r, back: back})
	case *repeatNode:
		c.repeat(n, back)
	case *lookNode:
		at := c.emit(instruction{code: opLook, negative: n.negative})
		c.node(n.body, n.behind)
		c.emit(instruction{code: opMatch})
		c.code[at].x = len(c.code)
	case *edgeNode:
		c.emit(instruction{code: opEdge, edge: n.kind, fold: n.fold})
	case *backNode:
		c.emit(instruction{code: opBack, groups: n.groups, fold: n.fold, back: back})
	default:
		panic("unhandled part of a pattern")
	}
}

func (c *compiler) choice(all choiceNode, back bool) {
	var ends []int
	for i, n := range all {
		if i == len(all)-1 {
			c.node(n, back)
			break
		}
		split := c.emit(instruction{code: opSplit})
		c.code[split].x = len(c.code)
		c.node(n, back)
		ends = append(ends, c.emit(instruction{code: opJump}))
		c.code[split].y = len(c.code)
	}
	for _, e := range ends {
		c.code[e].x = len(c.code)
	}
}

// repeat compiles a quantifier. A single instruction repeats a single
// character, so that a long text takes only one place on the stack.
func (c *compiler) repeat(n *repeatNode, back bool) {
	switch b := n.body.(type) {
	case *charNode:
		c.emit(instruction{code: opRun, r: b.r, fold: b.fold, min: n.min, max: n.max, lazy: n.lazy, back: back})
		return
	case *setNode:
		c.emit(instruction{code: opRun, set: b, ascii: c.ascii(b), min: n.min, max: n.max, lazy: n.lazy, back: back})
		return
	}
	count, start := c.register(), c.register()
	c.emit(instruction{code: opZero, x: count})
	loop := c.emit(instruction{code: opLoop, y: count, min: n.min, max: n.max, lazy: n.lazy})
	if n.to > n.from {
		c.emit(instruction{code: opClear, x: n.from, y: n.to})
	}
	c.emit(instruction{code: opMark, x: start})
	c.node(n.body, back)
	c.emit(instruction{code: opNext, x: loop, y: count, min: n.min, r: rune(start)})
	c.code[loop].x = len(c.code)
}

// ascii returns a table of a set's members in ASCII.
func (c *compiler) ascii(n *setNode) *[128]bool {
	var has [128]bool
	for r := range rune(128) {
		has[r] = n.matches(r, c.wide)
	}
	return &has
}

// matches reports whether a set has a character.
func (n *setNode) matches(r rune, wide bool) bool {
	switch {
	case n.folded:
		return n.has(folded(r)) != n.invert
	case n.fold:
		return orbit(r, wide, n.has) != n.invert
	default:
		return n.has(r) != n.invert
	}
}
