package language

import (
	"fmt"
	"strings"

	"github.com/dop251/goja"

	"agentswarm/swarm/script/regex"
)

// Regexp is the name of the global function that a regular expression in the
// text of a script becomes a call of. No script can spell it.
const Regexp = "%regexp"

// expression is a regular expression of a script.
type expression struct {
	*regex.Program
	source goja.String
}

// nativeFlags are the flags that the engine knows.
var nativeFlags = [...]struct{ letter, name string }{
	{"g", "global"}, {"i", "ignoreCase"}, {"m", "multiline"}, {"s", "dotAll"}, {"u", "unicode"}, {"y", "sticky"},
}

// mostPrograms bounds the patterns that are kept in case they come again.
const mostPrograms = 256

// regexps replaces the matching of the engine, which differs from the standard
// in many places. The objects remain those of the engine.
type regexps struct {
	*installer
	native   *goja.Object // RegExp of the engine
	class    *goja.Object // RegExp as scripts see it
	proto    *goja.Object
	exec     *goja.Object
	idle     goja.Callable // a call that ends where the script is interrupted
	get, put goja.Callable // the expressions, by object
	all      goja.Value
	source   goja.Callable // the getter of the engine
	flags    [len(nativeFlags)]goja.Callable

	programs  map[string]*regex.Program
	last      *goja.Object // looked up most recently
	lastFound *expression
	text      goja.String // looked through most recently, with its units
	units     []uint16
	matched   []int       // bounds of the groups of the latest match
	matchedIn goja.String // the text of that match
}

func (in *installer) regexps() error {
	r := &regexps{installer: in, programs: make(map[string]*regex.Program)}
	var err error
	if r.native, err = in.place("RegExp"); err != nil {
		return err
	}
	if r.proto, err = in.place("RegExp.prototype"); err != nil {
		return err
	}
	if err := r.primordials(); err != nil {
		return err
	}
	if err := r.newClass(); err != nil {
		return err
	}
	if err := r.define(in.rt.GlobalObject(), "RegExp", r.class); err != nil {
		return err
	}
	if err := r.define(r.proto, "constructor", r.class); err != nil {
		return err
	}
	r.exec, _ = in.rt.ToValue(r.doExec).(*goja.Object)
	for name, f := range map[string]goja.Value{
		"exec": r.exec, "test": in.rt.ToValue(r.doTest), "compile": in.rt.ToValue(r.doCompile),
	} {
		if err := r.method(r.proto, name, f); err != nil {
			return err
		}
	}
	if err := r.lastMatch(); err != nil {
		return err
	}
	if err := r.replaceAll(); err != nil {
		return err
	}
	if err := r.split(); err != nil {
		return err
	}
	if err := r.stepping(); err != nil {
		return err
	}
	for name, get := range map[string]func(goja.FunctionCall) goja.Value{
		"source": r.getSource, "flags": r.getFlags, "hasIndices": r.flag('d', "hasIndices"),
		"unicode": r.flag('u', "unicode"), "unicodeSets": r.flag('v', "unicodeSets"),
	} {
		if err := r.proto.DefineAccessorProperty(name, in.rt.ToValue(get), nil, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
			return err
		}
	}
	literal := in.rt.ToValue(func(call goja.FunctionCall) goja.Value {
		return r.make(call.Argument(0).ToString().(goja.String), call.Argument(1).String())
	})
	return in.rt.GlobalObject().DefineDataProperty(Regexp, literal, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
}

// newClass makes the RegExp that scripts see, and lets it stand for that of the
// engine.
func (r *regexps) newClass() error {
	made, err := r.rt.RunString("(make) => function RegExp(pattern, flags) { return make(new.target, pattern, flags) }")
	if err != nil {
		return err
	}
	f, _ := goja.AssertFunction(made)
	class, err := f(goja.Undefined(), r.rt.ToValue(func(call goja.FunctionCall) goja.Value {
		target, ok := call.Argument(0).(*goja.Object)
		if !ok {
			return r.apply(call.Arguments[1:])
		}
		return r.construct(call.Arguments[1:], target)
	}))
	if err != nil {
		return err
	}
	r.class = class.ToObject(r.rt)
	r.places["RegExp"] = r.class
	species := r.rt.ToValue(func(call goja.FunctionCall) goja.Value { return call.This })
	if err := r.class.DefineAccessorPropertySymbol(goja.SymSpecies, species, nil, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
		return err
	}
	return r.class.DefineDataProperty("prototype", r.proto, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
}

// primordials keeps the parts of the engine that a script could change.
func (r *regexps) primordials() error {
	weak, err := r.place("WeakMap")
	if err != nil {
		return err
	}
	all, err := r.rt.New(weak)
	if err != nil {
		return err
	}
	r.all = all
	r.get, _ = goja.AssertFunction(all.Get("get"))
	r.put, _ = goja.AssertFunction(all.Get("set"))
	f, err := r.rt.RunString("(p, name) => Object.getOwnPropertyDescriptor(p, name).get")
	if err != nil {
		return err
	}
	getter, _ := goja.AssertFunction(f)
	getters := map[string]*goja.Callable{"source": &r.source}
	for i, f := range nativeFlags {
		getters[f.name] = &r.flags[i]
	}
	for name, to := range getters {
		v, err := getter(goja.Undefined(), r.proto, r.rt.ToValue(name))
		if err != nil {
			return err
		}
		*to, _ = goja.AssertFunction(v)
	}
	f, err = r.rt.RunString("() => {}")
	if err != nil {
		return err
	}
	r.idle, _ = goja.AssertFunction(f)
	return nil
}

func (r *regexps) define(o *goja.Object, name string, v goja.Value) error {
	return o.DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// method defines a function under its name.
func (r *regexps) method(o *goja.Object, name string, v goja.Value) error {
	f := v.ToObject(r.rt)
	for key, value := range map[string]any{"name": name, "length": choose(name == "compile", 2, 1)} {
		if err := f.DefineDataProperty(key, r.rt.ToValue(value), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
			return err
		}
	}
	return r.define(o, name, f)
}

// compile reads a pattern once.
func (r *regexps) compile(source goja.String, flags string) *expression {
	units := unitsOf(source)
	key := flags + "/" + unitsKey(units)
	p := r.programs[key]
	if p == nil {
		var err error
		p, err = regex.Compile(units, flags)
		if err != nil {
			r.throw("SyntaxError", err.Error())
		}
		if len(r.programs) >= mostPrograms {
			clear(r.programs)
		}
		r.programs[key] = p
	}
	return &expression{p, source}
}

// make makes an object of a pattern and its flags.
func (r *regexps) make(source goja.String, flags string) *goja.Object {
	e := r.compile(source, flags)
	o, err := r.rt.New(r.native, r.rt.ToValue("(?:)"), r.rt.ToValue(without(flags, "dv")))
	r.must(err)
	r.keep(o, e)
	return o
}

func (r *regexps) keep(o *goja.Object, e *expression) {
	_, err := r.put(r.all, o, r.rt.ToValue(e))
	r.must(err)
	r.last, r.lastFound = o, e
}

// find is the expression of an object; nil is that it is none.
func (r *regexps) find(v goja.Value) *expression {
	o, ok := v.(*goja.Object)
	if !ok {
		return nil
	}
	if o == r.last {
		return r.lastFound
	}
	found, err := r.get(r.all, o)
	r.must(err)
	if e, ok := found.Export().(*expression); ok {
		r.last, r.lastFound = o, e
		return e
	}
	if o.ClassName() != "RegExp" || o == r.proto {
		return nil
	}
	// An expression of the engine itself, as match makes from a text.
	source, err := r.source(o)
	r.must(err)
	flags := ""
	for i, f := range nativeFlags {
		v, err := r.flags[i](o)
		r.must(err)
		flags += choose(v.ToBoolean(), f.letter, "")
	}
	e := r.compile(source.ToString().(goja.String), flags)
	r.keep(o, e)
	return e
}

// isRegexp is IsRegExp of the standard.
func (r *regexps) isRegexp(v goja.Value) bool {
	o, ok := v.(*goja.Object)
	if !ok {
		return false
	}
	if m := o.GetSymbol(goja.SymMatch); m != nil && !goja.IsUndefined(m) {
		return m.ToBoolean()
	}
	return r.find(v) != nil
}

func argument(args []goja.Value, i int) goja.Value {
	if i < len(args) {
		return args[i]
	}
	return goja.Undefined()
}

// apply is RegExp(…) without new.
func (r *regexps) apply(args []goja.Value) *goja.Object {
	pattern := argument(args, 0)
	if o, ok := pattern.(*goja.Object); ok && r.isRegexp(pattern) && goja.IsUndefined(argument(args, 1)) && o.Get("constructor") == r.class {
		return o
	}
	return r.construct(args, r.class)
}

func (r *regexps) construct(args []goja.Value, target *goja.Object) *goja.Object {
	pattern, flags := argument(args, 0), argument(args, 1)
	if e := r.find(pattern); e != nil {
		pattern = e.source
		if goja.IsUndefined(flags) {
			flags = r.rt.ToValue(e.Flags)
		}
	} else if r.isRegexp(pattern) {
		o := pattern.ToObject(r.rt)
		pattern = o.Get("source")
		if goja.IsUndefined(flags) {
			flags = o.Get("flags")
		}
	}
	o := r.make(r.patternText(pattern), orEmpty(flags))
	if target != r.class {
		if proto, ok := target.Get("prototype").(*goja.Object); ok {
			r.must(o.SetPrototype(proto))
		}
	}
	return o
}

func (r *regexps) patternText(v goja.Value) goja.String {
	if v == nil || goja.IsUndefined(v) {
		v = r.rt.ToValue("")
	}
	return v.ToString().(goja.String)
}

func orEmpty(v goja.Value) string {
	if v == nil || goja.IsUndefined(v) {
		return ""
	}
	return v.String()
}

// doCompile is the old method compile.
func (r *regexps) doCompile(call goja.FunctionCall) goja.Value {
	if r.find(call.This) == nil {
		r.throw("TypeError", "RegExp.prototype.compile is called on another object")
	}
	source, flags := call.Argument(0), orEmpty(call.Argument(1))
	if e := r.find(source); e != nil {
		source, flags = e.source, e.Flags
	}
	e := r.compile(r.patternText(source), flags)
	o := call.This.ToObject(r.rt)
	r.keep(o, e)
	r.must(o.Set("lastIndex", 0))
	return o
}

func (r *regexps) getSource(call goja.FunctionCall) goja.Value {
	e := r.find(call.This)
	if e == nil {
		if call.This != r.proto {
			r.throw("TypeError", "RegExp.prototype.source is read of another object")
		}
		return r.rt.ToValue("(?:)")
	}
	if e.source.Length() == 0 {
		return r.rt.ToValue("(?:)")
	}
	if !strings.ContainsAny(e.source.String(), "/\n\r\u2028\u2029") {
		return e.source
	}
	return goja.StringFromUTF16(escaped(unitsOf(e.source)))
}

// escaped is a pattern as it may stand between slashes.
func escaped(pattern []uint16) (all []uint16) {
	names := map[uint16]string{'\n': `n`, '\r': `r`, '\u2028': `u2028`, '\u2029': `u2029`}
	class, backslash := false, false
	for _, c := range pattern {
		name := names[c]
		if (name != "" || c == '/' && !class) && !backslash {
			all = append(all, '\\')
		}
		if name == "" {
			all = append(all, c)
		}
		for _, letter := range name {
			all = append(all, uint16(letter))
		}
		if !backslash {
			class = c == '[' || class && c != ']'
		}
		backslash = c == '\\' && !backslash
	}
	return all
}

func (r *regexps) getFlags(call goja.FunctionCall) goja.Value {
	o, ok := call.This.(*goja.Object)
	if !ok {
		r.throw("TypeError", "RegExp.prototype.flags is read of what is no object")
	}
	var b strings.Builder
	for _, f := range []struct{ letter, name string }{
		{"d", "hasIndices"}, {"g", "global"}, {"i", "ignoreCase"}, {"m", "multiline"},
		{"s", "dotAll"}, {"u", "unicode"}, {"v", "unicodeSets"}, {"y", "sticky"},
	} {
		if v := o.Get(f.name); v != nil && v.ToBoolean() {
			b.WriteString(f.letter)
		}
	}
	return r.rt.ToValue(b.String())
}

// flag is the getter of a flag.
func (r *regexps) flag(letter rune, name string) func(goja.FunctionCall) goja.Value {
	return func(call goja.FunctionCall) goja.Value {
		e := r.find(call.This)
		switch {
		case e != nil:
			return r.rt.ToValue(strings.ContainsRune(e.Flags, letter))
		case call.This == r.proto:
			return goja.Undefined()
		}
		r.throw("TypeError", fmt.Sprintf("RegExp.prototype.%s is read of another object", name))
		return nil
	}
}
