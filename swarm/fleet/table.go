package fleet

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"agentswarm/swarm/nearest"
)

// Error is a fault of a test file, with its place.
type Error struct {
	File   string
	Line   int    // 0 where it is not known
	Key    string // empty where it is none
	Reason string
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	b.WriteString(": ")
	if e.Key != "" {
		b.WriteString(e.Key + ": ")
	}
	return b.String() + e.Reason
}

// reader holds the first mistake of a file. After that nothing it reads
// matters any more.
type reader struct {
	file  string
	lines *lines
	err   *Error
}

// fail records the fault of a path.
func (r *reader) fail(path, reason string) {
	if r.err == nil {
		r.err = &Error{File: r.file, Line: r.lines.of[path], Key: last(path), Reason: reason}
	}
}

// table is a table of a file.
type table struct {
	*reader
	path   string
	values map[string]any
}

func (t *table) key(name string) string { return join(t.path, name) }

func (t *table) has(name string) bool {
	_, ok := t.values[name]
	return ok
}

// only refuses every key but the known keys. Of several it names the first in
// the file.
func (t *table) only(known ...string) {
	unknown := ""
	for name := range t.values {
		if slices.Contains(known, name) {
			continue
		}
		line, least := t.lines.of[t.key(name)], t.lines.of[t.key(unknown)]
		if unknown == "" || line < least || line == least && name < unknown {
			unknown = name
		}
	}
	if unknown == "" {
		return
	}
	hint := "known: " + strings.Join(known, ", ")
	if near := nearest.Word(unknown, known); near != "" {
		hint = "did you mean " + near + "?"
	}
	t.fail(t.key(unknown), "unknown key; "+hint)
}

// one refuses more than one of some keys, and none if one is needed.
func (t *table) one(needed bool, names ...string) {
	var given []string
	for _, name := range names {
		if t.has(name) {
			given = append(given, name)
		}
	}
	switch {
	case len(given) > 1:
		t.fail(t.key(given[1]), "only one of "+strings.Join(names, ", ")+" may stand here")
	case len(given) == 0 && needed:
		t.fail(t.path, "needs one of "+strings.Join(names, ", "))
	}
}

func (t *table) text(name string) string {
	v, ok := t.values[name]
	if !ok {
		return ""
	}
	s, ok := v.(string)
	if !ok {
		t.fail(t.key(name), "must be a text, and is "+kind(v))
	}
	return s
}

// need is a text that must be there and not be empty.
func (t *table) need(name string) string {
	s := t.text(name)
	switch {
	case !t.has(name):
		t.fail(t.path, name+" is missing")
	case strings.TrimSpace(s) == "":
		t.fail(t.key(name), "is empty")
	}
	return s
}

func (t *table) pattern(name string) Pattern {
	p, err := ParsePattern(t.text(name))
	if err != nil {
		t.fail(t.key(name), err.Error())
	}
	return p
}

// count is a whole number of at least some value.
func (t *table) count(name string, least int64) int64 {
	v, ok := t.values[name]
	if !ok {
		return 0
	}
	n, ok := v.(int64)
	if !ok || n < least || n > math.MaxInt32 {
		t.fail(t.key(name), fmt.Sprintf("must be a whole number from %d to %d", least, math.MaxInt32))
	}
	return n
}

func (t *table) boolean(name string) bool {
	v, ok := t.values[name]
	if !ok {
		return false
	}
	b, ok := v.(bool)
	if !ok {
		t.fail(t.key(name), "must be true or false, and is "+kind(v))
	}
	return b
}

func (t *table) texts(name string) []string {
	v, ok := t.values[name]
	if !ok {
		return nil
	}
	all, ok := v.([]any)
	if !ok {
		t.fail(t.key(name), "must be a list of texts, and is "+kind(v))
		return nil
	}
	var out []string
	for i, item := range all {
		s, ok := item.(string)
		if !ok {
			t.fail(at(t.key(name), i), "must be a text, and is "+kind(item))
		}
		out = append(out, s)
	}
	return out
}

// files is a table of paths and their texts.
func (t *table) files(name string) map[string]string {
	inner := t.table(name)
	if inner == nil {
		return nil
	}
	out := map[string]string{}
	for _, path := range slices.Sorted(maps.Keys(inner.values)) {
		inner.within(path)
		out[path] = inner.text(path)
	}
	return out
}

// within refuses a path that does not lie within a repository.
func (t *table) within(path string) {
	if !inside(path) {
		t.fail(t.key(path), "is not a path within the repository")
	}
}

// table returns an inner table; nil: there is none.
func (t *table) table(name string) *table {
	v, ok := t.values[name]
	if !ok {
		return nil
	}
	values, ok := v.(map[string]any)
	if !ok {
		t.fail(t.key(name), "must be a table, and is "+kind(v))
		return nil
	}
	return &table{reader: t.reader, path: t.key(name), values: values}
}

// tables are the tables of a list.
func (t *table) tables(name string) []*table {
	v, ok := t.values[name]
	if !ok {
		return nil
	}
	all, ok := v.([]any)
	if !ok {
		t.fail(t.key(name), "must be a list of tables ([["+generic(t.key(name))+"]]), and is "+kind(v))
		return nil
	}
	var out []*table
	for i, item := range all {
		values, ok := item.(map[string]any)
		if !ok {
			t.fail(at(t.key(name), i), "must be a table, and is "+kind(item))
			return nil
		}
		out = append(out, &table{reader: t.reader, path: at(t.key(name), i), values: values})
	}
	return out
}

// value returns any value as JSON: that of a name, or the JSON of name_json,
// which can express null.
func (t *table) value(name string) json.RawMessage {
	t.one(false, name, name+"_json")
	if s := t.text(name + "_json"); t.has(name + "_json") {
		var compact json.RawMessage
		if err := json.Unmarshal([]byte(s), &compact); err != nil {
			t.fail(t.key(name+"_json"), "is not JSON: "+err.Error())
		}
		return compact
	}
	v, ok := t.values[name]
	if !ok {
		return nil
	}
	if bad := unlike(t.key(name), v); bad != "" {
		t.fail(bad, "has no like in JSON; write it as a text")
		return nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.fail(t.key(name), err.Error())
	}
	return text
}

// unlike is the path of a value that JSON has no word for.
func unlike(path string, v any) string {
	switch v := v.(type) {
	case string, bool, int64:
		return ""
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return path
		}
		return ""
	case []any:
		for i, item := range v {
			if bad := unlike(at(path, i), item); bad != "" {
				return bad
			}
		}
		return ""
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if bad := unlike(join(path, name), v[name]); bad != "" {
				return bad
			}
		}
		return ""
	default: // dates and times
		return path
	}
}

// kind is the name of a value's type in messages.
func kind(v any) string {
	switch v.(type) {
	case string:
		return "a text"
	case bool:
		return "true or false"
	case int64, float64:
		return "a number"
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	default:
		return "a date or time"
	}
}

// generic is a path without its numbers.
func generic(path string) string {
	var b strings.Builder
	skip := false
	for _, c := range strings.ReplaceAll(path, sep, ".") {
		switch {
		case c == '[':
			skip = true
		case c == ']':
			skip = false
		case !skip:
			b.WriteRune(c)
		}
	}
	return b.String()
}
