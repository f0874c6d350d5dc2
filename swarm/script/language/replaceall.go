package language

import "github.com/dop251/goja"

// replaceAll mends the method of texts. That of the engine never ends where it
// looks for an empty text in a text with letters beyond ASCII.
func (r *regexps) replaceAll() error {
	proto, err := r.place("String.prototype")
	if err != nil {
		return err
	}
	native, _ := goja.AssertFunction(proto.Get("replaceAll"))
	return r.mend(proto, "replaceAll", func(call goja.FunctionCall) goja.Value {
		args := []goja.Value{call.Argument(0), call.Argument(1)}
		o, is := args[0].(*goja.Object)
		if plain := !is || isNullish(o.GetSymbol(goja.SymReplace)); plain && !isNullish(call.This) {
			// Both become texts in the order of the standard.
			call.This, args[0] = call.This.ToString(), args[0].ToString()
			if args[0].String() == "" {
				args[0] = r.make(goja.StringFromUTF16(nil), "g")
			}
		}
		v, err := native(call.This, args...)
		r.must(err)
		return v
	})
}

func isNullish(v goja.Value) bool { return v == nil || goja.IsUndefined(v) || goja.IsNull(v) }
