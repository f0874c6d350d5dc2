package script

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strconv"

	"github.com/dop251/goja"
)

// deepest is the limit of nested objects in a value that leaves a script.
const deepest = 1000

// decode brings JSON into the script; nothing becomes undefined.
func (m *machine) decode(text json.RawMessage) (goja.Value, error) {
	if len(text) == 0 {
		return goja.Undefined(), nil
	}
	return m.parse(goja.Undefined(), m.rt.ToValue(string(text)))
}

// value brings JSON of the host into the script that is running.
func (m *machine) value(text json.RawMessage) goja.Value {
	v, err := m.decode(text)
	if err != nil {
		m.fail(fmt.Errorf("read what the host answered: %w", err))
		return goja.Undefined()
	}
	return v
}

// encode returns a value as JSON, nothing for undefined. what names it in
// errors.
func (m *machine) encode(v goja.Value, what string) (json.RawMessage, error) {
	if v == nil || goja.IsUndefined(v) {
		return nil, nil
	}
	return m.encodeBy(walk{m: m, inside: make(map[*goja.Object]bool)}, v, what)
}

// encodeLeaving returns a value that leaves a workflow, as JSON. In the form of
// Claude Code it holds the part of the value that JSON keeps, with a warning
// for the rest.
func (m *machine) encodeLeaving(v goja.Value, what string) (json.RawMessage, error) {
	if v == nil || goja.IsUndefined(v) {
		return nil, nil
	}
	w := walk{m: m, inside: make(map[*goja.Object]bool)}
	if m.form() == FormClaude {
		w.dropped = new(int)
	}
	text, err := m.encodeBy(w, v, what)
	if w.dropped != nil && *w.dropped > mostDropped {
		m.warn("%s holds %d more values that JSON drops", what, *w.dropped-mostDropped)
	}
	return text, err
}

// mostDropped is the limit of dropped values that a warning names.
const mostDropped = 3

func (m *machine) encodeBy(w walk, v goja.Value, what string) (json.RawMessage, error) {
	var text goja.Value
	var refused error
	ex := m.rt.Try(func() {
		if refused = w.check(v, what); refused != nil {
			return
		}
		var err error
		if text, err = m.stringify(goja.Undefined(), v); err != nil {
			m.throw(err)
		}
	})
	switch {
	case refused != nil:
		return nil, refused
	case ex != nil:
		return nil, ex
	case w.dropped != nil && (text == nil || goja.IsUndefined(text)):
		return nil, nil
	case text == nil || !goja.IsString(text):
		return nil, fmt.Errorf("%s is not JSON", what)
	}
	return json.RawMessage(text.String()), nil
}

// walk checks a value before it becomes JSON, which would silently drop some of
// the parts it cannot hold.
type walk struct {
	m      *machine
	inside map[*goja.Object]bool
	// dropped counts the parts that JSON drops, for a warning; nil: a dropped
	// part is an error.
	dropped *int
}

// drops is about a value of which JSON keeps only a part, or nothing: {} for a
// promise, and no key at all for a function.
func (w walk) drops(path, is, kept string) error {
	if w.dropped == nil {
		return notJSON(path, is)
	}
	if *w.dropped++; *w.dropped <= mostDropped {
		w.m.warn("%s is %s; it leaves the script as %s", path, is, kept)
	}
	return nil
}

func (w walk) check(v goja.Value, path string) error {
	o, ok := v.(*goja.Object)
	if !ok {
		return w.scalar(v, path)
	}
	if isPromise(o) {
		return w.drops(path, "a promise: an await is missing", "{}")
	}
	if _, ok := goja.AssertFunction(o); ok {
		return w.drops(path, "a function: was it meant to be called?", "undefined")
	}
	if w.inside[o] {
		return notJSON(path, "part of itself: a cycle")
	}
	if len(w.inside) >= deepest {
		return notJSON(path, fmt.Sprintf("more than %d objects deep", deepest))
	}
	if convert, ok := goja.AssertFunction(o.Get("toJSON")); ok {
		v, err := convert(o, w.m.rt.ToValue(""))
		if err != nil {
			w.m.throw(err)
		}
		if other, ok := v.(*goja.Object); !ok || other != o {
			w.inside[o] = true
			defer delete(w.inside, o)
			return w.check(v, path)
		}
	}
	for _, name := range []string{"Map", "Set", "WeakMap", "WeakSet"} {
		if w.m.rt.InstanceOf(o, w.m.classes[name]) {
			return w.drops(path, "a "+name+": spread it into an array or an object", "{}")
		}
	}
	switch o.ClassName() {
	case "Error":
		return w.drops(path, "an error: take its message", "{}")
	case "Number", "String", "Boolean":
		return nil
	}
	w.inside[o] = true
	defer delete(w.inside, o)
	return w.members(o, path)
}

func (w walk) members(o *goja.Object, path string) error {
	list := o.ClassName() == "Array"
	for _, key := range o.Keys() {
		at := path + "." + key
		if list {
			at = path + "[" + key + "]"
		} else if !isName(key) {
			at = path + "[" + strconv.Quote(key) + "]"
		}
		v := o.Get(key)
		if v == nil || goja.IsUndefined(v) {
			continue
		}
		if err := w.check(v, at); err != nil {
			return err
		}
	}
	return nil
}

// scalar returns an error for a value that JSON cannot hold.
func (w walk) scalar(v goja.Value, path string) error {
	if _, ok := v.(*goja.Symbol); ok {
		return w.drops(path, "a symbol", "undefined")
	}
	if v.ExportType() == reflect.TypeFor[*big.Int]() {
		return notJSON(path, "a BigInt: make it a Number or a String")
	}
	return nil
}

func notJSON(path, is string) error {
	return &Error{Name: "TypeError", Message: fmt.Sprintf("%s is %s; only JSON can leave the script", path, is)}
}

// isName reports whether a key can be written behind a dot.
func isName(key string) bool {
	for i, r := range key {
		letter := r == '_' || r == '$' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return key != ""
}

// show is a value as a line for people: text as it is, all else as JSON.
func (m *machine) show(v goja.Value) string {
	if goja.IsString(v) {
		return v.String()
	}
	var text string
	if o, ok := v.(*goja.Object); ok {
		if o.ClassName() == "Error" {
			e := m.describe(o)
			return e.Name + ": " + e.Message
		}
		m.rt.Try(func() {
			s, err := m.stringify(goja.Undefined(), v)
			if err != nil {
				m.throw(err) // the end of the script is no mere error
			}
			if goja.IsString(s) {
				text = s.String()
			}
		})
	}
	if text != "" {
		return text
	}
	if ex := m.rt.Try(func() { text = v.String() }); ex != nil {
		return "a value that cannot be shown"
	}
	return text
}
