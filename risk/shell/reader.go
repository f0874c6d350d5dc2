package shell

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"agentswarm/risk/argv"
)

//go:embed wrappers.toml
var table []byte

// Reader reads texts, with the table of programs that run others. It is made
// once, and goroutines may share it.
type Reader struct {
	programs  map[string]*program
	variables map[string]string // variables that hold code, and its kind
	idioms    [][]string
	sinks     map[string]map[string]string // by language and name: the effect of a call
	parsers   sync.Pool                    // of *syntax.Parser: making a parser costs more than a short text
}

// NewReader makes a reader of the table that is built in. Its error names the
// entry that cannot be used.
func NewReader() (*Reader, error) {
	r := &Reader{}
	r.parsers.New = func() any { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }
	if err := r.load(table); err != nil {
		return nil, fmt.Errorf("table of wrappers: %w", err)
	}
	return r, nil
}

// Read returns the programs that a text would start.
func (r *Reader) Read(text string, at Start) *Script {
	rd := &reading{Reader: r, at: at, script: &Script{}, size: len(text)}
	s := &scope{reading: rd, stdin: feed{Stdin: Stdin{Kind: StdinInherited}}}
	s.cwd = Folder{Path: clean(at.Cwd), Known: strings.HasPrefix(at.Cwd, "/")}
	file, _ := s.text(text)
	rd.finish(file)
	return rd.script
}

// reading is a text that is being read, with all texts within it.
type reading struct {
	*Reader
	at       Start
	size     int
	script   *Script
	repeated bool // something was read more than once
	over     bool // MaxSteps were not enough
	changes  int  // how many programs have run that may change files
	temps    int  // how many files mktemp has made
}

// step counts work, and reports whether there may be more of it.
func (rd *reading) step(n int) bool {
	rd.script.Steps += n
	if rd.script.Steps > MaxSteps {
		rd.script.Steps, rd.over = MaxSteps, true
	}
	return !rd.over
}

// finish sorts the results by their place in the text.
func (rd *reading) finish(file *syntax.File) {
	c := rd.script
	if rd.over {
		c.Opaque = append(c.Opaque, Opaque{Why: "the text is more work than is done for one", Span: Span{0, rd.size}})
	}
	if rd.repeated {
		c.Invocations = unique(c.Invocations, func(v Invocation) string {
			return fmt.Sprint(v.Span, v.Via, v.Path, v.Args, v.Cwd, v.Stdin, v.Remote, v.Assigns)
		})
		c.Writes = unique(c.Writes, func(w Write) string { return fmt.Sprint(w) })
		c.Opaque = unique(c.Opaque, func(o Opaque) string { return fmt.Sprint(o) })
	}
	slices.SortStableFunc(c.Invocations, func(a, b Invocation) int { return a.Span.Start - b.Span.Start })
	slices.SortStableFunc(c.Writes, func(a, b Write) int { return a.Span.Start - b.Span.Start })
	slices.SortStableFunc(c.Opaque, func(a, b Opaque) int { return a.Span.Start - b.Span.Start })
	if len(c.Invocations) == 1 && len(c.Opaque) == 0 && file != nil && plain(file) {
		c.Invocations[0].Plain = true
	}
}

// unique keeps the first of those that are the same.
func unique[T any](all []T, key func(T) string) []T {
	seen, kept := make(map[string]bool, len(all)), all[:0]
	for _, one := range all {
		if k := key(one); !seen[k] {
			seen[k] = true
			kept = append(kept, one)
		}
	}
	return kept
}

// plain reports whether a file is a single simple command of fixed words.
func plain(file *syntax.File) bool {
	if len(file.Stmts) != 1 {
		return false
	}
	st := file.Stmts[0]
	call, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || st.Negated || st.Background || st.Coprocess || len(st.Redirs) > 0 || len(call.Assigns) > 0 {
		return false
	}
	return !slices.ContainsFunc(call.Args, func(w *syntax.Word) bool { return !fixed(w.Parts, false) })
}

// fixed reports whether parts of a word stand for themselves.
func fixed(parts []syntax.WordPart, quoted bool) bool {
	for _, part := range parts {
		switch x := part.(type) {
		case *syntax.Lit:
			if !quoted && strings.ContainsAny(x.Value, "*?[]{}~\\") {
				return false
			}
		case *syntax.SglQuoted:
			if x.Dollar {
				return false
			}
		case *syntax.DblQuoted:
			if x.Dollar || !fixed(x.Parts, true) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// scope is the place where a command is read: the state of the shell that would
// run it, and the commands around it.
type scope struct {
	*reading
	state
	via    []string
	stdin  feed
	remote bool
	depth  int   // of text within text
	nest   int   // of commands within commands
	loops  int   // of loops within loops
	inner  *Span // the place of the text, unless it is the outermost text
	active []*definition
	locals map[string]variable // of the function that is read, as they were
	// uncalled are the functions that the text here has defined.
	uncalled *[]*definition
}

// feed is the text that commands read from standard input.
type feed struct {
	Stdin
	file bool  // a file: as text it is a program as any other
	used *bool // whether something may have read of the text
}

// output is the known part of the text that a command writes to standard
// output.
type output struct {
	text  string
	known bool
	file  bool // the contents of a file, and nothing else
}

// feed returns an output as the input of the next command.
func (o output) feed() feed {
	if !o.known {
		return feed{Stdin: Stdin{Kind: StdinUnknown}, file: o.file}
	}
	return feed{Stdin: Stdin{Kind: StdinText, Text: o.text}, used: new(bool)}
}

// then returns an output followed by another.
func (o output) then(next output) output {
	if !o.known || !next.known || len(o.text)+len(next.text) > MaxText {
		return output{file: o.file && next.known && next.text == "" || next.file && o.known && o.text == ""}
	}
	return output{text: o.text + next.text, known: true}
}

// nothing is the output of a silent command.
func nothing() output { return output{known: true} }

// span is where a node stands in the outermost text.
func (s *scope) span(n syntax.Node) Span {
	if s.inner != nil {
		return *s.inner
	}
	start := min(int(n.Pos().Offset()), s.size)
	return Span{start, max(start, min(int(n.End().Offset()), s.size))}
}

// opaque records a part that cannot be read.
func (s *scope) opaque(why string, at Span) {
	s.script.Opaque = append(s.script.Opaque, Opaque{Why: why, Span: at, Via: s.via})
}

// fork is a scope whose changes stay in it.
func (s *scope) fork() *scope {
	s.step(1 + (len(s.vars)+len(s.funcs))/4)
	sub := *s
	sub.state = s.state.clone()
	return &sub
}

// within is a fork in which a program runs something.
func (s *scope) within(program string) *scope {
	sub := s.fork()
	sub.via = append(slices.Clip(s.via), program)
	return sub
}

// text reads a text with the state of the scope, and returns its output. The
// file is nil if it is not whole.
func (s *scope) text(text string) (*syntax.File, output) {
	at := Span{0, s.size}
	if s.inner != nil {
		at = *s.inner
	}
	if why := unreadable(text); why != "" {
		s.opaque(why, at)
		return nil, output{}
	}
	if !s.step(1 + len(text)/16) {
		return nil, output{}
	}
	parser, _ := s.parsers.Get().(*syntax.Parser)
	file, err := parser.Parse(strings.NewReader(text), "")
	s.parsers.Put(parser)
	outer, mine := s.uncalled, []*definition(nil)
	s.uncalled = &mine
	var out output
	if file != nil {
		out = s.stmts(file.Stmts)
	}
	s.leftOver(mine)
	s.uncalled = outer
	if err != nil {
		s.opaque("the text is not what a shell can read", at)
		return nil, output{}
	}
	return file, out
}

// code reads a text inside a word of a command, in a shell with the state of
// this scope.
func (s *scope) code(text string, at Span) output {
	if s.depth >= MaxDepth {
		s.opaque("text stands within text deeper than is read", at)
		return output{}
	}
	depth, inner := s.depth, s.inner
	s.depth, s.inner = depth+1, &at
	_, out := s.text(text)
	s.depth, s.inner = depth, inner
	return out
}

// values are fields as others see them.
func values(fields []field) []argv.Word {
	words := make([]argv.Word, len(fields))
	for i, f := range fields {
		words[i] = f.Word
		if before, _, hole := strings.Cut(f.Value, anything); hole {
			words[i] = argv.Word{Value: before}
		}
	}
	return words
}
