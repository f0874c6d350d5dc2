package script

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
)

// MaxSource is the largest text of a script, in bytes.
const MaxSource = 524_288

// Program is a script that was read, and not run.
type Program struct {
	Meta   *Meta // nil where the script has none: a bare body
	Source Source
	Allow  []Literal // items of agents that it spells out
	Uses   []Use     // tools of agents that it spells out
	// Warnings name the ignored parts of the text, each with its place.
	Warnings []string
	// Code gives an async function without parameters: the script.
	Code *goja.Program
}

var (
	// metaAhead matches the beginning of a script with a meta, behind comments.
	metaAhead = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:#![^\n]*)?(?:\s|\x{feff}|//[^\n]*\n|/\*(?s:.*?)\*/)*(export)\s+const\s+meta\b`)
	})
	hashbang = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^#!`) })
)

// reading is a text on its way to a program.
type reading struct {
	Source
	outline
	text          string // as the parser is given it, see [reading.rewrite]
	before, after string // the text around it, so that await may stand in it
	library       bool
	rewriting
}

// Load reads a workflow script without running any of it. Its errors are of
// the type [*Error], with the place they are about.
//
// Reading a hostile text may take long, or more stack than a process has. Where
// the text is not trusted, that is for a process of its own: see [Serve].
func Load(src Source) (*Program, error) {
	r, err := src.read()
	if err != nil {
		return nil, err
	}
	r.before, r.after = "async()=>{", "\n}"
	m := metaAhead().FindStringSubmatchIndex(r.text)
	if m != nil {
		r.text = erase(r.text, m[2])
	}
	tree, body, err := r.parse()
	if err != nil {
		return nil, err
	}
	p := &Program{Source: src}
	if m != nil {
		if p.Meta, p.Warnings, err = readMeta(src, body); err != nil {
			return nil, err
		}
	}
	if err := src.closedOptions(body); err != nil {
		return nil, err
	}
	p.Allow, p.Uses = src.literals(body)
	if p.Code, err = src.compile(tree, r.forAwait); err != nil {
		return nil, err
	}
	return p, nil
}

// read looks at a text before the parser does.
func (src Source) read() (reading, error) {
	if err := src.check(); err != nil {
		return reading{}, err
	}
	seen, err := scan(src)
	if err != nil {
		return reading{}, err
	}
	text := hashbang().ReplaceAllString(src.Text, "//")
	return reading{Source: src, outline: seen, text: text}, nil
}

// check returns an error for a text that cannot be a script at all.
func (src Source) check() error {
	if n := len(src.Text); n > MaxSource {
		return &Error{
			Name: "SyntaxError", Code: CodeSyntax, Where: src.Name,
			Message: fmt.Sprintf("the script has %d bytes; at most %d are read", n, MaxSource),
		}
	}
	for at, r := range src.Text {
		if r == 0 {
			return src.fault(CodeSyntax, at, "a NUL byte: this is not a script")
		}
		if r != utf8.RuneError {
			continue
		}
		if _, size := utf8.DecodeRuneInString(src.Text[at:]); size == 1 {
			return src.fault(CodeSyntax, at, "the text is not UTF-8")
		}
	}
	return nil
}

// erase overwrites the word export with spaces, so that all else stays where
// it is.
func erase(text string, at int) string {
	const word = "export"
	return text[:at] + strings.Repeat(" ", len(word)) + text[at+len(word):]
}

// parse reads the text as the body of an arrow function. Every position in the
// tree is a position in the source.
func (r *reading) parse() (tree *ast.Program, body *ast.BlockStatement, err error) {
	// A panic of the parser is an error in the text it was given.
	defer func() {
		if x := recover(); x != nil {
			err = r.fault(CodeSyntax, 0, "this cannot be read: %v", x)
		}
	}()
	r.rewrite()
	// Source maps are off: they would make the parser open files.
	tree, err = parser.ParseFile(nil, r.Name, r.before+r.text+r.after, 0, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, nil, r.misread(err)
	}
	body, end := bodyOf(tree)
	if at := int(end) - 1 - len(r.before); body == nil || at != len(r.text)+strings.Index(r.after, "}") {
		return nil, nil, r.fault(CodeSyntax, r.origin(int(end)-1), "unexpected }")
	}
	r.restore(tree)
	shift(tree, r.origin)
	tree.File = file.NewFile(r.Name, r.Text, 1)
	if err := r.refusePowers(tree); err != nil {
		return nil, nil, err
	}
	return tree, body, nil
}

// bodyOf returns the body of the arrow function around a text, and the place
// where it ends. A text with an extra brace ends it early and has more text
// behind.
func bodyOf(tree *ast.Program) (*ast.BlockStatement, file.Idx) {
	if len(tree.Body) == 0 {
		return nil, 0
	}
	var first ast.Expression
	if s, ok := tree.Body[0].(*ast.ExpressionStatement); ok {
		first = s.Expression
	}
	alone := len(tree.Body) == 1
	for {
		switch e := first.(type) {
		case *ast.ArrowFunctionLiteral:
			body, ok := e.Body.(*ast.BlockStatement)
			if !ok {
				return nil, 0
			}
			if !alone {
				return nil, body.RightBrace
			}
			return body, body.RightBrace
		case *ast.SequenceExpression:
			first, alone = e.Sequence[0], false
		case *ast.CallExpression:
			first, alone = e.Callee, false
		default:
			return nil, 0
		}
	}
}

// compile makes a program of a tree, which has for await loops at some places.
func (src Source) compile(tree *ast.Program, forAwait []int) (code *goja.Program, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = src.fault(CodeSyntax, 0, "this cannot be compiled: %v", x)
		}
	}()
	src.explain(tree)
	if err := src.lower(tree, forAwait); err != nil {
		return nil, err
	}
	code, err = goja.CompileAST(tree, true)
	if err == nil {
		return code, nil
	}
	if e := (*goja.CompilerSyntaxError)(nil); errors.As(err, &e) {
		return nil, src.fault(CodeSyntax, e.Offset, "%s", lower(e.Message))
	}
	return nil, src.fault(CodeSyntax, 0, "%s", err)
}
