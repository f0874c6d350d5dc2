package script

import (
	"slices"

	"github.com/dop251/goja/ast"
)

// CountAgents returns the greatest number of agents that the text of a script
// starts. The number is bounded if each place that starts an agent is reached
// at most once. Such a place is outside of loops, and outside of functions,
// except those that parallel and race get in a literal. A text that is no
// script has no bound.
func CountAgents(src Source) (most int, bounded bool) {
	r, err := src.read()
	if err != nil {
		return 0, false
	}
	r.before, r.after = "(async()=>{", "\n})"
	if m := metaAhead().FindStringSubmatchIndex(r.text); m != nil {
		r.text = erase(r.text, m[2])
	}
	_, body, err := r.parse()
	if err != nil {
		return 0, false
	}
	c := &counter{hidden: map[string]int{}, bounded: true}
	c.walk(body)
	return c.most, c.bounded
}

// counter walks a script.
type counter struct {
	most    int
	bounded bool
	many    bool           // the code here may run more than once
	hidden  map[string]int // names that the script gave another meaning, here
}

// means reports whether a name is the global here, and not the script's own.
func (c *counter) means(name string) bool { return c.hidden[name] == 0 }

// starts counts agents.
func (c *counter) starts(n int) {
	if c.many && n > 0 {
		c.bounded = false
	}
	c.most += n
}

// often walks code that may run more than once.
func (c *counter) often(f func()) {
	before := c.many
	c.many = true
	f()
	c.many = before
}

// hiding walks where names have another meaning.
func (c *counter) hiding(own scopeNames, f func()) {
	for n := range own {
		c.hidden[n]++
	}
	f()
	for n := range own {
		c.hidden[n]--
	}
}

// walk looks at whatever part of the tree.
func (c *counter) walk(n ast.Node) {
	own := make(scopeNames)
	switch e := n.(type) {
	case nil, *ast.LabelledStatement, *ast.BranchStatement, *ast.MetaProperty:
		if l, ok := e.(*ast.LabelledStatement); ok {
			c.walk(l.Statement)
		}
	case *ast.CallExpression:
		c.call(e)
	case *ast.Identifier:
		// Code that holds a reference to one of these can call it anywhere.
		if c.means(string(e.Name)) && slices.Contains([]string{
			"agent", "run", "sa", "std", "lib", "workflow", "globalThis", "eval", "Function",
		}, string(e.Name)) {
			c.bounded = false
		}
	case *ast.DotExpression:
		if _, this := e.Left.(*ast.ThisExpression); this {
			c.walk(&e.Identifier)
		}
		c.walk(e.Left)
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
		c.often(func() { c.inside(e) })
	case *ast.ClassLiteral:
		c.often(func() { c.all(e) })
	case *ast.BlockStatement:
		own.statements(e.List)
		for _, s := range e.List {
			if v, ok := s.(*ast.VariableStatement); ok {
				own.bindings(v.List)
			}
		}
		c.hiding(own, func() { c.all(e) })
	case *ast.CatchStatement:
		own.declare(e.Parameter)
		c.hiding(own, func() { c.walk(e.Body) })
	case *ast.ForStatement, *ast.ForInStatement, *ast.ForOfStatement, *ast.WhileStatement, *ast.DoWhileStatement:
		c.loop(e)
	default:
		c.all(n)
	}
}

// all walks all that a part of the tree is made of.
func (c *counter) all(n ast.Node) {
	for _, part := range children(n) {
		c.walk(part)
	}
}

// inside walks a function as often as its place runs.
func (c *counter) inside(n ast.Node) {
	own := make(scopeNames)
	var list *ast.ParameterList
	var body ast.Node
	switch f := n.(type) {
	case *ast.FunctionLiteral:
		list, body = f.ParameterList, f.Body
		if f.Name != nil {
			own.declare(f.Name)
		}
	case *ast.ArrowFunctionLiteral:
		list, body = f.ParameterList, f.Body
	default:
		c.walk(n)
		return
	}
	own.bindings(list.List)
	own.declare(list.Rest)
	c.hiding(own, func() {
		c.all(list)
		c.walk(body)
	})
}

// loop walks a loop. Its source is evaluated once.
func (c *counter) loop(n ast.Node) {
	own := make(scopeNames)
	switch l := n.(type) {
	case *ast.ForOfStatement:
		c.walk(l.Source)
		own.loop(l.Into)
		c.hiding(own, func() { c.often(func() { c.walk(l.Body) }) })
	case *ast.ForInStatement:
		c.walk(l.Source)
		own.loop(l.Into)
		c.hiding(own, func() { c.often(func() { c.walk(l.Body) }) })
	case *ast.ForStatement:
		if i, ok := l.Initializer.(*ast.ForLoopInitializerLexicalDecl); ok {
			own.bindings(i.LexicalDeclaration.List)
		}
		c.hiding(own, func() { c.often(func() { c.all(l) }) })
	default:
		c.often(func() { c.all(n) })
	}
}

// call checks a call: whether it starts an agent, and how often its arguments
// run.
func (c *counter) call(n *ast.CallExpression) {
	switch f := n.Callee.(type) {
	case *ast.Identifier:
		name := string(f.Name)
		switch {
		case !c.means(name):
		case name == "agent" || name == "run":
			c.starts(1)
		case name == "parallel" || name == "race":
			c.once(n)
			return
		default:
			c.walk(f)
		}
	case *ast.DotExpression:
		c.member(n, f)
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
		c.inside(f) // written down where it is called
	default:
		c.walk(f)
	}
	for _, a := range n.ArgumentList {
		c.walk(a)
	}
}

// member checks a call of a member of our own objects.
func (c *counter) member(n *ast.CallExpression, f *ast.DotExpression) {
	if of, ok := f.Left.(*ast.DotExpression); ok && f.Identifier.Name == "worst" {
		// The cost query of a strategy starts nothing.
		if l, ok := of.Left.(*ast.Identifier); ok && l.Name == "std" && c.means("std") {
			return
		}
	}
	left, ok := f.Left.(*ast.Identifier)
	if !ok || !c.means(string(left.Name)) {
		c.walk(f)
		return
	}
	name := string(f.Identifier.Name)
	switch string(left.Name) {
	case "sa":
		if name == "run" {
			c.starts(1)
		}
	case "std":
		c.strategy(n, name)
	default:
		c.walk(f)
	}
}

// once walks parallel([() => …, …]) and race: each function of a literal is
// called at most once.
func (c *counter) once(n *ast.CallExpression) {
	for i, a := range n.ArgumentList {
		var jobs []ast.Expression
		switch l := a.(type) {
		case *ast.ArrayLiteral:
			jobs = l.Value
		case *ast.ObjectLiteral:
			for _, p := range l.Value {
				if k, ok := p.(*ast.PropertyKeyed); ok {
					jobs = append(jobs, k.Value)
				} else {
					jobs = append(jobs, p)
				}
			}
		}
		if i > 0 || jobs == nil {
			c.walk(a)
			continue
		}
		for _, job := range jobs {
			if job != nil {
				c.inside(job)
			}
		}
	}
}

// strategy counts the agents that a strategy of std starts. Strategies that
// call functions of the script start none themselves.
func (c *counter) strategy(n *ast.CallExpression, name string) {
	key, most := "", 0
	switch name {
	case "verify":
		key, most = "voters", 3
	case "judge":
		key, most = "judges", 3
	case "critic", "stages":
		key, most = "rounds", 2
	case "untilDry", "sweep", "retry":
		return
	default:
		c.bounded = false
		return
	}
	if len(n.ArgumentList) > 1 {
		given, known := numberIn(n.ArgumentList[1], key)
		if !known {
			c.bounded = false
			return
		}
		if given > 0 || given == 0 && name == "stages" {
			most = given
		}
	}
	switch name {
	case "critic":
		most = 2*most - 1
	case "stages":
		most = 2*most + 3
	}
	c.starts(most)
}

// numberIn is the whole number that an object literal has under a key, -1 where
// it has none. It is not known of anything else.
func numberIn(e ast.Expression, key string) (n int, known bool) {
	o, ok := e.(*ast.ObjectLiteral)
	if !ok {
		return 0, false
	}
	n = -1
	for _, p := range o.Value {
		k, ok := p.(*ast.PropertyKeyed)
		if !ok {
			if short, is := p.(*ast.PropertyShort); is && string(short.Name.Name) != key {
				continue
			}
			return 0, false // it may hold anything
		}
		name, ok := k.Key.(*ast.StringLiteral)
		if k.Computed || !ok {
			return 0, false
		}
		if string(name.Value) != key {
			continue
		}
		v, ok := k.Value.(*ast.NumberLiteral)
		if !ok {
			return 0, false
		}
		whole, ok := v.Value.(int64)
		if !ok {
			return 0, false
		}
		n = int(whole)
	}
	return n, true
}
