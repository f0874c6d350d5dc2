package language

import (
	"fmt"
	"math"

	"github.com/dop251/goja"
)

// The global functions that lowered operators call.
const (
	power = "%pow"
	bits  = "%bits"
	equal = "%equal"
)

// numbers offers the functions that lowered operators call, and mends functions
// of numbers: Math.pow rounds wrongly in the engine, and isNaN and isFinite do not
// know the blanks beyond ASCII.
func (in *installer) numbers() error {
	native, err := in.function("(x, y) => x ** y")
	if err != nil {
		return err
	}
	same, err := in.function("(x, y) => x == y")
	if err != nil {
		return err
	}
	number, err := in.function("Number")
	if err != nil {
		return err
	}
	pow := func(call goja.FunctionCall) goja.Value {
		x, isX := plainNumber(call.Argument(0))
		y, isY := plainNumber(call.Argument(1))
		if isX && isY {
			if p, ok := raise(x, y); ok {
				return in.rt.ToValue(p)
			}
		}
		v, err := native(goja.Undefined(), call.Argument(0), call.Argument(1))
		in.must(err)
		return v
	}
	for name, f := range map[string]func(goja.FunctionCall) goja.Value{power: pow, bits: in.bits, equal: compareLoosely(in, same, number)} {
		if err := in.rt.GlobalObject().DefineDataProperty(name, in.rt.ToValue(f), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE); err != nil {
			return err
		}
	}
	of, err := in.place("Math")
	if err != nil {
		return err
	}
	if err := in.mend(of, "pow", func(call goja.FunctionCall) goja.Value {
		return pow(goja.FunctionCall{Arguments: []goja.Value{in.rt.ToValue(call.Argument(0).ToFloat()), in.rt.ToValue(call.Argument(1).ToFloat())}})
	}); err != nil {
		return err
	}
	return in.blanks(number)
}

// function evaluates a text of the engine's own language to a function.
func (in *installer) function(text string) (goja.Callable, error) {
	v, err := in.rt.RunString(text)
	if err != nil {
		return nil, err
	}
	f, ok := goja.AssertFunction(v)
	if !ok {
		return nil, fmt.Errorf("%s is no function", text)
	}
	return f, nil
}

// compareLoosely returns the operator ==. The engine's own does not know the blanks
// beyond ASCII, which Number knows.
func compareLoosely(in *installer, same, number goja.Callable) func(goja.FunctionCall) goja.Value {
	return func(call goja.FunctionCall) goja.Value {
		x, y := call.Argument(0), call.Argument(1)
		for _, pair := range [][2]*goja.Value{{&x, &y}, {&y, &x}} {
			_, isText := (*pair[0]).(goja.String)
			_, isNumber := plainNumber(*pair[1])
			if isText && isNumber {
				n, err := number(goja.Undefined(), *pair[0])
				in.must(err)
				*pair[0] = n
			}
		}
		v, err := same(goja.Undefined(), x, y)
		in.must(err)
		return v
	}
}

// blanks mends isNaN and isFinite, which do not know the blanks that Number knows.
func (in *installer) blanks(number goja.Callable) error {
	for _, name := range []string{"isNaN", "isFinite"} {
		native, _ := goja.AssertFunction(in.rt.Get(name))
		if err := in.mend(in.rt.GlobalObject(), name, func(call goja.FunctionCall) goja.Value {
			v := call.Argument(0)
			if _, ok := v.(goja.String); ok {
				n, err := number(goja.Undefined(), v)
				in.must(err)
				v = n
			}
			v, err := native(goja.Undefined(), v)
			in.must(err)
			return v
		}); err != nil {
			return err
		}
	}
	return nil
}

// bits returns a number that the bitwise operators of the engine read rightly.
// They lose the bits of numbers from 2**63 on.
func (in *installer) bits(call goja.FunctionCall) goja.Value {
	v := call.Argument(0)
	if n, ok := plainNumber(v); ok && math.Abs(n) >= 1<<63 && !math.IsInf(n, 0) {
		return in.rt.ToValue(int64(math.Mod(n, 1<<32)))
	}
	return v
}

// plainNumber returns a number that is no object. Ok is false for other values.
func plainNumber(v goja.Value) (n float64, ok bool) {
	if _, is := v.(*goja.Object); is {
		return 0, false
	}
	return numberOf(v)
}
