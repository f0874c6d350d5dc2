package language

import "github.com/dop251/goja"

// async offers the functions that lowered for await loops and async generators
// call. They are read when the first of them is called.
func (in *installer) async() error {
	symbol, err := in.place("Symbol")
	if err != nil {
		return err
	}
	if v := symbol.Get("asyncIterator"); v == nil || goja.IsUndefined(v) {
		s := goja.NewSymbol("Symbol.asyncIterator")
		if err := symbol.DefineDataProperty("asyncIterator", s, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE); err != nil {
			return err
		}
	}
	var made *goja.Object
	for _, name := range []string{awaiting, delegating, generating, opening} {
		f := func(c goja.FunctionCall) goja.Value {
			if made == nil {
				made = in.run("async.js")
			}
			f, _ := goja.AssertFunction(made.Get(name))
			v, err := f(goja.Undefined(), c.Arguments...)
			in.must(err)
			return v
		}
		if err := in.rt.GlobalObject().DefineDataProperty(name, in.rt.ToValue(f), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE); err != nil {
			return err
		}
	}
	return nil
}
