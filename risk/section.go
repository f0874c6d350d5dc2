package risk

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// heading is the line that grants stand under.
const heading = "## Pre-Authorized Actions"

// maxAgents is how large a file is read for grants, in bytes. The parser takes
// time by the square of the length for some texts, such as brackets that are
// never closed: half a second for 32 KiB of the worst.
const maxAgents = 64 << 10

// Grants are the grants of an AGENTS.md.
type Grants struct {
	Path  string // of the file, below the top of the repository, with slashes
	Hash  string // of the file: sha256, in hexadecimal digits
	Items []Grant
	Void  []VoidItem
	// Suspended says that nothing is granted here, and why: an item that
	// forbids something could not be read. Empty: it does not apply.
	Suspended string
}

// VoidItem is an item that could not be read. It grants nothing.
type VoidItem struct {
	Line int
	Text string
	Why  string
}

// ReadGrants reads the grants of an AGENTS.md as it is committed. It never
// fails: an item that it cannot read grants nothing.
func ReadGrants(file []byte, at string) *Grants {
	sum := sha256.Sum256(file)
	g := &Grants{Path: at, Hash: hex.EncodeToString(sum[:])}
	if !bytes.Contains(file, []byte(heading)) {
		return g // there is nothing to parse
	}
	if len(file) > maxAgents {
		g.Suspended = fmt.Sprintf("the file is larger than %d bytes", maxAgents)
		return g
	}
	whole := bytes.ReplaceAll(bytes.TrimPrefix(file, []byte("\xef\xbb\xbf")), []byte("\r\n"), []byte("\n"))
	if bytes.IndexByte(whole, '\r') >= 0 {
		g.Suspended = "it holds a carriage return that ends no line: some would see other lines than others"
		return g
	}
	body, line := withoutFront(whole)
	r := &sectionReader{Grants: g, source: body, first: line}
	r.read(commonMark().Parse(text.NewReader(body)))
	return g
}

// commonMark returns a parser of the text that a page shows, without the
// renderer of the library.
func commonMark() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)
}

// withoutFront leaves out the front matter, and says how many lines it had.
func withoutFront(body []byte) ([]byte, int) {
	rest, ok := bytes.CutPrefix(body, []byte("---\n"))
	if !ok {
		return body, 0
	}
	lines := 1
	for len(rest) > 0 {
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		rest = after
		lines++
		text := strings.TrimRight(string(line), " \t")
		if text == "---" || text == "..." {
			return rest, lines
		}
		if !isFrontLine(text) {
			return body, 0
		}
	}
	return body, 0
}

// isFrontLine reports whether a line can belong to front matter. A page shows
// any other line as it is, and a fence or a comment there continues after it.
func isFrontLine(line string) bool {
	return line == "" || letter(line[0]) || strings.IndexByte(" \t#-\"'_.{}[])0123456789", line[0]) >= 0
}

// sectionReader reads the sections of a file.
type sectionReader struct {
	*Grants
	source []byte
	first  int // lines that stand before the source
}

// read visits the blocks at the top level: the heading, and the lists up to the
// next heading.
func (r *sectionReader) read(document ast.Node) {
	inside, open := false, openHTML{}
	for n := document.FirstChild(); n != nil; n = n.NextSibling() {
		open.add(n, r.source)
		inside = inside && !open.any()
		switch n := n.(type) {
		case *ast.Heading:
			inside = n.Level == 2 && r.exact(n) && !open.any()
		case *ast.HTMLBlock:
			// After other HTML it is not known which text a page shows.
			// Comments show nothing and hide nothing but themselves.
			inside = inside && n.HTMLBlockType == ast.HTMLBlockType2
		case *ast.List:
			if inside = inside && !holdsHeading(n); inside && !n.IsOrdered() {
				r.list(n)
			}
		default:
			inside = inside && !holdsHeading(n)
		}
	}
}

// exact reports whether a heading's line has the expected text only.
func (r *sectionReader) exact(n *ast.Heading) bool {
	if n.Lines().Len() != 1 {
		return false
	}
	return strings.TrimRight(r.line(n.Lines().At(0).Start), " \t") == heading
}

// holdsHeading reports whether a heading stands anywhere below a node.
func holdsHeading(n ast.Node) bool {
	found := false
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if n.Kind() == ast.KindHeading {
			found = true
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	})
	return found
}

// list reads the items of a list.
func (r *sectionReader) list(list *ast.List) {
	for n := list.FirstChild(); n != nil; n = n.NextSibling() {
		block := n.FirstChild()
		if block == nil || block.Lines().Len() == 0 {
			continue
		}
		start := block.Lines().At(0).Start
		raw := strings.TrimSpace(string(block.Lines().Value(r.source)))
		where := r.first + 1 + bytes.Count(r.source[:start], []byte("\n"))
		g, err := r.item(n, block, start)
		if err != nil {
			r.Void = append(r.Void, VoidItem{Line: where, Text: raw, Why: err.Error()})
			if forbids(raw) && r.Suspended == "" {
				r.Suspended = fmt.Sprintf("line %d forbids something and could not be read", where)
			}
			continue
		}
		g.Where = fmt.Sprintf("%s:%d", r.Path, where)
		if folder := path.Dir(r.Path); folder != "." {
			g.Folder = folder
			if m, ok := g.Covers.(*ModifyPaths); ok {
				m.Folder = folder
			}
		}
		r.Items = append(r.Items, g)
	}
}

// forbids reports whether an unreadable item begins as an item that forbids. No
// grant is safer than a grant that somebody meant to narrow.
func forbids(raw string) bool {
	words := strings.Fields(strings.ToLower(raw))
	for i, word := range words {
		words[i] = strings.Trim(word, "*_~`'\"([<>)].,:;!")
	}
	if len(words) == 0 {
		return false
	}
	switch words[0] {
	case "never", "don't", "don\u2019t", "dont", "no":
		return true
	}
	return words[0] == "do" && len(words) > 1 && words[1] == "not"
}

// item reads an item of a list. It must be a single paragraph of words and code
// spans, right behind the mark of the list.
func (r *sectionReader) item(n, block ast.Node, start int) (Grant, error) {
	if block.NextSibling() != nil {
		return Grant{}, errors.New("it holds more than one paragraph, or a list of its own")
	}
	if k := block.Kind(); k != ast.KindTextBlock && k != ast.KindParagraph {
		return Grant{}, fmt.Errorf("it is not a line of text but a %s", k)
	}
	// Definitions of links are taken out of a paragraph before it is seen.
	line := r.line(start)
	mark := strings.TrimLeft(line[:start-r.begin(start)], " ")
	if len(mark) < 2 || !strings.Contains("-*+", mark[:1]) || strings.Trim(mark[1:], " \t") != "" {
		return Grant{}, errors.New("something stands before its words")
	}
	words, err := r.words(block)
	if err != nil {
		return Grant{}, err
	}
	return ParseGrant(words)
}

// words are those of a paragraph, with code spans in backquotes.
func (r *sectionReader) words(block ast.Node) (string, error) {
	var b strings.Builder
	for n := block.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			words := n.Segment.Value(r.source)
			if bytes.ContainsAny(words, "\\&`") {
				return "", errors.New("it holds an escape, an entity or a lone backquote")
			}
			b.Write(words)
			if n.HardLineBreak() {
				return "", errors.New("it holds a line break")
			}
			if n.SoftLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.CodeSpan:
			code, err := r.code(n)
			if err != nil {
				return "", err
			}
			b.WriteString("`" + code + "`")
		default:
			return "", fmt.Errorf("it holds a %s; put patterns and commands into backquotes, and nothing beside them", n.Kind())
		}
	}
	return b.String(), nil
}

// code returns the text of a code span.
func (r *sectionReader) code(n *ast.CodeSpan) (string, error) {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		t, ok := c.(*ast.Text)
		if !ok {
			return "", errors.New("a code span holds more than text")
		}
		b.Write(t.Segment.Value(r.source))
	}
	code := b.String()
	if strings.ContainsAny(code, "`\n") {
		return "", errors.New("a code span holds a backquote or ends on another line")
	}
	return strings.TrimSpace(code), nil
}

// begin is where the line of a place begins.
func (r *sectionReader) begin(at int) int { return bytes.LastIndexByte(r.source[:at], '\n') + 1 }

// line is the line that a place is on.
func (r *sectionReader) line(at int) string {
	rest := r.source[r.begin(at):]
	if end := bytes.IndexByte(rest, '\n'); end >= 0 {
		rest = rest[:end]
	}
	return string(rest)
}
