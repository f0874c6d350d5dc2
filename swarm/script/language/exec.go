package language

import (
	"strings"
	"unicode/utf16"

	"github.com/dop251/goja"
)

// unitsOf are the UTF-16 units of a text.
func unitsOf(s goja.String) []uint16 {
	units := make([]uint16, s.Length())
	for i := range units {
		units[i] = s.CharAt(i)
	}
	return units
}

// unitsKey returns a text that no other units have. A lone half of a pair has
// no place in a Go string.
func unitsKey(units []uint16) string {
	key := make([]byte, 0, 2*len(units))
	for _, u := range units {
		key = append(key, byte(u>>8), byte(u))
	}
	return string(key)
}

// subject is a text that is matched. A loop over its matches comes with the
// same text again and again.
func (r *regexps) subject(s goja.String) []uint16 {
	if r.text == nil || r.text.Length() != s.Length() || !r.text.StrictEquals(s) {
		r.text, r.units = s, unitsOf(s)
	}
	return r.units
}

// doTest is RegExp.prototype.test: it asks exec, which a script may replace.
func (r *regexps) doTest(call goja.FunctionCall) goja.Value {
	o, ok := call.This.(*goja.Object)
	if !ok {
		r.throw("TypeError", "RegExp.prototype.test is called on what is no object")
	}
	exec, ok := goja.AssertFunction(o.Get("exec"))
	if !ok || o.Get("exec") == r.exec {
		_, found := r.match(call)
		return r.rt.ToValue(found != nil)
	}
	v, err := exec(o, call.Argument(0).ToString())
	r.must(err)
	return r.rt.ToValue(!goja.IsNull(v))
}

// doExec is RegExp.prototype.exec.
func (r *regexps) doExec(call goja.FunctionCall) goja.Value {
	text, found := r.match(call)
	if found == nil {
		return goja.Null()
	}
	e := r.find(call.This)
	items := make([]any, 0, e.Groups+1)
	for g := range e.Groups + 1 {
		items = append(items, r.captured(text, found, g))
	}
	out := r.rt.NewArray(items...)
	r.must(out.Set("index", found[0]))
	r.must(out.Set("input", text))
	r.must(out.Set("groups", r.named(e, func(g int) goja.Value { return r.captured(text, found, g) })))
	if strings.Contains(e.Flags, "d") {
		r.must(out.Set("indices", r.indices(e, found)))
	}
	return out
}

// captured is the text of a group.
func (r *regexps) captured(text goja.String, found []int, group int) goja.Value {
	if found[2*group] < 0 {
		return goja.Undefined()
	}
	return text.Substring(found[2*group], found[2*group+1])
}

// named is the object of the named groups.
func (r *regexps) named(e *expression, value func(group int) goja.Value) goja.Value {
	if len(e.Names) == 0 {
		return goja.Undefined()
	}
	o := r.rt.CreateObject(nil)
	for _, n := range e.Names {
		v := goja.Undefined()
		for _, g := range n.Groups {
			if x := value(g); !goja.IsUndefined(x) {
				v = x
			}
		}
		r.must(o.Set(n.Name, v))
	}
	return o
}

// indices are the bounds of the groups, for the flag d.
func (r *regexps) indices(e *expression, found []int) goja.Value {
	bounds := func(g int) goja.Value {
		if found[2*g] < 0 {
			return goja.Undefined()
		}
		return r.rt.NewArray(found[2*g], found[2*g+1])
	}
	items := make([]any, 0, e.Groups+1)
	for g := range e.Groups + 1 {
		items = append(items, bounds(g))
	}
	out := r.rt.NewArray(items...)
	r.must(out.Set("groups", r.named(e, bounds)))
	return out
}

// match finds the next match and moves lastIndex. Nil is that there is none.
func (r *regexps) match(call goja.FunctionCall) (goja.String, []int) {
	e := r.find(call.This)
	if e == nil {
		r.throw("TypeError", "RegExp.prototype.exec is called on another object")
	}
	o := call.This.ToObject(r.rt)
	text := call.Argument(0).ToString().(goja.String)
	at := int(max(0, o.Get("lastIndex").ToInteger()))
	sticky := strings.Contains(e.Flags, "y")
	moves := sticky || strings.Contains(e.Flags, "g")
	if !moves {
		at = 0
	}
	var found []int
	if at <= text.Length() {
		units := r.subject(text)
		inside := at > 0 && at < len(units) && utf16.DecodeRune(rune(units[at-1]), rune(units[at])) != 0xFFFD
		if inside && moves && e.Wide() {
			at-- // as in V8, a match begins at the pair
		}
		var err error
		found, err = e.Match(units, at, sticky, r.interrupted)
		r.must(err)
	}
	if found != nil {
		r.matched, r.matchedIn = found, text
	}
	switch {
	case !moves:
	case found == nil:
		r.must(o.Set("lastIndex", 0))
	default:
		r.must(o.Set("lastIndex", found[1]))
	}
	return text, found
}

// interrupted reports that the script is to end: a match may take long.
func (r *regexps) interrupted() error {
	_, err := r.idle(goja.Undefined())
	return err
}
