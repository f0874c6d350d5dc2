package config

import (
	"bytes"
	"errors"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// maxDepth is how deep tables and arrays may nest; version 1 needs four
// levels. It also keeps hostile depth away from everything that recurses.
const maxDepth = 8

// node is a value of a document, with its line.
type node struct {
	kind   unstable.Kind // Table for every table, inline or not
	line   int
	text   string           // of a scalar
	items  []*node          // of an array
	names  []string         // of a table, in the order of the file
	fields map[string]*node // of a table
}

// child returns the value of that name and makes it where it is missing. It
// works on any kind: conflicts are found by the strict parser afterwards.
func (n *node) child(name string, line int) *node {
	if c, ok := n.fields[name]; ok {
		return c
	}
	if n.fields == nil {
		n.fields = map[string]*node{}
	}
	c := &node{kind: unstable.Table, line: line}
	n.fields[name] = c
	n.names = append(n.names, name)
	return c
}

// document builds the tree of a file. The decoder of go-toml reports positions
// only for its own errors. So the tree is built from its parser, which knows
// them all, and the decoder then proves that the file is valid TOML.
type document struct {
	file     string
	parser   unstable.Parser
	newlines []int // offsets
}

// parse returns the root table of a source.
func parse(s Source) (*node, error) {
	d := &document{file: s.Name}
	if len(s.Text) > MaxSize {
		return nil, d.wrong(0, fmt.Sprintf("is longer than %d bytes", MaxSize))
	}
	// Some editors put a byte order mark first; TOML has no word for it.
	text := bytes.TrimPrefix(s.Text, []byte("\ufeff"))
	for i, b := range text {
		if b == '\n' {
			d.newlines = append(d.newlines, i)
		}
	}
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && width == 1 {
			return nil, d.wrong(d.lineAt(i), "is not valid UTF-8")
		}
		i += width
	}
	root, err := d.build(text)
	if err != nil {
		return nil, err
	}
	var whole map[string]any
	if err := toml.Unmarshal(text, &whole); err != nil {
		line := 0
		if at, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, _ = at.Position()
		}
		return nil, d.wrong(line, strings.TrimPrefix(err.Error(), "toml: "))
	}
	return root, nil
}

// build reads up to the first error of syntax. It leaves the report to the
// decoder, whose messages are better.
func (d *document) build(text []byte) (*node, error) {
	root := &node{kind: unstable.Table, line: 1}
	here := root
	d.parser.Reset(text)
	for d.parser.NextExpression() {
		e := d.parser.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			n, _, err := d.descend(root, e.Key(), 0)
			if err != nil {
				return nil, err
			}
			// A table may have been mentioned by a table inside it before;
			// its own header is the line that people look for.
			n.kind = e.Kind
			n.line = d.line(e.Child())
			here = n
		case unstable.KeyValue:
			if err := d.assign(here, e, 0); err != nil {
				return nil, err
			}
		default:
			panic(fmt.Sprintf("unhandled %s", e.Kind))
		}
	}
	return root, nil
}

// descend follows a dotted key and returns its node and depth.
func (d *document) descend(n *node, key unstable.Iterator, depth int) (*node, int, error) {
	for key.Next() {
		part := key.Node()
		line := d.line(part)
		if depth++; depth > maxDepth {
			return nil, 0, d.wrong(line, fmt.Sprintf("nests more than %d levels", maxDepth))
		}
		n = n.child(string(part.Data), line)
	}
	return n, depth, nil
}

// assign puts a key and its value into a table.
func (d *document) assign(n *node, pair *unstable.Node, depth int) error {
	target, depth, err := d.descend(n, pair.Key(), depth)
	if err != nil {
		return err
	}
	return d.fill(target, pair.Value(), depth)
}

// fill gives a node its value.
func (d *document) fill(n *node, value *unstable.Node, depth int) error {
	if depth > maxDepth {
		return d.wrong(n.line, fmt.Sprintf("nests more than %d levels", maxDepth))
	}
	n.kind = value.Kind
	children := value.Children()
	switch value.Kind {
	case unstable.InlineTable:
		n.kind = unstable.Table
		for children.Next() {
			if err := d.assign(n, children.Node(), depth); err != nil {
				return err
			}
		}
	case unstable.Array:
		for children.Next() {
			item := &node{line: n.line}
			if children.Node().Raw.Length > 0 {
				item.line = d.line(children.Node())
			}
			n.items = append(n.items, item)
			if err := d.fill(item, children.Node(), depth+1); err != nil {
				return err
			}
		}
	default:
		// The data of the parser is gone with its next expression.
		n.text = string(value.Data)
	}
	return nil
}

func (d *document) line(n *unstable.Node) int {
	return d.lineAt(int(n.Raw.Offset))
}

func (d *document) lineAt(offset int) int {
	return sort.SearchInts(d.newlines, offset) + 1
}

func (d *document) wrong(line int, reason string) error {
	return &Error{File: d.file, Line: line, Reason: clipTo(reason, maxReason)}
}
