package demo

import (
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// The renaming: [oldName] becomes [newName], which has a second result;
// [dropName] turns its two results back into a single result.
const (
	oldName  = "Get"
	newName  = "Lookup"
	dropName = "Value"
)

// counted is the number of changes of a rewrite.
type counted struct{ calls, mentions int }

func (c *counted) add(more counted) {
	c.calls += more.calls
	c.mentions += more.mentions
}

// RefusedError names a place that a person must look at, because no rewrite of
// it keeps the meaning of the program.
type RefusedError struct {
	Pos    token.Position
	Reason string
}

func (e *RefusedError) Error() string { return fmt.Sprintf("%s: %s", e.Pos, e.Reason) }

// rewriteGo moves the callers in a Go file from the old function to the new
// function, and rewrites its comments about it. Behaviour stays the same:
//
//	v := kv.Get(s, k)    v, _ := kv.Lookup(s, k)
//	f(kv.Get(s, k))      f(kv.Value(kv.Lookup(s, k)))
//	kv.Get(s, k)         kv.Lookup(s, k)
//
// A generated file is left alone: its generator would undo the change. The
// error is a [*RefusedError] where a person must decide.
func rewriteGo(name, src string) (string, counted, error) {
	f := goFile{set: token.NewFileSet(), src: src, parents: map[ast.Node]ast.Node{}}
	var err error
	f.tree, err = parser.ParseFile(f.set, name, src, parser.ParseComments)
	if err != nil {
		return "", counted{}, fmt.Errorf("parse: %w", err)
	}
	if ast.IsGenerated(f.tree) {
		return src, counted{}, nil
	}
	f.unresolved = map[*ast.Ident]bool{}
	for _, name := range f.tree.Unresolved {
		f.unresolved[name] = true
	}
	if err := f.callers(); err != nil {
		return "", counted{}, err
	}
	f.comments()
	if len(f.edits) == 0 {
		return src, counted{}, nil
	}
	out := apply(src, f.edits)
	// Only a file that was formatted before is formatted afterwards: in any
	// other the change would drown among the changes of the formatter.
	if was, err := format.Source([]byte(src)); err != nil || string(was) != src {
		return out, f.done, nil
	}
	formatted, err := format.Source([]byte(out))
	if err != nil {
		return "", counted{}, fmt.Errorf("format %s: %w", name, err)
	}
	return string(formatted), f.done, nil
}

// goFile is a file being rewritten.
type goFile struct {
	set     *token.FileSet
	tree    *ast.File
	src     string
	parents map[ast.Node]ast.Node
	edits   []edit
	done    counted

	// unresolved holds the identifiers that the file does not declare: names of
	// imports, of the universe, and of other files of the package.
	unresolved map[*ast.Ident]bool
}

// callers collects the edits of every use of the old function.
func (f *goFile) callers() error {
	var stack []ast.Node
	var refused error
	ast.Inspect(f.tree, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		if len(stack) > 0 {
			f.parents[n] = stack[len(stack)-1]
		}
		stack = append(stack, n)
		switch n := n.(type) {
		case *ast.ImportSpec:
			if n.Name != nil && n.Name.Name == "." && importPath(n) == library {
				refused = errors.Join(refused, f.refuse(n, "the import with a dot hides who calls it; name it first"))
			}
		case *ast.SelectorExpr:
			if f.isOld(n) {
				refused = errors.Join(refused, f.use(n))
			}
		}
		return true
	})
	return refused
}

// isOld reports whether n is the old function of the library.
func (f *goFile) isOld(n *ast.SelectorExpr) bool {
	x, ok := n.X.(*ast.Ident)
	if !ok || n.Sel.Name != oldName {
		return false
	}
	return f.unresolved[x] && slices.ContainsFunc(f.tree.Imports, func(spec *ast.ImportSpec) bool {
		return importPath(spec) == library && importName(spec) == x.Name
	})
}

// use rewrites a use of the old function by the code around it.
func (f *goFile) use(n *ast.SelectorExpr) error {
	call, ok := f.parents[n].(*ast.CallExpr)
	if !ok || call.Fun != n {
		return f.refuse(n, fmt.Sprintf("%[1]s.%[2]s is used as a value, and %[1]s.%[3]s has another type",
			n.X.(*ast.Ident).Name, oldName, newName))
	}
	f.replace(n.Sel.Pos(), n.Sel.End(), newName)
	f.done.calls++
	switch p := f.parents[call].(type) {
	case *ast.ExprStmt, *ast.GoStmt, *ast.DeferStmt: // no result is used
		return nil
	case *ast.AssignStmt:
		plain := p.Tok == token.ASSIGN || p.Tok == token.DEFINE
		if plain && len(p.Lhs) == 1 && len(p.Rhs) == 1 {
			f.replace(p.Lhs[0].End(), p.Lhs[0].End(), ", _")
			return nil
		}
	case *ast.ValueSpec:
		if f.twoNames(p) {
			return nil
		}
	}
	f.replace(call.Pos(), call.Pos(), n.X.(*ast.Ident).Name+"."+dropName+"(")
	f.replace(call.End(), call.End(), ")")
	return nil
}

// twoNames gives a declaration of a single variable its second name, if it can
// have that. A declared type would hold for both. So "string" goes, since it is
// the type of the call anyway; any other type stays.
func (f *goFile) twoNames(spec *ast.ValueSpec) bool {
	decl, ok := f.parents[spec].(*ast.GenDecl)
	if !ok || decl.Tok != token.VAR || len(spec.Names) != 1 || len(spec.Values) != 1 {
		return false
	}
	if spec.Type != nil {
		t, ok := spec.Type.(*ast.Ident)
		if !ok || t.Name != "string" || !f.unresolved[t] {
			return false
		}
		end := t.End()
		if rest := f.src[f.offset(end):]; strings.HasPrefix(rest, " ") {
			end++
		}
		f.replace(t.Pos(), end, "")
	}
	f.replace(spec.Names[0].End(), spec.Names[0].End(), ", _")
	return true
}

func (f *goFile) replace(start, end token.Pos, with string) {
	f.edits = append(f.edits, edit{f.offset(start), f.offset(end), with})
}

func (f *goFile) offset(at token.Pos) int { return f.set.File(f.tree.FileStart).Offset(at) }

func (f *goFile) refuse(n ast.Node, reason string) error {
	return &RefusedError{Pos: f.set.PositionFor(n.Pos(), false), Reason: reason}
}

// comments collects the edits of the comments. The names of the library are its
// own name and those this file imports it under.
func (f *goFile) comments() {
	names := map[string]bool{path.Base(library): true}
	for _, spec := range f.tree.Imports {
		name := importName(spec)
		if importPath(spec) == library {
			names[name] = true
		} else if name == path.Base(library) {
			return // here the name means another package
		}
	}
	for _, group := range f.tree.Comments {
		if isOutput(group) {
			continue // the expected output of an example is no prose
		}
		for _, c := range group.List {
			start := f.offset(c.Pos())
			text := rawComment(f.src[start:])
			if isDirective(text) {
				continue
			}
			for _, e := range mentions(text, names) {
				f.edits = append(f.edits, edit{start + e.start, start + e.end, e.with})
				f.done.mentions++
			}
		}
	}
}

// rawComment is the comment that src starts with. The tree's own text will
// not do: it lacks the carriage returns, and so its offsets are off.
func rawComment(src string) string {
	closing := "\n"
	if strings.HasPrefix(src, "/*") {
		closing = "*/"
	}
	if end := strings.Index(src[2:], closing); end >= 0 {
		return src[:2+end]
	}
	return src
}

// isDirective reports whether a comment is for a tool: "//go:embed kv.Get".
func isDirective(text string) bool {
	rest, line := strings.CutPrefix(text, "//")
	return line && rest != "" && rest[0] != ' ' && rest[0] != '\t' &&
		strings.Contains(strings.Fields(rest + " x")[0], ":")
}

func isOutput(group *ast.CommentGroup) bool {
	text := strings.ToLower(strings.TrimSpace(group.Text()))
	return strings.HasPrefix(text, "output:") || strings.HasPrefix(text, "unordered output:")
}

func importPath(spec *ast.ImportSpec) string {
	at, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return ""
	}
	return at
}

// importName is the name by which the file knows the package that it imports.
func importName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	return path.Base(importPath(spec))
}
