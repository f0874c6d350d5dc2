package fleet

import (
	"bytes"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// maxDepth bounds the nesting of values. It keeps hostile depth away from
// everything that recurses.
const maxDepth = 64

// lines knows on which line of a file each key stands. The decoder of go-toml
// knows positions only of its own errors; its parser knows all of them.
type lines struct {
	parser   unstable.Parser
	newlines []int          // offsets
	of       map[string]int // by path: case[0], agent[1], reply with sep between
	tables   map[string]int // how many [[tables]] of a path there are so far
	deep     int            // the line on which something nests too deep; 0: none
}

// linesOf reads as far as the syntax is right; the decoder reports syntax
// errors.
func linesOf(text []byte) *lines {
	l := &lines{of: map[string]int{}, tables: map[string]int{}}
	for i, b := range text {
		if b == '\n' {
			l.newlines = append(l.newlines, i)
		}
	}
	here := ""
	l.parser.Reset(text)
	for l.parser.NextExpression() {
		e := l.parser.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			here = l.header(e)
		case unstable.KeyValue:
			l.pair(here, e, 0)
		default:
			panic(fmt.Sprintf("unhandled %s", e.Kind))
		}
	}
	return l
}

// header notes a table and returns its path. Each part of it that is a list
// of tables means the last of them.
func (l *lines) header(e *unstable.Node) string {
	here, line, depth := "", 0, 0
	for parts := e.Key(); parts.Next(); {
		part := parts.Node()
		line = l.line(part)
		if depth++; depth > maxDepth {
			l.tooDeep(line)
			return here
		}
		here = join(here, string(part.Data))
		if parts.IsLast() {
			break
		}
		if n := l.tables[here]; n > 0 {
			here = at(here, n-1)
		}
	}
	if e.Kind == unstable.ArrayTable {
		l.note(here, line)
		l.tables[here]++
		here = at(here, l.tables[here]-1)
	}
	l.note(here, line)
	return here
}

// pair notes a key and all that stands in its value.
func (l *lines) pair(here string, e *unstable.Node, depth int) {
	for parts := e.Key(); parts.Next(); {
		part := parts.Node()
		if depth++; depth > maxDepth {
			l.tooDeep(l.line(part))
			return
		}
		here = join(here, string(part.Data))
		l.note(here, l.line(part))
	}
	l.value(here, e.Value(), depth)
}

// tooDeep notes the first line that nests too deep.
func (l *lines) tooDeep(line int) {
	if l.deep == 0 {
		l.deep = line
	}
}

func (l *lines) value(here string, v *unstable.Node, depth int) {
	if depth > maxDepth {
		l.tooDeep(l.of[here])
		return
	}
	switch v.Kind {
	case unstable.InlineTable:
		for pairs := v.Children(); pairs.Next(); {
			l.pair(here, pairs.Node(), depth)
		}
	case unstable.Array:
		n := 0
		for items := v.Children(); items.Next(); n++ {
			item := items.Node()
			line := l.of[here]
			if item.Raw.Length > 0 {
				line = l.line(item)
			}
			l.note(at(here, n), line)
			l.value(at(here, n), item, depth+1)
		}
	default: // a scalar stands where its key stands
	}
}

// note keeps the first line of a path: a table may be mentioned again.
func (l *lines) note(path string, line int) {
	if _, known := l.of[path]; !known {
		l.of[path] = line
	}
}

func (l *lines) line(n *unstable.Node) int {
	return sort.SearchInts(l.newlines, int(n.Raw.Offset)) + 1
}

// sep stands between the keys of a path. A file name, which has dots, may be
// a key.
const sep = "\x00"

// join and at build the paths of keys.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + sep + key
}

func at(path string, n int) string { return path + "[" + strconv.Itoa(n) + "]" }

// plain is text without the byte order mark that some editors put first.
func plain(text []byte) []byte {
	return bytes.TrimPrefix(text, []byte("\ufeff"))
}

// last is the last key of a path, as messages name it.
func last(path string) string {
	return path[strings.LastIndex(path, sep)+len(sep):]
}
