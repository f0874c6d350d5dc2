package language

import (
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/dop251/goja"
	"golang.org/x/text/cases"
	textlanguage "golang.org/x/text/language"
)

// texts mends methods of texts, which lost the lone halves of pairs, and those that
// write numbers.
func (in *installer) texts() error {
	proto, err := in.place("String.prototype")
	if err != nil {
		return err
	}
	for _, name := range strings.Fields("normalize toUpperCase toLowerCase toLocaleUpperCase toLocaleLowerCase trim trimStart trimEnd") {
		native := proto.Get(name)
		f := in.whole(native)
		if strings.HasPrefix(name, "toLocale") {
			f = in.inLocale(f, name == "toLocaleUpperCase")
		}
		if err := in.mend(proto, name, f); err != nil {
			return err
		}
	}
	numbers, err := in.place("Number.prototype")
	if err != nil {
		return err
	}
	for _, name := range []string{"toString", "toExponential", "toPrecision", "toFixed"} {
		if err := in.mend(numbers, name, in.signed(numbers.Get(name))); err != nil {
			return err
		}
	}
	return nil
}

// mend puts a function in the place of a method, with its name and its length.
func (in *installer) mend(proto *goja.Object, name string, f func(goja.FunctionCall) goja.Value) error {
	made := in.rt.ToValue(f).ToObject(in.rt)
	length := proto.Get(name).ToObject(in.rt).Get("length")
	for key, value := range map[string]goja.Value{"name": in.rt.ToValue(name), "length": length} {
		if err := made.DefineDataProperty(key, value, goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
			return err
		}
	}
	return proto.DefineDataProperty(name, made, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// aside is where the lone halves of pairs stand while a method works: code
// points for private use, which have no case and no other form.
const aside = 0xf0000

// whole is a method of texts that keeps lone halves of pairs.
func (in *installer) whole(method goja.Value) func(goja.FunctionCall) goja.Value {
	native, _ := goja.AssertFunction(method)
	return func(call goja.FunctionCall) goja.Value {
		text, ok := call.This.(goja.String)
		if !ok && !isNullish(call.This) {
			text, ok = call.This.ToString().(goja.String)
		}
		if !ok || !strings.ContainsRune(text.String(), '\ufffd') {
			v, err := native(call.This, call.Arguments...)
			in.must(err)
			return v
		}
		v, err := native(in.rt.ToValue(setAside(unitsOf(text))), call.Arguments...)
		in.must(err)
		return goja.StringFromUTF16(putBack(v.String()))
	}
}

// inLocale is a method that changes the case of texts by the rules of a locale.
// The engine knows none.
func (in *installer) inLocale(plain func(goja.FunctionCall) goja.Value, upper bool) func(goja.FunctionCall) goja.Value {
	return func(call goja.FunctionCall) goja.Value {
		locale := call.Argument(0)
		if list, ok := locale.(*goja.Object); ok {
			locale = list.Get("0")
		}
		if locale == nil || goja.IsUndefined(locale) || isNullish(call.This) {
			return plain(call)
		}
		tag, err := textlanguage.Parse(locale.String())
		base, _ := tag.Base()
		if err != nil || !slices.Contains([]string{"tr", "az", "lt", "el"}, base.String()) {
			return plain(call)
		}
		change := cases.Lower(tag)
		if upper {
			change = cases.Upper(tag)
		}
		return in.rt.ToValue(change.String(call.This.String()))
	}
}

// setAside is a text in which code points for private use stand for lone halves.
func setAside(units []uint16) string {
	var b strings.Builder
	for i := 0; i < len(units); i++ {
		r := rune(units[i])
		if utf16.IsSurrogate(r) {
			pair := rune('\ufffd')
			if i+1 < len(units) {
				pair = utf16.DecodeRune(r, rune(units[i+1]))
			}
			if pair == '\ufffd' {
				r += aside - 0xd800
			} else {
				r, i = pair, i+1
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}

// putBack undoes [setAside].
func putBack(text string) (units []uint16) {
	for _, r := range text {
		if r >= aside && r < aside+0x800 {
			units = append(units, uint16(r-aside+0xd800))
		} else {
			units = utf16.AppendRune(units, r)
		}
	}
	return units
}

// signed writes a negative number as its sign and the text of its absolute value.
// The engine loses the sign of a small fraction, and breaks texts of negative
// numbers that round up to a further digit.
func (in *installer) signed(method goja.Value) func(goja.FunctionCall) goja.Value {
	native, _ := goja.AssertFunction(method)
	return func(call goja.FunctionCall) goja.Value {
		this, sign := call.This, ""
		if n, ok := numberOf(this); ok && n < 0 && !goja.IsUndefined(call.Argument(0)) {
			this, sign = in.rt.ToValue(-n), "-"
		}
		v, err := native(this, call.Arguments...)
		in.must(err)
		if sign == "" {
			return v
		}
		return in.rt.ToValue(sign + v.String())
	}
}

// numberOf is the number that a value, or its object, is. Ok is false for
// other values.
func numberOf(v goja.Value) (n float64, ok bool) {
	switch n := v.Export().(type) {
	case float64:
		return n, true
	case int64:
		return float64(n), true
	default:
		return 0, false
	}
}
