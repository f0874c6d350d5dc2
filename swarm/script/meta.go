package script

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"

	"agentswarm/swarm/nearest"
)

// metaName matches the name of a script, which is also the name of a file.
var metaName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\pL\pN_][\pL\pN._-]*$`) })

// readMeta reads the meta that a body begins with. The warnings name the keys
// that it passed over, with their places.
func readMeta(src Source, body *ast.BlockStatement) (m *Meta, warnings []string, err error) {
	l := written{src, &warnings}
	m, err = l.meta(body)
	return m, warnings, err
}

func (l written) meta(body *ast.BlockStatement) (*Meta, error) {
	if len(body.List) == 0 {
		return nil, l.fault(body.LeftBrace, "meta is not there")
	}
	d, ok := body.List[0].(*ast.LexicalDeclaration)
	if !ok || d.Token != token.CONST || len(d.List) == 0 {
		return nil, l.fault(body.List[0].Idx0(), "meta is declared by export const meta = {…}")
	}
	if len(d.List) > 1 {
		return nil, l.fault(d.List[1].Idx0(), "meta is declared alone")
	}
	value := d.List[0].Initializer
	o, ok := value.(*ast.ObjectLiteral)
	if !ok {
		at := d.Idx
		if value != nil {
			at = value.Idx0()
		}
		return nil, l.fault(at, "meta is an object literal: it is read without running the script")
	}
	m := &Meta{}
	known := map[string]field{
		"name":        {required: true, read: l.name(&m.Name)},
		"description": {required: true, read: l.textInto("meta.description", &m.Description)},
		"whenToUse":   {read: l.textInto("meta.whenToUse", &m.WhenToUse)},
		"phases":      {read: l.phases(&m.Phases)},
		"args":        {read: l.schema(&m.Args)},
	}
	if l.src.Form == FormClaude {
		// In that form meta has no args, and some scripts write a value that is
		// no schema.
		delete(known, "args")
	}
	if err := l.fields("meta", o, known); err != nil {
		return nil, err
	}
	return m, nil
}

// written reads values from the tree of a script as they are written there.
// Brackets nest no deeper in it than [scan] lets them.
type written struct {
	src      Source
	warnings *[]string
}

// warn records an ignored part at a place.
func (l written) warn(at file.Idx, format string, args ...any) {
	*l.warnings = append(*l.warnings, l.fault(at, format, args...).Error())
}

func (l written) fault(at file.Idx, format string, args ...any) *Error {
	return l.src.fault(CodeMeta, int(at)-1, format, args...)
}

// field is a key that an object may have.
type field struct {
	required bool
	read     func(ast.Expression) error
}

// fields reads an object of which the keys are known. Others are passed over
// with a warning, unless a required key is missing that they are a misspelling
// of.
func (l written) fields(what string, o *ast.ObjectLiteral, known map[string]field) error {
	given, err := l.properties(what, o)
	if err != nil {
		return err
	}
	seen := make(map[string]bool, len(given))
	for _, p := range given {
		seen[p.name] = true
	}
	for _, p := range given {
		f, ok := known[p.name]
		if ok {
			err = f.read(p.value)
		} else {
			err = l.unknown(what, p, known, seen)
		}
		if err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if known[name].required && !seen[name] {
			return l.fault(o.LeftBrace, "%s.%s is missing", what, name)
		}
	}
	return nil
}

// unknown passes over a key that is not known.
func (l written) unknown(what string, p property, known map[string]field, seen map[string]bool) error {
	hint := ""
	near := nearest.Word(p.name, slices.Sorted(maps.Keys(known)))
	if near != "" {
		hint = fmt.Sprintf(": did you mean %q?", near)
	}
	if near != "" && known[near].required && !seen[near] {
		return l.fault(p.at, "%s has no key %q%s", what, p.name, hint)
	}
	// It still belongs to the parts that are read without running the script.
	if _, err := l.json(nil, p.value); err != nil {
		return err
	}
	l.warn(p.at, "%s has no key %q%s", what, p.name, hint)
	return nil
}

// property is a key of an object with its value.
type property struct {
	name  string
	at    file.Idx
	value ast.Expression
}

// properties are the keys of an object, in order.
func (l written) properties(what string, o *ast.ObjectLiteral) ([]property, error) {
	seen := make(map[string]bool, len(o.Value))
	list := make([]property, 0, len(o.Value))
	for _, v := range o.Value {
		p, ok := v.(*ast.PropertyKeyed)
		if !ok || p.Computed || p.Kind != ast.PropertyKindValue {
			return nil, l.fault(v.Idx0(), "%s holds only keys with values that are written out: no spread, shorthand, method or computed key", what)
		}
		var name string
		switch k := p.Key.(type) {
		case *ast.StringLiteral:
			name = k.Value.String()
		case *ast.NumberLiteral:
			name = k.Literal
		default:
			return nil, l.fault(p.Idx0(), "%s holds only plain keys", what)
		}
		switch {
		case name == "__proto__" || name == "constructor" || name == "prototype":
			return nil, l.fault(p.Idx0(), "%s may not have a key %q", what, name)
		case seen[name]:
			return nil, l.fault(p.Idx0(), "%s has the key %q twice", what, name)
		}
		seen[name] = true
		list = append(list, property{name, p.Idx0(), p.Value})
	}
	return list, nil
}

// text is a string that is written out.
func (l written) text(e ast.Expression) (string, bool) {
	switch e := e.(type) {
	case *ast.StringLiteral:
		return e.Value.String(), true
	case *ast.TemplateLiteral:
		if e.Tag == nil && len(e.Expressions) == 0 && len(e.Elements) == 1 {
			return e.Elements[0].Parsed.String(), true
		}
	}
	return "", false
}

func (l written) textInto(what string, to *string) func(ast.Expression) error {
	return func(e ast.Expression) error {
		s, ok := l.text(e)
		if !ok {
			return l.fault(e.Idx0(), "%s is a string that is written out", what)
		}
		*to = s
		return nil
	}
}

func (l written) name(to *string) func(ast.Expression) error {
	return func(e ast.Expression) error {
		if err := l.textInto("meta.name", to)(e); err != nil {
			return err
		}
		if l.src.Form == FormClaude && strings.TrimSpace(*to) != "" {
			return nil // there it is not the name of a file
		}
		if !metaName().MatchString(*to) {
			return l.fault(e.Idx0(), "meta.name %q: a name is made of letters, digits, - _ and ., and begins with a letter, a digit or _", *to)
		}
		return nil
	}
}

// phases reads a list of phases. A phase that is only a string is its title.
func (l written) phases(to *[]MetaPhase) func(ast.Expression) error {
	return func(e ast.Expression) error {
		list, ok := e.(*ast.ArrayLiteral)
		if !ok {
			return l.fault(e.Idx0(), "meta.phases is a list of {title, detail}")
		}
		for _, v := range list.Value {
			if v == nil {
				return l.fault(list.LeftBracket, "meta.phases has a hole")
			}
			var p MetaPhase
			if o, ok := v.(*ast.ObjectLiteral); ok {
				err := l.fields("a phase", o, map[string]field{
					"title":  {required: true, read: l.textInto("the title of a phase", &p.Title)},
					"detail": {read: l.textInto("the detail of a phase", &p.Detail)},
					"model":  {read: l.textInto("the model of a phase", &p.Model)},
				})
				if err != nil {
					return err
				}
			} else if p.Title, ok = l.text(v); !ok {
				return l.fault(v.Idx0(), "a phase is {title, detail} or its title")
			}
			if strings.TrimSpace(p.Title) == "" {
				return l.fault(v.Idx0(), "the title of a phase is empty")
			}
			*to = append(*to, p)
		}
		return nil
	}
}

// schema reads the schema of the arguments.
func (l written) schema(to *json.RawMessage) func(ast.Expression) error {
	return func(e ast.Expression) error {
		if _, ok := e.(*ast.ObjectLiteral); !ok {
			return l.fault(e.Idx0(), "meta.args is a JSON Schema: an object")
		}
		text, err := l.json(nil, e)
		*to = text
		return err
	}
}

// json appends a value as JSON.
func (l written) json(out []byte, e ast.Expression) ([]byte, error) {
	if s, ok := l.text(e); ok {
		return appendJSON(out, s), nil
	}
	switch e := e.(type) {
	case *ast.NullLiteral:
		return append(out, "null"...), nil
	case *ast.BooleanLiteral:
		return appendJSON(out, e.Value), nil
	case *ast.NumberLiteral:
		return l.number(out, e, 1)
	case *ast.UnaryExpression:
		if n, ok := e.Operand.(*ast.NumberLiteral); ok && e.Operator == token.MINUS {
			return l.number(out, n, -1)
		}
	case *ast.ArrayLiteral:
		return l.list(out, e)
	case *ast.ObjectLiteral:
		return l.object(out, e)
	}
	return nil, l.fault(e.Idx0(), "meta holds only values that are written out: it is read without running the script")
}

func (l written) list(out []byte, e *ast.ArrayLiteral) ([]byte, error) {
	out = append(out, '[')
	for i, v := range e.Value {
		if v == nil {
			return nil, l.fault(e.LeftBracket, "a list in meta has a hole")
		}
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = l.json(out, v); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

func (l written) object(out []byte, e *ast.ObjectLiteral) ([]byte, error) {
	given, err := l.properties("meta", e)
	if err != nil {
		return nil, err
	}
	out = append(out, '{')
	for i, p := range given {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendJSON(out, p.name), ':')
		if out, err = l.json(out, p.value); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

func (l written) number(out []byte, e *ast.NumberLiteral, sign int) ([]byte, error) {
	switch n := e.Value.(type) {
	case int64:
		return appendJSON(out, int64(sign)*n), nil
	case float64:
		if !math.IsInf(n, 0) && !math.IsNaN(n) {
			return appendJSON(out, float64(sign)*n), nil
		}
	}
	return nil, l.fault(e.Idx, "meta holds a number that JSON cannot: %s", e.Literal)
}

// appendJSON appends a string, a number or a boolean. They are always JSON.
func appendJSON(out []byte, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		return append(out, "null"...)
	}
	return append(out, text...)
}
