package script

import (
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/unistring"
)

// Library is a file of a project's own functions that was read, and not run.
type Library struct {
	Source  Source
	Exports []string // their names, in the order of the file
	// Code gives a function without parameters that gives an object of the
	// exports.
	Code *goja.Program
}

const notExported = "a library exports functions and constants by their declarations: export function f() {…}"

// mayExport matches the beginning of an export of a library.
var mayExport = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^export\s+(?:(?:async\s+)?function\b|const\b)`) })

// LoadLib reads a file of functions that workflow scripts see as members of
// lib. It may declare any names, and exports functions and constants by their
// declarations. LoadLib returns an error if the file cannot be read as a
// library.
func LoadLib(src Source) (*Library, error) {
	r, err := src.read()
	if err != nil {
		return nil, err
	}
	var erased []int
	for _, at := range r.exports {
		// Any other is found by the parser, which does not know the word.
		if mayExport().MatchString(r.text[at:]) {
			r.text = erase(r.text, at)
			erased = append(erased, at)
		}
	}
	r.library = true
	r.before, r.after = "()=>{", "\n}"
	tree, body, err := r.parse()
	if err != nil {
		return nil, err
	}
	l := &Library{Source: src}
	if l.Exports, err = exportsOf(src, body, erased); err != nil {
		return nil, err
	}
	if err := src.closedOptions(body); err != nil {
		return nil, err
	}
	body.List = append(body.List, returning(l.Exports, body))
	if l.Code, err = src.compile(tree, r.forAwait); err != nil {
		return nil, err
	}
	return l, nil
}

// exportsOf are the names that the statements behind the word export declare,
// which was erased at these places.
func exportsOf(src Source, body *ast.BlockStatement, erased []int) ([]string, error) {
	var names []string
	next := 0
	for _, s := range body.List {
		begin := int(s.Idx0()) - 1
		if _, ok := s.(*ast.ReturnStatement); ok {
			return nil, src.fault(CodeSyntax, begin, "a library returns nothing: it exports")
		}
		if next == len(erased) || begin < erased[next] {
			continue
		}
		declared, err := declaredBy(src, s)
		if err != nil {
			return nil, err
		}
		for _, name := range declared {
			if slices.Contains(names, name) {
				return nil, src.fault(CodeSyntax, begin, "%s is exported twice", name)
			}
			names = append(names, name)
		}
		next++
	}
	if next < len(erased) {
		return nil, src.fault(CodeSyntax, erased[next], notExported)
	}
	return names, nil
}

// declaredBy are the names that a statement declares.
func declaredBy(src Source, s ast.Statement) ([]string, error) {
	switch s := s.(type) {
	case *ast.FunctionDeclaration:
		return []string{s.Function.Name.Name.String()}, nil
	case *ast.LexicalDeclaration:
		var names []string
		for _, b := range s.List {
			id, ok := b.Target.(*ast.Identifier)
			if !ok {
				return nil, src.fault(CodeSyntax, int(b.Idx0())-1, "an export is declared by its name, not by a pattern")
			}
			names = append(names, id.Name.String())
		}
		return names, nil
	default:
		return nil, src.fault(CodeSyntax, int(s.Idx0())-1, notExported)
	}
}

// returning gives an object of names back, at the end of a body.
func returning(names []string, body *ast.BlockStatement) ast.Statement {
	o := &ast.ObjectLiteral{LeftBrace: body.RightBrace, RightBrace: body.RightBrace}
	for _, name := range names {
		id := ast.Identifier{Name: unistring.NewFromString(name), Idx: body.RightBrace}
		o.Value = append(o.Value, &ast.PropertyShort{Name: id})
	}
	return &ast.ReturnStatement{Return: body.RightBrace, Argument: o}
}

// loadLibraries evaluates files of functions and returns a frozen object of all
// their exports. A name that two files declare is an error.
func loadLibraries(rt *goja.Runtime, sources []Source) (*goja.Object, error) {
	all := rt.CreateObject(nil)
	for _, src := range sources {
		l, err := LoadLib(src)
		if err != nil {
			return nil, err
		}
		made, err := l.evaluate(rt)
		if err != nil {
			return nil, err
		}
		for _, name := range l.Exports {
			value := made.Get(name)
			if value == nil {
				return nil, l.returns()
			}
			if all.Get(name) != nil {
				return nil, &Error{
					Name: "SyntaxError", Code: CodeSyntax, Where: src.Name,
					Message: "lib." + name + " is exported by another file too",
				}
			}
			if err := all.DefineDataProperty(name, value, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_TRUE); err != nil {
				return nil, fmt.Errorf("export %s: %w", name, err)
			}
		}
	}
	return all, nil
}

// evaluate runs the file and gives the object of its exports.
func (l *Library) evaluate(rt *goja.Runtime) (*goja.Object, error) {
	f, err := rt.RunProgram(l.Code)
	if err != nil {
		return nil, err
	}
	call, ok := goja.AssertFunction(f)
	if !ok {
		return nil, fmt.Errorf("%s is not a function", l.Source.Name)
	}
	v, err := call(goja.Undefined())
	if err != nil {
		return nil, err
	}
	made, ok := v.(*goja.Object)
	if !ok {
		return nil, l.returns()
	}
	return made, nil
}

// returns is the error of a file that returned something of its own.
func (l *Library) returns() error {
	return &Error{Name: "SyntaxError", Code: CodeSyntax, Where: l.Source.Name, Message: "a library returns nothing: it exports"}
}
