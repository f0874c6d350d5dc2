package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// ErrByHand is that a key is written in a form which [Set] does not change, such
// as an inline table.
var ErrByHand = errors.New("has a form that only a person can change")

// Set returns the text of a source with a key, such as "limits.jobs", set to a
// value. All else stays as it is, comments included. The value is taken as TOML
// where it is valid for the key, else as a string. A change that makes the file
// worse is an error: [*Error] values, joined, or [ErrByHand].
func Set(s Source, key, value string) ([]byte, error) {
	path := strings.Split(key, ".")
	if slices.Contains(path, "") {
		return nil, &Error{File: s.Name, Reason: fmt.Sprintf("%q is not the name of a key", key)}
	}
	before := Check(s)
	var wrong error
	for _, literal := range literals(value) {
		text, err := set(s, path, literal)
		if err != nil {
			return nil, err
		}
		changed := s
		changed.Text = text
		found := Check(changed)
		if len(found) <= len(before) {
			return text, nil
		}
		if wrong == nil { // the error of the typed form says most
			wrong = worse(before, found)
		}
	}
	return nil, wrong
}

// literals are the ways to read a value, the likeliest first.
func literals(value string) []string {
	quoted := tomlString(value)
	if !strings.Contains(value, "\n") && toml.Unmarshal([]byte("x = "+value), &map[string]any{}) == nil {
		return []string{value, quoted}
	}
	return []string{quoted}
}

// worse are the mistakes that a change has brought.
func worse(before, after []*Error) error {
	var errs []error
	for _, e := range after {
		old := slices.ContainsFunc(before, func(b *Error) bool { return b.Key == e.Key && b.Reason == e.Reason })
		if !old {
			errs = append(errs, e)
		}
	}
	return errors.Join(errs...)
}

// set writes a literal where the key stands, or where it belongs.
func set(s Source, path []string, literal string) ([]byte, error) {
	root, err := parse(s)
	if err != nil {
		return nil, err
	}
	text := s.Text
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		text = append(slices.Clone(text), '\n')
	}
	lines := slices.Collect(bytes.Lines(text))
	table, name := path[:len(path)-1], path[len(path)-1]
	if at := root.find(path); at != nil {
		return replace(s, lines, replacement{line: at.line - 1, path: path, literal: literal})
	}
	added := []byte(tomlKey(name) + " = " + literal + "\n")
	if len(table) == 0 {
		return bytes.Join(slices.Insert(lines, 0, added), nil), nil
	}
	if at := header(lines, root.find(table), table); at >= 0 {
		return bytes.Join(slices.Insert(lines, at+1, added), nil), nil
	}
	if root.find(table) != nil && !root.find(table).onlyTables() {
		return nil, fmt.Errorf("%s: %s %w", s.Name, strings.Join(table, "."), ErrByHand)
	}
	gap := ""
	if len(lines) > 0 {
		gap = "\n"
	}
	names := make([]string, len(table))
	for i, n := range table {
		names[i] = tomlKey(n)
	}
	return append(bytes.Join(lines, nil), []byte(gap+"["+strings.Join(names, ".")+"]\n"+string(added))...), nil
}

// find is the value at a path; nil for none.
func (n *node) find(path []string) *node {
	for _, name := range path {
		if n = n.fields[name]; n == nil {
			return nil
		}
	}
	return n
}

// onlyTables reports whether a table holds nothing but tables: it may have no
// header.
func (n *node) onlyTables() bool {
	for _, child := range n.fields {
		if child.fields == nil {
			return false
		}
	}
	return n.fields != nil
}

// header is the index of the line "[table]"; -1 for none.
func header(lines [][]byte, n *node, table []string) int {
	if n == nil {
		return -1
	}
	for i := max(n.line-1, 0); i < len(lines); i++ {
		if !bytes.HasPrefix(bytes.TrimSpace(lines[i]), []byte("[")) {
			continue
		}
		var tree map[string]any
		if toml.Unmarshal(lines[i], &tree) == nil && isOnly(tree, table) {
			return i
		}
	}
	return -1
}

// isOnly reports whether a tree is nothing but an empty table at a path.
func isOnly(tree map[string]any, path []string) bool {
	for _, name := range path {
		child, ok := tree[name].(map[string]any)
		if !ok || len(tree) != 1 {
			return false
		}
		tree = child
	}
	return len(tree) == 0
}

// replacement is a value that takes the place of another.
type replacement struct {
	line    int // the index of the line on which the old value begins
	path    []string
	literal string
}

// replace changes the value of a key that is there. A remark behind it stays.
func replace(s Source, lines [][]byte, r replacement) ([]byte, error) {
	byHand := fmt.Errorf("%s: %s %w", s.Name, strings.Join(r.path, "."), ErrByHand)
	if r.line < 0 || r.line >= len(lines) {
		return nil, byHand
	}
	for end := r.line + 1; end <= len(lines); end++ {
		old := bytes.Join(lines[r.line:end], nil)
		var tree map[string]any
		if toml.Unmarshal(old, &tree) != nil {
			continue // it goes on
		}
		left, ok := keyOf(old, tree, r.path)
		if !ok {
			return nil, byHand
		}
		changed := append(slices.Clone(left), []byte(" "+r.literal+remark(old)+"\n")...)
		return bytes.Join(slices.Concat(lines[:r.line], [][]byte{changed}, lines[end:]), nil), nil
	}
	return nil, byHand
}

// keyOf is the part of "key = value" up to the equals sign, if it is a single
// value whose key ends the path.
func keyOf(text []byte, tree map[string]any, path []string) ([]byte, bool) {
	for i, b := range text {
		if b != '=' {
			continue
		}
		left := text[:i+1]
		var key map[string]any
		if toml.Unmarshal(append(slices.Clone(left), []byte(" 0\n")...), &key) != nil {
			continue
		}
		names := only(key)
		return left, len(names) > 0 && len(names) <= len(path) &&
			slices.Equal(names, path[len(path)-len(names):]) && len(only(tree)) >= len(names)
	}
	return nil, false
}

// only is the path to the single value of a tree; nil where there are several.
func only(tree map[string]any) []string {
	var path []string
	for {
		if len(tree) != 1 {
			return path
		}
		for name, child := range tree {
			path = append(path, name)
			next, ok := child.(map[string]any)
			if !ok {
				return path
			}
			tree = next
		}
	}
}

// remark is the comment behind a value on a single line, with the blank before it.
func remark(line []byte) string {
	text := strings.TrimRight(string(line), "\r\n")
	if strings.Contains(text, "\n") {
		return ""
	}
	for i := range len(text) {
		if text[i] == '#' && toml.Unmarshal([]byte(text[:i]), &map[string]any{}) == nil {
			return " " + text[i:]
		}
	}
	return ""
}

// tomlKey is a name as it stands before an equals sign.
func tomlKey(name string) string {
	for _, r := range name {
		bare := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
		if !bare {
			return `"` + tomlEscape(name, "") + `"`
		}
	}
	return name
}
