package regex

// node is a part of a pattern: [*charNode], [*setNode], [*sequenceNode],
// [*choiceNode], [*groupNode], [*repeatNode], [*lookNode], [*edgeNode] or
// [*backNode].
//
//sumtype:decl
type node interface{ part() }

// charNode is a single character.
type charNode struct {
	r    rune
	fold bool
}

// setNode is a character of a set.
type setNode struct {
	set
	invert bool // after the comparison without case
	fold   bool
	folded bool // the set holds only characters that stand for their orbits
}

type sequenceNode []node

type choiceNode []node

// groupNode captures the match of body.
type groupNode struct {
	index int
	body  node
}

type repeatNode struct {
	body     node
	min, max int
	lazy     bool
	from, to int // the groups inside: from is the first, to is behind the last
}

// lookNode is a lookahead or a lookbehind.
type lookNode struct {
	body             node
	behind, negative bool
}

type edgeKind int

const (
	edgeStart edgeKind = iota
	edgeLineStart
	edgeEnd
	edgeLineEnd
	edgeWord
	edgeNoWord
)

// edgeNode is an assertion without a body.
type edgeNode struct {
	kind edgeKind
	fold bool // \w of \b and \B has two more characters
}

// backNode matches the text of the group that took part.
type backNode struct {
	groups []int
	fold   bool
}

func (*charNode) part()     {}
func (*setNode) part()      {}
func (*sequenceNode) part() {}
func (*choiceNode) part()   {}
func (*groupNode) part()    {}
func (*repeatNode) part()   {}
func (*lookNode) part()     {}
func (*edgeNode) part()     {}
func (*backNode) part()     {}
