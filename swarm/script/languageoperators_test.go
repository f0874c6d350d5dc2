package script

import (
	"fmt"
	"strconv"
	"strings"
)

// operating makes a program with powers, unary and bitwise operators, loose
// comparisons, and assignments by an operator. Their operands are numbers of
// every size, BigInts, texts, objects and mixtures of them. A power is exact or
// a power of ten, because node rounds some others in its own way.
func (g *generator) operating() string {
	var b strings.Builder
	for range 4 + g.IntN(6) {
		fmt.Fprintf(&b, "try { log.push(%s) } catch (e) { log.push(e.name) } ", g.operation())
	}
	return `const log = [], say = (n, v) => { log.push(n); return v }, boxed = (n, v) => ({ valueOf() { log.push(n); return v }, toString: () => 'never' });
		const a = [2, 3, 2 ** 40, 2 ** 64 + 2 ** 12, 10, 7n]; let i = 0, v = ` + g.operand() + `;
		const key = (k) => { log.push('k'); return k };
		const c = new class { #n = 10; q = 5; raise(y) { return this.#n **= y } bits(y) { return this.#n ^= y } self(y) { return this.q |= y } };
		let o = { x: ` + g.operand() + `, get p() { log.push('get'); return 1e20 }, set p(n) { log.push(['set', n]) } };
		const of = () => { log.push('o'); return o };
		` + b.String() + `log.push(o?.x, a, v, i, c.q); return log`
}

func (g *generator) operation() string {
	bitwise := func() string { return g.one("|", "&", "^", "<<", ">>", ">>>") }
	place := func() string {
		return g.one("o.x", "o['x']", "o.p", "of().x", "of()[key('p')]", "o[key('x')]", "a[0]", "a[3]", "a[i++]", "a[(i = 3)]", "a[key(4)]", "v", "c.q", "(o).x", "({ x: 10 }).x", "null[key('x')]", "Object.freeze({ x: 1e20 })[key('x')]")
	}
	switch g.IntN(9) {
	case 0:
		return fmt.Sprintf("(%s) ** (%s)", g.one("10", "10", "'10'", "boxed('l', 10)", "Object(10)"), g.power())
	case 1:
		return fmt.Sprintf("(%s) ** (%s)", g.operand(), g.one("0", "1", "'1'", "true", "null", "0n", "1n", "2n", "-1n", "boxed('r', 1)"))
	case 2:
		return fmt.Sprintf("%s **= %s", place(), g.one("1", "0", "1n", "'1'", "boxed('r', 1)", "await Promise.resolve(1)", "(i = 4, 1)"))
	case 3:
		return strings.ReplaceAll(g.one("(v = 10, v **= POWER)", "(o.x = 10, o.x **= POWER)", "(of().x = 10, of().x **= POWER)", "a[key(4)] **= POWER", "c.raise(POWER)", "(a[0] = boxed('l', 10), a[i] **= POWER)", "(o = { x: '10' }, o[key('x')] **= (o = null, POWER))"), "POWER", g.power())
	case 4:
		return fmt.Sprintf("%s %s= %s", place(), bitwise(), g.one(g.operand(), g.operand(), "await ("+g.operand()+")", "(v = 5, 2)", "(o = { x: 7 }, 2 ** 65)", "(i = 1, 3)"))
	case 5:
		if g.IntN(6) == 0 {
			return g.one("5n", "-5n", "0n", "(5n | 2n)", "Object(7n)") + g.one(" << ", " >> ") + g.one("2n", "-2n", "(2n ** 70n)", "(-(2n ** 70n))", "(2n ** 40n)", "(-(2n ** 40n))")
		}
		return fmt.Sprintf("(%s) %s (%s)", g.operand(), bitwise(), g.one(g.operand(), g.operand(), "1", "0", "3", "33", "-1", "0xff", "await ("+g.operand()+")"))
	case 6:
		return fmt.Sprintf("%s(%s)", g.one("~", "~", "~~", "-", "- -"), g.operand())
	case 7:
		n := g.one("1", "2")
		x := g.one(g.spaced(), `"`+g.blank()+n+g.blank()+`"`)
		y := g.one(n, n+"n", "true", "false", "null", "undefined", g.spaced(), g.operand())
		return fmt.Sprintf("[%s == %s, %s == %s, %s != %s]", x, y, y, x, x, y)
	default:
		return fmt.Sprintf("[+%s, +(%s), Number(%s), isNaN(%s), (() => { try { return BigInt(%s) } catch (e) { return e.name } })()]", g.spaced(), g.operand(), g.spaced(), g.spaced(), g.spaced())
	}
}

// power is an exponent of ten of which node rounds the power correctly.
func (g *generator) power() string {
	n := g.IntN(632) - 323
	if n == 23 || n == 210 {
		n++
	}
	return g.one(strconv.Itoa(n), strconv.Itoa(n), "'"+strconv.Itoa(n)+"'", "boxed('r', "+strconv.Itoa(n)+")", "await ("+strconv.Itoa(n)+")")
}

// operand is a value for an operator.
func (g *generator) operand() string {
	switch g.IntN(6) {
	case 0:
		return g.one("0", "1", "2", "-3", "0.5", "-1.5", "31", "2147483648", "-2147483649", "4294967295", "2 ** 53 + 2", "NaN", "-Infinity", "-0")
	case 1, 2:
		n := strconv.Itoa(12 + g.IntN(20))
		return g.one("2 ** 63", "2 ** 64 + 2 ** "+n, "-(2 ** 63) - 2 ** "+n, "1e20", "-1e19", "2 ** 70 + 2 ** 20", "1e300", "-(2 ** 80) - 2 ** 28", "2 ** 66 + 2 ** "+n)
	case 3:
		return g.one("0n", "1n", "-1n", "5n", "-9007199254740993n", "2n ** 70n + 9n", "0xffffffffffffn", "Object(3n)", "boxed('b', 6n)")
	case 4:
		return g.one("null", "undefined", "true", "'2'", "' 3 '", "'1e20'", "'x'", "'0x1F'", "[2]", "[]", "{}", "Symbol('s')", "new Date(5)")
	default:
		return g.one("boxed('w', 2)", "boxed('w', 1e20)", "boxed('w', '1e20')", "say('s', 1e20)", "say('s', 5)", "say('s', 3n)", "Object(1e20)", "boxed('w', {})", "{ [Symbol.toPrimitive](hint) { log.push(hint); return 2 ** 64 + 2 ** 13 } }")
	}
}

// spaced is a text of a number, or nearly, between blanks.
func (g *generator) spaced() string {
	return `"` + g.blank() + g.one("", "0", "1", "2", "0x2", "1n", "x", "2.0", "+2", "-3") + g.blank() + `"`
}

func (g *generator) blank() string {
	return g.one("", " ", "\\t", "\\n", "\\u00a0", "\\u0085", "\\u2003", "\\u3000", "\\ufeff", "\\u180e")
}
