package script

import (
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
)

// builtins are the names that a closed function may use beside its own.
const builtins = `undefined NaN Infinity Math JSON Object Array String Number Boolean BigInt Symbol
	RegExp Intl Iterator Map Set WeakMap WeakSet Date Error TypeError RangeError SyntaxError ReferenceError
	EvalError URIError AggregateError parseInt parseFloat isNaN isFinite
	encodeURIComponent decodeURIComponent encodeURI decodeURI structuredClone`

// freeNames resolves the names in a tree of the language, up to the first that a
// closed function may not use.
type freeNames struct {
	scopes []scopeNames // the innermost last
	free   string       // the name that was found
	at     file.Idx     // and where
	// reads is called for each free name of only that is read, in place of all
	// that; nil for none.
	reads func(*ast.Identifier)
	only  map[string]string
}

// scopeNames are the names that a part of a text declares.
type scopeNames map[string]bool

// find looks for a free name in a node.
func (n *freeNames) find(node ast.Node) {
	if node == nil || n.free != "" {
		return
	}
	switch e := node.(type) {
	case *ast.Identifier:
		n.use(e)
	case *ast.ThisExpression:
		n.forbid("this", e.Idx)
	case *ast.SuperExpression:
		n.forbid("super", e.Idx)
	case *ast.UnaryExpression:
		if n.reads == nil || isRead(e) {
			n.find(e.Operand)
		}
	case *ast.AssignExpression:
		if n.reads == nil || !isTarget(e.Left) {
			n.find(e.Left)
		}
		n.find(e.Right)
	case *ast.ForIntoExpression:
		if n.reads == nil || !isTarget(e.Expression) {
			n.find(e.Expression)
		}
	case *ast.DotExpression: // the name behind a dot is no variable
		n.find(e.Left)
	case *ast.PrivateDotExpression:
		n.find(e.Left)
	case *ast.PrivateIdentifier, *ast.MetaProperty, *ast.BranchStatement:
	case *ast.LabelledStatement:
		n.find(e.Statement)
	case *ast.PropertyShort:
		n.use(&e.Name)
		n.find(e.Initializer)
	case *ast.PropertyKeyed:
		n.key(e.Key, e.Computed)
		n.find(e.Value)
	default:
		n.scoped(node)
	}
}

// scoped looks into nodes that declare names of their own, and all others.
func (n *freeNames) scoped(node ast.Node) {
	own := make(scopeNames)
	n.scopes = append(n.scopes, own)
	defer func() { n.scopes = n.scopes[:len(n.scopes)-1] }()
	switch e := node.(type) {
	case *ast.FunctionLiteral:
		if e.Name != nil {
			own.declare(e.Name)
		}
		n.function(e.ParameterList, e.Body, e.DeclarationList)
		return
	case *ast.ArrowFunctionLiteral:
		n.function(e.ParameterList, e.Body, e.DeclarationList)
		return
	case *ast.ClassLiteral:
		if e.Name != nil {
			own.declare(e.Name)
		}
	case *ast.FieldDefinition:
		n.key(e.Key, e.Computed)
		n.find(e.Initializer)
		return
	case *ast.MethodDefinition:
		n.key(e.Key, e.Computed)
		n.find(e.Body)
		return
	case *ast.ClassStaticBlock:
		own.variables(e.DeclarationList)
		n.find(e.Block)
		return
	case *ast.BlockStatement:
		own.statements(e.List)
	case *ast.SwitchStatement:
		n.find(e.Discriminant)
		for _, c := range e.Body {
			own.statements(c.Consequent)
		}
	case *ast.CatchStatement:
		own.declare(e.Parameter)
	case *ast.ForStatement:
		if d, ok := e.Initializer.(*ast.ForLoopInitializerLexicalDecl); ok {
			own.bindings(d.LexicalDeclaration.List)
		}
	case *ast.ForInStatement:
		own.loop(e.Into)
	case *ast.ForOfStatement:
		own.loop(e.Into)
	}
	for _, c := range children(node) {
		n.find(c)
	}
}

// function searches a function. Its parameters do not see the declarations of
// its body.
func (n *freeNames) function(p *ast.ParameterList, body ast.Node, variables []*ast.VariableDeclaration) {
	own := n.scopes[len(n.scopes)-1]
	own.bindings(p.List)
	own.declare(p.Rest)
	for _, b := range p.List {
		n.find(b)
	}
	n.find(p.Rest)
	inside := make(scopeNames)
	inside.variables(variables)
	n.scopes = append(n.scopes, inside)
	n.find(body)
	n.scopes = n.scopes[:len(n.scopes)-1]
}

// key looks into the key of a property, which is only code where it is
// computed.
func (n *freeNames) key(e ast.Expression, computed bool) {
	if computed {
		n.find(e)
	}
}

// forbid records a name that a closed function may not use.
func (n *freeNames) forbid(name string, at file.Idx) {
	if n.reads == nil {
		n.free, n.at = name, at
	}
}

// isTarget reports whether an assignment writes to names alone.
func isTarget(e ast.Expression) bool {
	switch e.(type) {
	case *ast.Identifier, *ast.ArrayPattern, *ast.ObjectPattern:
		return true
	default:
		return false
	}
}

func (n *freeNames) use(id *ast.Identifier) {
	name := id.Name.String()
	if n.reads != nil && n.only[name] == "" {
		return
	}
	for _, s := range n.scopes {
		if s[name] {
			return
		}
	}
	if n.reads != nil {
		n.reads(id)
		return
	}
	if !slices.Contains(strings.Fields(builtins), name) {
		n.free, n.at = name, id.Idx
	}
}

// declare adds the names of a pattern.
func (s scopeNames) declare(target ast.Expression) {
	switch t := target.(type) {
	case *ast.Identifier:
		s[t.Name.String()] = true
	case *ast.Binding:
		s.declare(t.Target)
	case *ast.AssignExpression:
		s.declare(t.Left)
	case *ast.SpreadElement:
		s.declare(t.Expression)
	case *ast.PropertyShort:
		s.declare(&t.Name)
	case *ast.PropertyKeyed:
		s.declare(t.Value)
	case *ast.ArrayPattern:
		for _, e := range t.Elements {
			s.declare(e)
		}
		s.declare(t.Rest)
	case *ast.ObjectPattern:
		for _, p := range t.Properties {
			s.declare(p)
		}
		s.declare(t.Rest)
	}
}

func (s scopeNames) bindings(list []*ast.Binding) {
	for _, b := range list {
		s.declare(b.Target)
	}
}

func (s scopeNames) variables(list []*ast.VariableDeclaration) {
	for _, d := range list {
		s.bindings(d.List)
	}
}

// statements adds the declarations of the statements of a block.
func (s scopeNames) statements(list []ast.Statement) {
	for _, st := range list {
		switch d := st.(type) {
		case *ast.LexicalDeclaration:
			s.bindings(d.List)
		case *ast.FunctionDeclaration:
			s.declare(d.Function.Name)
		case *ast.ClassDeclaration:
			s.declare(d.Class.Name)
		}
	}
}

func (s scopeNames) loop(into ast.ForInto) {
	if d, ok := into.(*ast.ForDeclaration); ok {
		s.declare(d.Target)
	}
}
