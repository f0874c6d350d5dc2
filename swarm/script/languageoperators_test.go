package script

import (
	"fmt"
	"strings"
)

// operating uses powers, loose comparisons, and assignments by an operator. Powers
// have exact results: node rounds some others in its own way. No number is beyond
// 2**63, where the engine loses bits in an assignment to a place that is computed.
func (g *generator) operating() string {
	whole := func() string {
		return g.one("0", "1", "2", "3", "-2", "10", "'2'", "' 3 '", "null", "true", "[2]", "0.5")
	}
	big := func() string { return g.one("0n", "1n", "2n", "-3n", "9007199254740993n", "'2'") }
	bitwise := func() string { return g.one("|", "&", "^", "<<", ">>", ">>>") }
	place := func() string {
		return g.one("o.x", "o['x']", "o.p", "of().x", "o[key('x')]", "a[0]", "a[i++]", "v", "this_.q")
	}
	right := func() string {
		return g.one(whole(), whole(), "(log.push('r'), 3)", "{ valueOf() { log.push('w'); return 2 } }", g.one("0n", "1n", "3n", "-1n"), "o.x", "(o = { x: 7 }, 2)", "(v = 5, 2)", "await Promise.resolve(2)")
	}
	text := func() string {
		return `"` + g.one("", " ", "\\t", "\\u00a0", "\\u0085", "\\u2003", "\\ufeff", "\\u180e") + g.one("", "0", "1", "2", "0x2", "1n", "x", "2.0", "+2", "-3") + g.one("", " ", "\\u3000", "\\n", "\\u0085") + `"`
	}
	var b strings.Builder
	for range 1 + g.IntN(4) {
		use := ""
		switch g.IntN(6) {
		case 0:
			use = fmt.Sprintf("(%s) ** (%s)", whole(), g.one("0", "1", "2", "3", "'2'", "true", "null"))
		case 1:
			use = fmt.Sprintf("%s ** %s", g.one("2n", "(-3n)", "0n", "(-1n)", "10n", "2"), g.one("0n", "3n", "20n", "-1n", "2", "9007199254740993n"))
		case 2:
			use = fmt.Sprintf("[%s].map(String)", place()+" **= "+right())
		case 3:
			use = fmt.Sprintf("%s %s= %s", place(), bitwise(), right())
		case 4:
			x, y := text(), g.one(big(), big(), whole(), "true", "false", "null", text())
			use = fmt.Sprintf("[%s == %s, %s == %s, %s != %s]", x, y, y, x, x, y)
		default:
			use = fmt.Sprintf("[+%s, Number(%s), isNaN(%s), (() => { try { return BigInt(%s) } catch (e) { return e.name } })()]", text(), text(), text(), text())
		}
		fmt.Fprintf(&b, "try { log.push(%s) } catch (e) { log.push(e.name) } ", use)
	}
	return `const log = [], a = [2, 3, 2 ** 40], this_ = { q: 5 }; let i = 0, v = 3;
		const key = (k) => { log.push('k'); return k };
		let o = { x: ` + g.one("2", "2n", "-1", "2 ** 50 + 2 ** 30", "'3'", "undefined") + `, get p() { log.push('get'); return 3 }, set p(n) { log.push(['set', n]) } };
		const of = () => { log.push('o'); return o };
		` + b.String() + `log.push(o.x, a, v, i, this_.q); return log`
}
