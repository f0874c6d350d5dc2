package language

import (
	"fmt"
	"strings"

	"github.com/dop251/goja"
)

// dateClass makes the Date that scripts see from that of the engine. The reader of
// texts is ours: the engine reads many texts that are no dates.
const dateClass = `(native, read) => {
	'use strict';
	const { construct } = Reflect;
	return function Date(year, month, day, hours, minutes, seconds, ms) {
		if (new.target === undefined) return native();
		if (arguments.length === 1 && typeof year === 'string') return construct(native, [read(year)], new.target);
		return construct(native, arguments, new.target);
	};
}`

// dates replaces the reading of dates, and the name of their zone.
func (in *installer) dates() error {
	native, err := in.place("Date")
	if err != nil {
		return err
	}
	proto, err := in.place("Date.prototype")
	if err != nil {
		return err
	}
	made, err := in.rt.RunString(dateClass)
	if err != nil {
		return err
	}
	read := func(call goja.FunctionCall) goja.Value {
		return in.rt.ToValue(parseDate(call.Argument(0).String()))
	}
	f, _ := goja.AssertFunction(made)
	v, err := f(goja.Undefined(), native, in.rt.ToValue(read))
	if err != nil {
		return err
	}
	class := v.ToObject(in.rt)
	if err := class.DefineDataProperty("prototype", proto, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE); err != nil {
		return err
	}
	for _, m := range []struct {
		on   *goja.Object
		name string
		f    func(goja.FunctionCall) goja.Value
	}{
		{native, "parse", read}, {proto, "toISOString", in.longYears(proto)},
		{proto, "toString", in.zoned(proto, "toString")}, {proto, "toTimeString", in.zoned(proto, "toTimeString")},
	} {
		if err := in.mend(m.on, m.name, m.f); err != nil {
			return err
		}
	}
	for _, p := range []struct {
		on    *goja.Object
		name  string
		value goja.Value
	}{
		{class, "UTC", native.Get("UTC")}, {class, "now", native.Get("now")}, {class, "parse", native.Get("parse")},
		{proto, "constructor", class}, {in.rt.GlobalObject(), "Date", class},
	} {
		if err := p.on.DefineDataProperty(p.name, p.value, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
			return err
		}
	}
	in.places["Date"] = class
	return nil
}

// longYears is toISOString with six digits for a year that has no four.
func (in *installer) longYears(proto *goja.Object) func(goja.FunctionCall) goja.Value {
	native, _ := goja.AssertFunction(proto.Get("toISOString"))
	return func(call goja.FunctionCall) goja.Value {
		v, err := native(call.This)
		in.must(err)
		text := v.String()
		if text[0] != '+' && text[0] != '-' {
			return v
		}
		year, rest, _ := strings.Cut(text[1:], "-")
		return in.rt.ToValue(fmt.Sprintf("%c%06s-%s", text[0], year, rest))
	}
}

// zoned is a method of dates that names UTC as other engines do.
func (in *installer) zoned(proto *goja.Object, name string) func(goja.FunctionCall) goja.Value {
	native, _ := goja.AssertFunction(proto.Get(name))
	return func(call goja.FunctionCall) goja.Value {
		v, err := native(call.This)
		in.must(err)
		if text, ok := strings.CutSuffix(v.String(), " (UTC)"); ok {
			return in.rt.ToValue(text + " (Coordinated Universal Time)")
		}
		return v
	}
}
