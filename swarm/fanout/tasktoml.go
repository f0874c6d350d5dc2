package fanout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// tables hands on the tables [[tasks]] of a TOML file. They are read from the
// parser of go-toml and not by its decoder, which knows no lines, and takes
// time that grows with the square of the number of tables. Only the decoder
// refuses a name that stands there twice, or an invalid date. A task may hold
// neither, or narrowing finds it.
type tables struct {
	*TasksRequest
	parser   unstable.Parser
	newlines []int // offsets
	yield    func(record) *TaskError
	here     *record // nil before the first table
	start    int     // its offset
}

// toml hands on each table [[tasks]].
func (r *TasksRequest) toml(yield func(record) *TaskError) *TaskError {
	t := &tables{TasksRequest: r, yield: yield}
	for i, b := range r.Text {
		if b == '\n' {
			t.newlines = append(t.newlines, i)
		}
	}
	t.parser.Reset(r.Text)
	for t.parser.NextExpression() {
		if err := t.expression(t.parser.Expression()); err != nil {
			return err
		}
	}
	if err := t.parser.Error(); err != nil {
		return t.broken(err)
	}
	return t.flush(len(r.Text))
}

func (t *tables) expression(e *unstable.Node) *TaskError {
	names, at := key(e)
	line := t.lineAt(at)
	switch e.Kind {
	case unstable.ArrayTable:
		if !slices.Equal(names, []string{tasksKey}) {
			return t.misplaced(line, names)
		}
		if err := t.flush(at); err != nil {
			return err
		}
		t.here, t.start = &record{line: line}, at
		return nil
	case unstable.Table:
		return t.misplaced(line, names)
	case unstable.KeyValue:
		if t.here == nil {
			return t.misplaced(line, names)
		}
		t.here.fields = append(t.here.fields, recordField{
			name: strings.Join(names, "."), line: line, value: plainValue(e.Value()),
		})
		return nil
	default:
		panic(fmt.Sprintf("unhandled %s", e.Kind))
	}
}

// tasksKey is the name of the tables.
const tasksKey = "tasks"

// key reads the parts of a key, and where it stands.
func key(e *unstable.Node) (names []string, at int) {
	for parts := e.Key(); parts.Next(); {
		part := parts.Node()
		if len(names) == 0 {
			at = int(part.Raw.Offset)
		}
		names = append(names, string(part.Data))
	}
	return names, at
}

// misplaced refuses whatever is not within a table [[tasks]].
func (t *tables) misplaced(line int, names []string) *TaskError {
	name := fieldName(strings.Join(names, "."))
	switch {
	case names[0] == tasksKey && len(names) == 1:
		return t.wrong(line, name, "each task is a table of its own, [[tasks]]")
	case slices.Contains(fieldNames(), names[0]):
		return t.wrong(line, name, "is outside of a task; [[tasks]] begins a task")
	default:
		return t.wrong(line, name, "unknown table or field"+didYouMean(names[0], []string{tasksKey}))
	}
}

// flush hands on the table that ends at an offset.
func (t *tables) flush(end int) *TaskError {
	if t.here == nil {
		return nil
	}
	if end-t.start > MaxTaskText {
		return t.wrong(t.here.line, "", fmt.Sprintf("is longer than %d MiB", MaxTaskText>>20))
	}
	return t.yield(*t.here)
}

// broken is an error of the parser as a fault of the list.
func (t *tables) broken(err error) *TaskError {
	at := t.start
	reason := err.Error()
	if e, ok := errors.AsType[*unstable.ParserError](err); ok {
		reason = e.Message
		// The parser marks a part of the text it was given.
		if offset := cap(t.Text) - cap(e.Highlight); offset >= 0 && offset <= len(t.Text) {
			at = offset
		}
	}
	return t.wrong(t.lineAt(at), "", "is not valid TOML: "+strings.TrimPrefix(reason, "toml: "))
}

// lineAt is the line of an offset. A fault at the end of the text is on its
// last line.
func (t *tables) lineAt(offset int) int {
	if offset == len(t.Text) && bytes.HasSuffix(t.Text, []byte("\n")) {
		offset--
	}
	return sort.SearchInts(t.newlines, offset) + 1
}

// plainValue copies a value: the parser's data is gone with its next step.
func plainValue(n *unstable.Node) any {
	switch n.Kind {
	case unstable.String:
		return string(n.Data)
	case unstable.Bool:
		return string(n.Data) == "true"
	case unstable.Integer, unstable.Float:
		return json.Number(n.Data)
	case unstable.Array:
		all := []any{}
		for items := n.Children(); items.Next(); {
			all = append(all, plainValue(items.Node()))
		}
		return all
	case unstable.InlineTable:
		return other("a table")
	default:
		return other("a date or time")
	}
}
