package argv

import (
	"slices"
	"strings"
)

// Line is a command line, taken apart.
type Line struct {
	Sub      []string // the programs within the program, outermost first
	Options  []Option // in their order, those of all programs
	Operands []Word   // the other words
	// Dashes is how many operands stand before a "--"; -1: there is none.
	Dashes int
	// Unsure says that a word of which the beginning is not known stands where
	// an option could: there may be more options than are listed.
	Unsure bool
}

// Option is an option that was found.
type Option struct {
	// Name is the first long name of its table's line, else the first; as it
	// was written where the table has none such.
	Name    string
	Value   Word // the zero Word: it has none
	Valued  bool
	Negated bool // "--no-…" of an option of that name
	Listed  bool // the table has it
	Level   int  // how many programs within the program stand before it
	At      int  // the index of its word
}

// Has reports whether any of the options is on the line and not negated. A
// later option may undo a "--no-…", and the other way round.
func (l *Line) Has(names ...string) bool {
	return slices.ContainsFunc(l.Options, func(o Option) bool { return slices.Contains(names, o.Name) && !o.Negated })
}

// Values are the values of all options of these names.
func (l *Line) Values(names ...string) []Word {
	var values []Word
	for _, o := range l.Options {
		if o.Valued && slices.Contains(names, o.Name) {
			values = append(values, o.Value)
		}
	}
	return values
}

// Parse takes the words after the program's name apart.
func (g *Grammar) Parse(args []Word) *Line {
	p := &parsing{Line: &Line{Dashes: -1}, g: g, args: args}
	for p.at < len(p.args) {
		p.word()
	}
	return p.Line
}

// parsing is a command line that is being taken apart.
type parsing struct {
	*Line
	g     *Grammar
	args  []Word
	at    int
	ended bool // no more options
}

func (p *parsing) word() {
	w := p.args[p.at]
	p.at++
	text := w.Value
	switch {
	case p.ended:
		p.operand(w)
	case (text == "" || text == "-") && !w.Known:
		p.Unsure = true
		p.operand(w)
	case text == "--" && w.Known:
		p.ended, p.Dashes = true, len(p.Operands)
	case strings.HasPrefix(text, "--") || p.g.Single && len(text) > 1 && text[0] == '-':
		p.long(w)
	case len(text) > 1 && text[0] == '-':
		p.cluster(w)
	default:
		p.operand(w)
	}
}

// operand takes a word that is no option: a subcommand, if the program has any.
// The first operand may stand behind "--".
func (p *parsing) operand(w Word) {
	if len(p.g.Sub) > 0 && (!p.ended || len(p.Sub) == 0) && len(p.Operands) == 0 {
		if sub := p.g.Sub[w.Value]; sub != nil && w.Known {
			p.Sub = append(p.Sub, w.Value)
			p.g = sub
			return
		}
	}
	p.Operands = append(p.Operands, w)
	if p.g.Leading {
		p.ended = true
	}
}

// long takes an option whose name is a word.
func (p *parsing) long(w Word) {
	name, value, has := strings.Cut(w.Value, "=")
	if !w.Known && !has {
		p.Unsure = true
	}
	found, negated := p.g.find(name)
	if len(found) == 0 {
		p.Options = append(p.Options, Option{
			Name: name, Value: Word{Value: value, Known: w.Known, Glob: w.Glob}, Valued: has, Level: len(p.Sub), At: p.at - 1,
		})
		return
	}
	next := found[0].value == always && !has && !negated
	for _, o := range found {
		one := Option{Name: o.name, Negated: negated, Listed: true, Level: len(p.Sub), At: p.at - 1}
		switch {
		case has:
			one.Value, one.Valued = Word{Value: value, Known: w.Known, Glob: w.Glob}, true
		case next && p.at < len(p.args):
			one.Value, one.Valued = p.args[p.at], true
		}
		p.Options = append(p.Options, one)
	}
	if next {
		p.at++
	}
}

// find returns the options that a name can mean. A beginning that several
// options share means each of them, because the choice is up to the program.
func (g *Grammar) find(name string) (found []option, negated bool) {
	if o, ok := g.table[name]; ok {
		return []option{o}, false
	}
	if g.Single && strings.HasPrefix(name, "--") {
		if o, ok := g.table[name[1:]]; ok { // go and terraform take both
			return []option{o}, false
		}
	}
	if rest, ok := strings.CutPrefix(name, "--no-"); ok {
		if o, ok := g.table["--"+rest]; ok {
			return []option{o}, true
		}
	}
	if g.Exact || g.Single || len(name) < 3 {
		return nil, false
	}
	for full, o := range g.table {
		if strings.HasPrefix(full, name) && !slices.Contains(found, o) {
			found = append(found, o)
		}
	}
	slices.SortFunc(found, func(a, b option) int { return strings.Compare(a.name, b.name) })
	return found, false
}

// cluster takes short options that share a dash.
func (p *parsing) cluster(w Word) {
	if o, ok := p.g.table[w.Value]; ok && len(w.Value) > 2 && w.Known { // such as find's -name
		p.short(o, Word{}, false)
		return
	}
	if !w.Known {
		p.Unsure = true
	}
	for i, letter := range w.Value[1:] {
		rest := w.Value[1+i+len(string(letter)):]
		o, ok := p.g.table["-"+string(letter)]
		if !ok && letter == '=' {
			return // "-url=…" of a program with such long options: its value holds no options
		}
		if !ok {
			p.Options = append(p.Options, Option{Name: "-" + string(letter), Level: len(p.Sub), At: p.at - 1})
			continue
		}
		if o.value == never || rest == "" {
			p.short(o, Word{}, false)
			continue
		}
		p.short(o, Word{Value: rest, Known: w.Known, Glob: w.Glob}, true)
		return
	}
}

// short takes a short option, with the value that is attached to it or the
// next word.
func (p *parsing) short(o option, value Word, has bool) {
	at := p.at - 1
	if !has && o.value == always && p.at < len(p.args) {
		value, has = p.args[p.at], true
		p.at++
	}
	p.Options = append(p.Options, Option{
		Name: o.name, Value: value, Valued: has, Listed: true, Level: len(p.Sub), At: at,
	})
}
