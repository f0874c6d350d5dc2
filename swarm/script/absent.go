package script

import (
	"reflect"
	"regexp"
	"strings"
	"sync"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// absentNames returns names of other runtimes that scripts do not have, each
// with the replacement. For typeof and globalThis they do not exist. If a
// script uses such a name, the error gives the replacement.
func absentNames() map[string]string {
	const (
		timers  = "a script has setTimeout alone; call it again, or bound an agent by limits: {ms}"
		network = "a script has no network: let an agent fetch it, or pass it in args"
		process = "a script sees no process: pass what it needs in args"
		files   = "a script has no files: let an agent do it, or use repo and check"
		clock   = "the clock is closed: it would give another answer when the run is resumed; pass a time in args"
		dice    = "there is no randomness in a script: it would give another answer when the run is resumed; pass ids in args"
	)
	return map[string]string{
		"setInterval": timers, "clearInterval": timers, "setImmediate": timers, "clearImmediate": timers,
		"fetch": network, "XMLHttpRequest": network, "WebSocket": network,
		"require": noModules, "module": noModules, "exports": noModules,
		"process": process, "Bun": process, "Deno": process,
		"fs": files, "__dirname": files, "__filename": files, "Buffer": "a script has no bytes: use strings",
		"performance": clock, "crypto": dice,
	}
}

// explainAbsent is the name, which no script can write, of the function that
// throws for an absent name.
const explainAbsent = "swarm: explain"

// explain makes every use of an absent name in a tree throw an error with the
// replacement. A test for the name and an assignment to it stay as they are.
func (src Source) explain(tree *ast.Program) {
	names := absentNames()
	if !mentions(src.Text, names) {
		return
	}
	uses := make(map[*ast.Identifier]bool)
	n := freeNames{only: names, reads: func(id *ast.Identifier) { uses[id] = true }}
	for _, s := range tree.Body {
		n.find(s)
	}
	if len(uses) > 0 {
		replace(tree, uses)
	}
}

func mentions(text string, names map[string]string) bool {
	for name := range names {
		if strings.Contains(text, name) {
			return true
		}
	}
	return false
}

// replace puts a call of [explainAbsent] where an identifier stands as an
// expression.
func replace(tree *ast.Program, uses map[*ast.Identifier]bool) {
	seen := make(map[any]bool)
	todo := []reflect.Value{reflect.ValueOf(tree.Body)}
	// No recursion: trees nest as deeply as the text of a script does.
	for len(todo) > 0 {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() && v.CanInterface() && !seen[v.Interface()] {
				seen[v.Interface()] = true
				todo = append(todo, v.Elem())
			}
		case reflect.Interface:
			if v.IsNil() {
				continue
			}
			if id, ok := v.Interface().(*ast.Identifier); ok && uses[id] && v.CanSet() && v.Type() == reflect.TypeFor[ast.Expression]() {
				v.Set(reflect.ValueOf(explained(id)))
				continue
			}
			todo = append(todo, v.Elem())
		case reflect.Slice:
			for i := range v.Len() {
				todo = append(todo, v.Index(i))
			}
		case reflect.Struct:
			for _, f := range v.Fields() {
				todo = append(todo, f)
			}
		default: // texts, numbers and flags
		}
	}
}

// explained is the call that stands in for the use of an absent name.
func explained(id *ast.Identifier) ast.Expression {
	name := id.Name
	return &ast.CallExpression{
		Callee:           &ast.Identifier{Name: unistring.NewFromString(explainAbsent), Idx: id.Idx},
		LeftParenthesis:  id.Idx,
		RightParenthesis: id.Idx,
		ArgumentList:     []ast.Expression{&ast.StringLiteral{Idx: id.Idx, Literal: name.String(), Value: name}},
	}
}

// explanation is the message of the error for an absent name.
func explanation(name string) string {
	return name + " is not defined: " + absentNames()[name]
}

// undefinedName is the message of the language for a name that is not there.
var undefinedName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([\w$]+) is not defined$`) })

// explainMessage adds the replacement to the message of the language for a name
// that is not there. Code that a script makes of a text has only that.
func explainMessage(message string) string {
	if m := undefinedName().FindStringSubmatch(message); m != nil && absentNames()[m[1]] != "" {
		return explanation(m[1])
	}
	return message
}

// isRead reports whether an operand of an operator is read: typeof only asks
// whether it is there.
func isRead(e *ast.UnaryExpression) bool {
	_, named := e.Operand.(*ast.Identifier)
	return !named || e.Operator != token.TYPEOF && e.Operator != token.INCREMENT && e.Operator != token.DECREMENT
}
