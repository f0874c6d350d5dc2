package language

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/dop251/goja"
)

// The global functions that lowered operators call.
const (
	power   = "%pow"
	bits    = "%bits"
	bitwise = "%bitwise"
	change  = "%change"
	numeric = "%numeric"
	equal   = "%equal"
	plus    = "%plus"
)

// numberClass makes the Number that scripts see from that of the engine. The reader
// of texts is ours.
const numberClass = `(native, read) => {
	'use strict';
	const { construct, ownKeys, getOwnPropertyDescriptor, defineProperty } = Reflect;
	const made = function Number(value) {
		if (arguments.length === 0) value = 0;
		if (typeof value === 'string') value = read(value);
		return new.target === undefined ? native(value) : construct(native, [value], new.target);
	};
	for (const key of ownKeys(native)) defineProperty(made, key, getOwnPropertyDescriptor(native, key));
	defineProperty(native.prototype, 'constructor', { value: made });
	return made;
}`

// bitwiseOperators makes the function of two operands, from the function that makes
// numbers of them.
const bitwiseOperators = `(bits, shift) => (operator, x, y) => {
	x = bits(x);
	y = bits(y);
	if (typeof x === 'bigint' && typeof y === 'bigint') {
		if (operator === '<<') return shift(x, y);
		if (operator === '>>') return shift(x, -y);
	}
	switch (operator) {
	case '|': return x | y;
	case '&': return x & y;
	case '^': return x ^ y;
	case '<<': return x << y;
	case '>>': return x >> y;
	default: return x >>> y;
	}
}`

// changeProperty makes the function that reads a property at once, and returns the
// function that sets it. An object as a name becomes a text each time, as in node.
const changeProperty = `(power, bitwise) => {
	'use strict';
	return (operator, of, key) => {
		const before = of[key];
		return (y) => of[key] = operator === '**' ? power(before, y) : bitwise(operator, before, y);
	};
}`

// noBlank is a control character that the engine takes for a blank of numbers. No
// text of a number has it.
const noBlank = '\u0085'

// numbers offers the functions that lowered operators call, and mends functions
// of numbers: Math.pow rounds wrongly in the engine, and isNaN and isFinite do not
// know the blanks beyond ASCII.
func (in *installer) numbers() error {
	same, err := in.function("(x, y) => x == y")
	if err != nil {
		return err
	}
	positive, err := in.function("(x) => +x")
	if err != nil {
		return err
	}
	number, err := in.numberClass()
	if err != nil {
		return err
	}
	toNumeric, err := in.numeric(number)
	if err != nil {
		return err
	}
	pow, err := in.power(toNumeric)
	if err != nil {
		return err
	}
	unary := func(call goja.FunctionCall) goja.Value {
		f := positive
		if _, ok := call.Argument(0).(goja.String); ok {
			f = number
		}
		v, err := f(goja.Undefined(), call.Argument(0))
		in.must(err)
		return v
	}
	toBits := in.rt.ToValue(func(call goja.FunctionCall) goja.Value { return in.bits(toNumeric(call.Argument(0))) })
	ofTwo, err := in.make(bitwiseOperators, toBits, in.rt.ToValue(in.shift))
	if err != nil {
		return err
	}
	set, err := in.make(changeProperty, in.rt.ToValue(pow), ofTwo)
	if err != nil {
		return err
	}
	for name, f := range map[string]goja.Value{
		power: in.rt.ToValue(pow), bits: toBits, bitwise: ofTwo, change: set,
		numeric: in.rt.ToValue(func(call goja.FunctionCall) goja.Value { return toNumeric(call.Argument(0)) }),
		equal:   in.rt.ToValue(compareLoosely(in, same, number)), plus: in.rt.ToValue(unary),
	} {
		if err := in.rt.GlobalObject().DefineDataProperty(name, f, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE); err != nil {
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

// make calls a function that makes a function of others.
func (in *installer) make(text string, with ...goja.Value) (goja.Value, error) {
	f, err := in.function(text)
	if err != nil {
		return nil, err
	}
	return f(goja.Undefined(), with...)
}

// numeric returns the function that makes a number or a BigInt of an operand.
func (in *installer) numeric(number goja.Callable) (func(goja.Value) goja.Value, error) {
	primitive, err := in.function("(x) => x++")
	if err != nil {
		return nil, err
	}
	return func(v goja.Value) goja.Value {
		f := primitive
		switch v.(type) {
		case goja.String:
			f = number
		case *goja.Object:
		default:
			if _, ok := numberOf(v); ok {
				return v
			}
		}
		v, err := f(goja.Undefined(), v)
		in.must(err)
		return v
	}, nil
}

// power returns the operator **, rounded correctly.
func (in *installer) power(toNumeric func(goja.Value) goja.Value) (func(goja.FunctionCall) goja.Value, error) {
	native, err := in.function("(x, y) => x ** y")
	if err != nil {
		return nil, err
	}
	return func(call goja.FunctionCall) goja.Value {
		left, right := toNumeric(call.Argument(0)), toNumeric(call.Argument(1))
		x, isX := plainNumber(left)
		y, isY := plainNumber(right)
		if isX && isY {
			if p, ok := raise(x, y); ok {
				return in.rt.ToValue(p)
			}
		}
		if isTooBig(left, right) {
			in.throw("RangeError", "Maximum BigInt size exceeded")
		}
		v, err := native(goja.Undefined(), left, right)
		in.must(err)
		return v
	}, nil
}

// numberClass replaces Number by a class that knows the blanks of numbers, and
// returns it as a function.
func (in *installer) numberClass() (goja.Callable, error) {
	native, err := in.place("Number")
	if err != nil {
		return nil, err
	}
	of, _ := goja.AssertFunction(native)
	made, err := in.make(numberClass, native, in.rt.ToValue(func(call goja.FunctionCall) goja.Value {
		if strings.ContainsRune(call.Argument(0).String(), noBlank) {
			return in.rt.ToValue(math.NaN())
		}
		v, err := of(goja.Undefined(), call.Argument(0))
		in.must(err)
		return v
	}))
	if err != nil {
		return nil, err
	}
	class := made.ToObject(in.rt)
	in.places["Number"] = class
	number, _ := goja.AssertFunction(class)
	return number, in.rt.GlobalObject().DefineDataProperty("Number", class, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
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
// of Number beyond ASCII, where a text is compared with a number, a boolean, or a
// BigInt on its right side.
func compareLoosely(in *installer, same, number goja.Callable) func(goja.FunctionCall) goja.Value {
	return func(call goja.FunctionCall) goja.Value {
		x, y := call.Argument(0), call.Argument(1)
		if _, isText := y.(goja.String); isText {
			x, y = y, x // neither side runs code of the script
		}
		if _, isText := x.(goja.String); isText {
			_, isNumber := plainNumber(y)
			_, isBool := y.Export().(bool)
			switch {
			case isNumber || isBool && !isObject(y):
				n, err := number(goja.Undefined(), x)
				in.must(err)
				x = n
			case isBig(y):
				if strings.ContainsRune(x.String(), noBlank) {
					return in.rt.ToValue(false)
				}
				x, y = y, x
			}
		}
		v, err := same(goja.Undefined(), x, y)
		in.must(err)
		return v
	}
}

// maxBig is how many bits a BigInt has at most, in node as well.
const maxBig = 1 << 30

// isTooBig reports whether a power of BigInts has more bits than a BigInt may
// have. The engine would compute it for ever.
func isTooBig(x, y goja.Value) bool {
	if !isBig(x) || !isBig(y) {
		return false
	}
	base, power := x.Export().(*big.Int), y.Export().(*big.Int)
	if base.BitLen() < 2 || power.Sign() < 0 {
		return false // 0, 1 and -1, or an error
	}
	return !power.IsInt64() || power.Int64() > maxBig/int64(base.BitLen()-1)
}

// shift moves the bits of a BigInt to the left, or to the right by a negative number.
// The engine reads the last 64 bits of that number.
func (in *installer) shift(call goja.FunctionCall) goja.Value {
	x, _ := call.Argument(0).Export().(*big.Int)
	by, _ := call.Argument(1).Export().(*big.Int)
	result := new(big.Int)
	switch {
	case x.Sign() == 0:
	case by.Sign() > 0:
		if !by.IsInt64() || by.Int64() > maxBig-int64(x.BitLen()) {
			in.throw("RangeError", "Maximum BigInt size exceeded")
		}
		result.Lsh(x, uint(by.Int64()))
	case !by.IsInt64() || by.Int64() < -maxBig:
		result.SetInt64(int64(min(0, x.Sign())))
	default:
		result.Rsh(x, uint(-by.Int64()))
	}
	return in.rt.ToValue(result)
}

func isObject(v goja.Value) bool {
	_, is := v.(*goja.Object)
	return is
}

func isBig(v goja.Value) bool {
	_, is := v.Export().(*big.Int)
	return is && !isObject(v)
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
func (in *installer) bits(v goja.Value) goja.Value {
	if n, ok := plainNumber(v); ok && math.Abs(n) >= 1<<63 && !math.IsInf(n, 0) {
		return in.rt.ToValue(int64(math.Mod(n, 1<<32)))
	}
	return v
}

// plainNumber returns a number that is no object. Ok is false for other values.
func plainNumber(v goja.Value) (n float64, ok bool) {
	if isObject(v) {
		return 0, false
	}
	return numberOf(v)
}
