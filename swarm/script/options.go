package script

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"agentswarm/swarm/nearest"

	"github.com/dop251/goja"
)

// options are the options of a call, as a script gave them. An undefined or
// null option counts as not given.
type options struct {
	m     *machine
	what  string // the call, for messages
	given map[string]goja.Value
}

// options takes v as the options of a call, which may be left out. A key that
// is not known is refused. In the form of Claude Code it is passed over with a
// warning, and so is a v that is no object.
func (m *machine) options(what string, v goja.Value, known ...string) (options, error) {
	return m.readOptions(optionsRequest{what: what, v: v, known: known, lenient: m.form() == FormClaude})
}

// optionsRequest describes the reading of a call's options.
type optionsRequest struct {
	what    string
	v       goja.Value
	known   []string
	lenient bool // keys that are not known are passed over with a warning
}

func (m *machine) readOptions(r optionsRequest) (options, error) {
	what, known := r.what, r.known
	o := options{m: m, what: what}
	if absent(r.v) {
		return o, nil
	}
	obj, ok := r.v.(*goja.Object)
	if !ok || obj.ClassName() == "Array" || isFunction(obj) {
		err := invalid("%s: options are %s, not an object", what, kindOf(r.v))
		if m.form() == FormClaude {
			m.warnHere("%v", err)
			return o, nil
		}
		return o, err
	}
	o.given = make(map[string]goja.Value)
	for _, key := range obj.Keys() {
		value := obj.Get(key)
		switch {
		case absent(value):
		case slices.Contains(known, key):
			o.given[key] = value
		case r.lenient:
			hint := "; it is passed over"
			if near := meantOption(key, known); near != "" {
				hint = "; did you mean " + near + "?"
			}
			m.warnHere("%s: unknown option %q%s", what, key, hint)
		default:
			return o, unknownOption(what, key, known)
		}
	}
	return o, nil
}

// meantOption returns the known option near an unknown one, as messages name
// it; empty if none is near.
func meantOption(key string, known []string) string {
	if (key == "timeout" || key == "timeoutMs") && slices.Contains(known, "limits") {
		return "limits.ms"
	}
	if near := nearest.Word(key, known); near != "" {
		return strconv.Quote(near)
	}
	return ""
}

// unknownOption returns the error for an unknown option, with the option that
// was meant.
func unknownOption(what, key string, known []string) error {
	if near := meantOption(key, known); near != "" {
		return invalid("%s: unknown option %q; did you mean %s?", what, key, near)
	}
	if len(known) == 0 {
		return invalid("%s: unknown option %q; it has none", what, key)
	}
	return invalid("%s: unknown option %q; there are %s", what, key, strings.Join(known, ", "))
}

func absent(v goja.Value) bool {
	return v == nil || goja.IsUndefined(v) || goja.IsNull(v)
}

func isFunction(v goja.Value) bool {
	_, ok := goja.AssertFunction(v)
	return ok
}

// kindOf returns the kind of a value, for messages.
func kindOf(v goja.Value) string {
	switch {
	case v == nil || goja.IsUndefined(v):
		return "undefined"
	case goja.IsNull(v):
		return "null"
	case goja.IsString(v):
		return "a string"
	case goja.IsNumber(v):
		return "a number"
	case isFunction(v):
		return "a function"
	}
	o, ok := v.(*goja.Object)
	switch {
	case !ok:
		return v.String()
	case o.ClassName() == "Array":
		return "an array"
	case isPromise(o):
		return "a promise (an await is missing)"
	}
	if tag := o.GetSymbol(goja.SymToStringTag); tag != nil && (tag.String() == "Set" || tag.String() == "Map") {
		return "a " + tag.String()
	}
	return "an object"
}

// get is an option, nil where it was not given.
func (o options) get(key string) goja.Value { return o.given[key] }

func (o options) refuse(key string, v goja.Value, want string) error {
	return invalid("%s: %s must be %s, not %s", o.what, key, want, kindOf(v))
}

// text is an option that is a string with something in it.
func (o options) text(key string) (string, error) {
	v := o.get(key)
	if v == nil {
		return "", nil
	}
	if !goja.IsString(v) {
		return "", o.refuse(key, v, "a string")
	}
	if strings.TrimSpace(v.String()) == "" {
		return "", invalid("%s: %s is empty", o.what, key)
	}
	return v.String(), nil
}

// word returns an option of an agent that is a string. The value false or an
// empty string counts as not given. If the option only names the agent, a
// number is taken as a text, and in the form of Claude Code any other value.
func (o options) word(key string) (string, error) {
	v := o.get(key)
	naming := key == "label" || key == "phase" || key == "id"
	_, isObject := v.(*goja.Object)
	switch {
	case v == nil || isBlank(v):
		return "", nil
	case goja.IsString(v):
		return v.String(), nil
	case naming && !isObject && goja.IsNumber(v):
		return v.String(), nil
	case naming && o.m.form() == FormClaude:
		return clip(o.m.show(v)), nil
	default:
		return "", o.refuse(key, v, "a string")
	}
}

// isBlank reports whether a value is how scripts say that they give none: false,
// as in cond && value, or a string of blanks.
func isBlank(v goja.Value) bool {
	if goja.IsString(v) {
		return strings.TrimSpace(v.String()) == ""
	}
	return isBool(v) && !v.ToBoolean()
}

func isBool(v goja.Value) bool {
	_, isObject := v.(*goja.Object)
	return !isObject && v.ExportType() != nil && v.ExportType().Kind() == reflect.Bool
}

// texts is an option that is a list of strings.
func (o options) texts(key string) ([]string, error) {
	v := o.get(key)
	if v == nil {
		return nil, nil
	}
	return o.m.texts(o.what+": "+key, v)
}

// words returns a list of strings. A single string stands for a list of one.
func (o options) words(key string) ([]string, error) {
	if v := o.get(key); v != nil && goja.IsString(v) && v.String() != "" {
		return []string{v.String()}, nil
	}
	return o.texts(key)
}

// texts takes v as a list of strings that are not empty, with at least one
// item.
func (m *machine) texts(what string, v goja.Value) ([]string, error) {
	list, ok := elements(v)
	if !ok {
		return nil, invalid("%s must be a list of strings, not %s", what, kindOf(v))
	}
	if n := len(list); n == 0 || n > mostItems {
		return nil, invalid("%s must have from 1 to %d items", what, mostItems)
	}
	out := make([]string, len(list))
	for i, e := range list {
		if e == nil || !goja.IsString(e) || e.String() == "" {
			return nil, invalid("%s[%d] must be a string that is not empty, not %s", what, i, kindOf(e))
		}
		out[i] = e.String()
	}
	return out, nil
}

// elements returns the elements of an array, up to [mostItems] and one more.
func elements(v goja.Value) ([]goja.Value, bool) {
	o, ok := v.(*goja.Object)
	if !ok || o.ClassName() != "Array" {
		return nil, false
	}
	list := make([]goja.Value, min(length(o), mostItems+1))
	for i := range list {
		list[i] = o.Get(index(i))
	}
	return list, true
}

// flag is an option that is true or false; nil where it was not given.
func (o options) flag(key string) (*bool, error) {
	v := o.get(key)
	if v == nil {
		return nil, nil
	}
	if !isBool(v) {
		return nil, o.refuse(key, v, "true or false")
	}
	b := v.ToBoolean()
	return &b, nil
}

// number returns an option that is a number from least to most. It must be
// whole unless least is not.
func (o options) number(key string, least, most float64) (float64, bool, error) {
	v := o.get(key)
	if v == nil {
		return 0, false, nil
	}
	if !goja.IsNumber(v) {
		return 0, false, o.refuse(key, v, "a number")
	}
	f := v.ToFloat()
	whole := least == math.Trunc(least)
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0), whole && f != math.Trunc(f), f < least, f > most:
		want := "a whole number"
		if !whole {
			want = "a number"
		}
		return 0, false, invalid("%s: %s must be %s from %v to %v, not %v", o.what, key, want, least, most, f)
	}
	return f, true, nil
}

// longest is how many milliseconds anything in a script may take: 30 days.
const longest = 30 * 24 * 60 * 60 * 1000

// duration is an option in milliseconds; 0 where it was not given.
func (o options) duration(key string) (int64, error) {
	f, _, err := o.number(key, 1, longest)
	return int64(f), err
}

// object is an option that is an object of further options.
func (o options) object(key string, known ...string) (options, error) {
	return o.m.options(o.what+": "+key, o.get(key), known...)
}
