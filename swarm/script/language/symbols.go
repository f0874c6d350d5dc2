package language

import (
	"strings"

	"github.com/dop251/goja"
)

// symbolMethod defines a method of regular expressions that texts call.
func (r *regexps) symbolMethod(symbol *goja.Symbol, name string, length int, f func(goja.FunctionCall) goja.Value) error {
	o := r.rt.ToValue(f).ToObject(r.rt)
	for key, value := range map[string]any{"name": name, "length": length} {
		if err := o.DefineDataProperty(key, r.rt.ToValue(value), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
			return err
		}
	}
	return r.proto.DefineDataPropertySymbol(symbol, o, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// stepping mends the methods of the engine that repeat a match. Behind an empty
// match they go on by code points only where the flags have u. They get a
// stand-in for an expression with v, which shows u in its place.
func (r *regexps) stepping() error {
	for _, m := range []struct {
		symbol *goja.Symbol
		name   string
		length int
	}{
		{goja.SymMatch, "[Symbol.match]", 1}, {goja.SymMatchAll, "[Symbol.matchAll]", 1}, {goja.SymReplace, "[Symbol.replace]", 2},
	} {
		native, _ := goja.AssertFunction(r.proto.GetSymbol(m.symbol))
		err := r.symbolMethod(m.symbol, m.name, m.length, func(call goja.FunctionCall) goja.Value {
			this := call.This
			if e := r.find(this); e != nil && strings.Contains(e.Flags, "v") {
				this = r.standIn(this.ToObject(r.rt))
			}
			v, err := native(this, call.Arguments...)
			r.must(err)
			return v
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// standIn is an object that matches as an expression with the flag v does.
func (r *regexps) standIn(rx *goja.Object) *goja.Object {
	o := r.rt.NewObject()
	flags := r.rt.ToValue(func(goja.FunctionCall) goja.Value {
		return r.rt.ToValue(strings.ReplaceAll(rx.Get("flags").String(), "v", "u"))
	})
	r.must(o.DefineAccessorProperty("flags", flags, nil, goja.FLAG_TRUE, goja.FLAG_FALSE))
	get := r.rt.ToValue(func(goja.FunctionCall) goja.Value { return rx.Get("lastIndex") })
	set := r.rt.ToValue(func(call goja.FunctionCall) goja.Value {
		r.must(rx.Set("lastIndex", call.Argument(0)))
		return goja.Undefined()
	})
	r.must(o.DefineAccessorProperty("lastIndex", get, set, goja.FLAG_TRUE, goja.FLAG_FALSE))
	r.must(r.define(o, "exec", r.rt.ToValue(func(call goja.FunctionCall) goja.Value {
		if m := r.execute(rx, call.Argument(0)); m != nil {
			return m
		}
		return goja.Null()
	})))
	class := r.rt.NewObject()
	r.must(class.DefineDataPropertySymbol(goja.SymSpecies, r.rt.ToValue(func(call goja.ConstructorCall) *goja.Object {
		made, err := r.rt.New(r.species(rx), rx, r.rt.ToValue(strings.ReplaceAll(call.Argument(1).String(), "u", "v")))
		r.must(err)
		return r.standIn(made)
	}), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	r.must(r.define(o, "constructor", class))
	return o
}

// execute is RegExpExec of the standard. Nil is no match.
func (r *regexps) execute(rx *goja.Object, text goja.Value) *goja.Object {
	v := rx.Get("exec")
	exec, ok := goja.AssertFunction(v)
	if !ok || v == r.exec {
		m, _ := r.doExec(goja.FunctionCall{This: rx, Arguments: []goja.Value{text}}).(*goja.Object)
		return m
	}
	v, err := exec(rx, text)
	r.must(err)
	m, ok := v.(*goja.Object)
	if !ok && !goja.IsNull(v) {
		r.throw("TypeError", "exec returned neither an object nor null")
	}
	return m
}

// species is the class of the expressions that methods derive from an expression.
func (r *regexps) species(rx *goja.Object) *goja.Object {
	class := rx.Get("constructor")
	if class == nil || goja.IsUndefined(class) {
		return r.class
	}
	o, ok := class.(*goja.Object)
	if !ok {
		r.throw("TypeError", "the constructor of a regular expression is no object")
	}
	made := o.GetSymbol(goja.SymSpecies)
	if isNullish(made) {
		return r.class
	}
	o, ok = made.(*goja.Object)
	if !ok {
		r.throw("TypeError", "the species of a regular expression is no constructor")
	}
	return o
}

func orUndefined(v goja.Value) goja.Value {
	if v == nil {
		return goja.Undefined()
	}
	return v
}
