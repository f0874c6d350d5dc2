package script

import (
	"fmt"
	"strconv"
	"strings"
)

// some joins up to n texts that each gives.
func (g *generator) some(n int, between string, each func() string) string {
	all := make([]string, g.IntN(n+1))
	for i := range all {
		all[i] = each()
	}
	return strings.Join(all, between)
}

// value is a literal that JSON could have, or nearly.
func (g *generator) value() string {
	g.depth++
	defer func() { g.depth-- }()
	kind := g.IntN(9)
	if g.depth > 3 {
		kind = g.IntN(6)
	}
	switch kind {
	case 0, 1:
		return g.number()
	case 2, 3:
		return g.text()
	case 4:
		return g.one("null", "true", "false", "undefined", "NaN", "-0", "Infinity")
	case 5:
		return g.one("[]", "{}", "new Date(0)", "[,1]", "Symbol('s')", "() => 1", "new Map([[1, 2]])", "Object(1)", "Object('s')", "{ toJSON() { return 'j' } }")
	case 6, 7:
		return "[" + g.some(4, ", ", g.value) + "]"
	default:
		return "{" + g.some(4, ", ", func() string {
			return g.one("a", "b", "c", "'d e'", "1", "['x']", "'é'", "10", "'__proto__x'") + ": " + g.value()
		}) + "}"
	}
}

func (g *generator) number() string {
	switch g.IntN(5) {
	case 0:
		return strconv.Itoa(g.IntN(100) - 50)
	case 1:
		return strconv.FormatFloat((g.Float64()-0.5)*[]float64{1, 1e3, 1e9, 1e21, 1e300, 1e-7, 1e-300}[g.IntN(7)], 'g', -1, 64)
	case 2:
		return g.one("0.1", "0.5", "1.005", "1.5", "2.5", "1e21", "1e-7", "123456789.123", "0.000001", "1e100", "1.7976931348623157e308", "4294967296", "2**53", "0xff", "1_000", "25", "1.45", "8.345")
	case 3:
		return strconv.FormatFloat(float64(g.IntN(200000)-100000)/1000, 'f', -1, 64)
	default:
		return g.one("0", "-0", "NaN", "Infinity", "-Infinity", "1", "-1", "0.5", "-1.5")
	}
}

func (g *generator) text() string {
	var b strings.Builder
	for range g.IntN(6) {
		b.WriteString(g.one("a", "B", "é", "e\\u0301", "😀", "\\ud83d", "\\udc00", "\\n", "\\t", "\\\\", "\\u2028", "\\x00", "\\\"", " ", "1", "ß", "İ", "Σ", "ﬁ", "k", "-", "İ", "\\u0130", "$&", "/", "\\ufeff"))
	}
	return `"` + b.String() + `"`
}

// writing reads and writes JSON and numbers.
func (g *generator) writing() string {
	g.depth = 0
	switch g.IntN(5) {
	case 0:
		return fmt.Sprintf("return JSON.stringify(%s, %s, %s)", g.value(),
			g.one("null", "undefined", "['a', 1, 'x']", "(k, v) => typeof v === 'number' ? v + 1 : v", "(k, v) => k === 'a' ? undefined : v", "function (k, v) { return Array.isArray(this) ? v : v }"),
			g.one("undefined", "2", "'\\t'", "20", "'abcdefghijkl'", "0", "Object(3)"))
	case 1:
		text := g.one(`{"a":[1,2,{"b":null}],"__proto__":1}`, `[1,,2]`, `{"a":1,"a":2}`, ` [ -0 , 1e3, 1E-2 ] `, `[01]`, `{"a":1,}`, `"\x"`, `nul`, `{"1":1,"b":2,"0":3}`, "\"\\u2028\"", `-`, `1.`, `.5`, `"a	b"`, `[[[[]]]]`)
		return fmt.Sprintf("return JSON.parse(%s, %s)", strconv.Quote(text), g.one("undefined", "(k, v) => v", "(k, v) => Array.isArray(v) ? v.length : v", "function (k, v) { return k === '1' ? undefined : v }"))
	case 2:
		return fmt.Sprintf("const n = %s; return [String(n), n.toString(%d), JSON.stringify(n), n.toFixed(%d), Math.round(n), Math.trunc(n), n %% 1e9 | 0, n %% 1e9 >>> 0, Math.fround(n)]", g.number(), []int{2, 8, 16, 32}[g.IntN(4)], g.IntN(22))
	case 3:
		return fmt.Sprintf("const n = %s; return [n.toPrecision(%d), n.toExponential(%s), n %% %s, Number.isInteger(n), Number.isSafeInteger(n), Math.hypot(n, 1), Math.sign(n)]",
			g.number(), 1+g.IntN(30), g.one("undefined", "0", "3", "20", "30"), g.one("3", "0.7", "-2", "1e10"))
	default:
		text := g.one("'12px'", "' 0x1F '", "'1_000'", "'1e3'", "'.5.'", "'-'", "'Infinityx'", "'0b101'", "'0o17'", "''", "' '", "'1n'", "'+5'", "'--5'", "'1e1000'", "'9007199254740993'", "'0x'", "'123abc'", "'٣'")
		return fmt.Sprintf("const s = %s; return [Number(s), parseFloat(s), parseInt(s), parseInt(s, %d), +s === Number(s), isNaN(s), Number.parseFloat(s), s == 12]", text, []int{2, 8, 10, 16, 0, 1, 37}[g.IntN(7)])
	}
}

// dates reads and writes dates, in the zone UTC.
func (g *generator) dates() string {
	two := func(n int) string { return fmt.Sprintf("%02d", g.IntN(n)) }
	year := g.one("2024", "1999", "2000", "1970", "0099", "2023", "+012345", "-000001", "99", "5", "24")
	month := g.one("Jan", "Feb", "march", "APR", "May", "June", "jul", "Aug", "September", "Oct", "Nov", "Dec")
	zone := g.one("", "Z", "+01:00", "-0530", " GMT", " UTC", " GMT+2", " EST", " PDT", "+24:00", " (comment)", " z", " GMT+0200 (CEST)")
	clock := g.one("", two(25)+":"+two(61), two(24)+":"+two(60)+":"+two(61), two(24)+":"+two(60)+":"+two(60)+"."+strconv.Itoa(g.IntN(100000)), strconv.Itoa(1+g.IntN(12))+":"+two(60)+g.one(" AM", " pm", "PM"))
	var text string
	switch g.IntN(6) {
	case 0, 1:
		text = year + g.one("", "-"+two(14), "-"+two(14)+"-"+two(33), "-"+two(14)+"-"+two(33)) + g.one("", "T"+clock, " "+clock) + zone
	case 2:
		text = g.one("", "Mon, ", "Tuesday ", "xyz ") + two(33) + " " + month + " " + year + " " + clock + zone
	case 3:
		text = month + " " + strconv.Itoa(1+g.IntN(31)) + g.one(", ", " ", ",") + year + " " + clock + zone
	case 4:
		text = strconv.Itoa(1+g.IntN(13)) + "/" + strconv.Itoa(1+g.IntN(32)) + "/" + year + " " + clock + zone
	default:
		text = g.one("", "today", "2024", "2024-", "12", "2024-1-5", "1 2 3", "2024/02/30", "20240105", "T10:00", "2024-02-30", "2024-02-30T00:00Z", "May", "2024-W01", "+275760-09-13", "+275760-09-13T00:00:00.001Z", "-000000-01-01", "2024-01-01t00:00:00z", "2024-01-01T24:00", "2024-01-01T24:01", "2024-01-01T10")
	}
	if g.IntN(3) == 0 {
		args := strconv.Itoa(g.IntN(3000)) + g.some(6, "", func() string {
			return ", " + g.one("0", "1", "11", "12", "-1", "31", "59", "60", "1.9", "NaN", "999", "1e9")
		})
		return fmt.Sprintf("const d = new Date(%s); return [d.getTime(), Date.UTC(%s), isNaN(d) ? 0 : d.toISOString(), d.toJSON(), d.toUTCString(), d.getDay(), new Date(d).setMonth(%s), new Date(d).setHours(%s), new Date(d).setFullYear(%s)]",
			args, args, g.one("13", "-1", "5, 31"), g.one("25", "1, 2, 3, 4", "-1"), g.one("1900", "2000, 1, 30"))
	}
	return fmt.Sprintf("const d = new Date(%q); return [Date.parse(%q), d.toJSON(), String(d), d.toUTCString(), d.toDateString(), d.toTimeString(), isNaN(d) || d.toISOString(), d.getTimezoneOffset()]", text, text)
}

// iterating chains the helpers of iterators and the methods of arrays and sets.
func (g *generator) iterating() string {
	source := g.one("[3, 1, 4, 1, 5, 9, 2, 6].values()", "new Set([1, 2, 3]).values()", "new Map([[1, 'a'], [2, 'b']]).keys()",
		"(function* () { try { for (let i = 0; ; i++) yield i } finally { log.push('closed') } })()", "Iterator.from({ i: 0, next() { return { done: this.i > 5, value: this.i++ } }, return() { log.push('r'); return {} } })", "'a😀b'[Symbol.iterator]()", "'a1b22'.matchAll(/\\d/g).map((m) => m.index)", "[1, 2].entries().map(([i, x]) => i + x)")
	link := func() string {
		return g.one(".map((x, i) => x + i)", ".map((x) => { log.push(x); return x })", ".filter((x) => x % 2)", ".filter((x, i) => i !== 1)", ".take(4)", ".take(0)", ".take(NaN)", ".take(-1)", ".drop(1)", ".drop(Infinity)",
			".flatMap((x) => [x, x])", ".flatMap((x) => x > 2 ? [] : [x])", ".flatMap((x) => new Set([x]))", ".flatMap((x) => String(x))", ".map((x) => { if (x === 4) throw new RangeError('4'); return x })")
	}
	end := g.one(".toArray()", ".reduce((a, b) => a + b)", ".reduce((a, b) => a + b, 0)", ".some((x) => x > 2)", ".every((x) => x < 3)", ".find((x) => x > 1)", ".forEach((x, i) => log.push([x, i]))", "[Symbol.toStringTag]", ".next()")
	chain := g.some(3, "", link)
	if g.IntN(3) == 0 {
		return g.arrays()
	}
	return fmt.Sprintf("const log = []; try { const it = %s.take(20)%s; log.push(it%s, it.next()) } catch (e) { log.push(e.name) } return log", source, chain, end)
}

// arrays uses the methods of arrays, sets and typed arrays.
func (g *generator) arrays() string {
	i := func() string { return g.one("0", "1", "-1", "2", "10", "-10", "undefined", "1.5") }
	list := g.one("[3, 1, 2]", "[1, , 3]", "['b', 'a', 'C']", "[1, [2, [3, [4]]]]", "[NaN, 0, -0]", "[]", "Array.from({ length: 4 }, (_, i) => i * i)", "Uint8Array.of(3, 1, 2)", "Float32Array.of(1.5, 0.1)", "[undefined, 3, null]", "Array.from('a😀')")
	uses := []string{
		"a.with(" + i() + ", 'w')", "a.toSpliced(" + i() + ", 1, 'x', 'y')", "a.toSorted()", "a.toReversed()", "a.at(" + i() + ")", "a.flat(" + i() + ")", "a.flat(Infinity)", "a.slice(" + i() + ", " + i() + ")",
		"a.findLast((x) => x)", "a.findLastIndex((x) => x > 1)", "a.includes(NaN)", "a.indexOf(3)", "a.lastIndexOf(3, " + i() + ")", "a.copyWithin(0, " + i() + ")", "a.fill(7, " + i() + ")", "a.join(" + g.one("", "'-'", "undefined") + ")",
		"a.reduceRight((x, y) => x + '|' + y)", "a.concat([1, [2]], 3)", "a.splice(" + i() + ", " + i() + ")", "a.sort((x, y) => (x > y) - (x < y))", "[...a.entries()]", "Object.groupBy(a, (x) => typeof x)", "Map.groupBy(a, (x) => x)",
		"new Set(a).union(new Set([1, 2]))", "new Set(a).intersection(new Set([3, 1]))", "new Set(a).difference(new Set([1]))", "new Set(a).symmetricDifference(new Set([1, 9]))", "new Set(a).isSubsetOf(new Set([1, 2, 3]))", "new Set([1]).isSupersetOf(new Set(a))", "new Set(a).isDisjointFrom(new Set([8]))",
		"structuredClone(a)", "Object.entries(a)", "Object.fromEntries([...a.entries()])", "String(a)", "await Array.fromAsync(a, (x) => x)", "Array.isArray(a)", "a.keys().toArray()",
	}
	var b strings.Builder
	for range 1 + g.IntN(4) {
		fmt.Fprintf(&b, "try { log.push(%s) } catch (e) { log.push(e.name) } ", g.one(uses...))
	}
	return "const log = [], a = " + list + "; " + b.String() + "log.push(a); return log"
}

// structured uses classes, labels, destructuring, templates and generators.
func (g *generator) structured() string {
	switch g.IntN(6) {
	case 0:
		return g.classes()
	case 1:
		return g.loops()
	case 2:
		target := g.one("[a, b = a, ...c]", "[, a, [b] = [9], c]", "{ a, b = 2, ...c }", "{ a: { x: a } = { x: 1 }, ['b']: b, c = a }", "[{ a } = {}, b, c = b ?? 5]", "[[a = 1, b = a] = [], c = 2]", "{ a: [a = 1, [b = 2] = [], c] = [7] }", "{ length: a, 0: b, 1: c }", "[a = log.push('da'), b = log.push('db'), c = log.push('dc')]")
		from := g.one("[1, 2, 3, 4]", "{ a: 1, b: undefined, c: 3, d: 4 }", "'xyz'", "[undefined, null, 0]", "[{ a: 7 }, [8]]", "null", "new Set([1, [2], 3])", "(function* () { try { yield 1; yield [2]; yield 3 } finally { log.push('closed') } })()", "{ a: { x: 5 } }")
		how := g.one("const %s = %s", "let a, b, c; (%s = %s)", "(function (%[1]s) { log.push(a, b, c) })(%[2]s); const a = 0, b = 0, c = 0", "let a, b, c; for (%s of [%s]) log.push(a)")
		return "const log = []; try { " + fmt.Sprintf(how, target, from) + "; log.push(a, b, c) } catch (e) { log.push(e.name) } return log"
	case 3:
		tag := "const tag = (s, ...v) => [s.raw, [...s], v, Object.isFrozen(s)]; "
		part := func() string {
			return g.one("a", "${1}", "${x}", "${`n${x}`}", "\\n", "\\u{1F600}", "${[1,2]}", "é", "\\x41", "${() => 1}", "$", "{", "${x ? `y` : 'z'}", "\\`", "\\u00e9")
		}
		text := part() + part() + part() + part()
		return "const x = 5; " + tag + "return [`" + text + "`, tag`" + text + g.one("", "\\u", "\\xz", "\\1") + "`, String.raw`" + text + "`]"
	case 4:
		g.names, g.depth = 0, 2
		return strings.ReplaceAll("const log = []; "+g.one(
			"const f = function* (n) { BODY }; const it = f(3); log.push(it.next('a'), it.next('b'), it.next('c'), [...f(2)].length)",
			"const o = { *[Symbol.iterator]() { let n = 2; BODY } }; for (const x of o) { log.push(x); if (log.length > 12) break }",
			"const f = function* (n) { BODY }; const it = f(2); log.push(it.next()); try { log.push(it.throw(new TypeError('t'))) } catch (e) { log.push(e.name) } log.push(it.return(9), it.next())",
		)+"; return log", "BODY", g.yields())
	default:
		s := g.text()
		return fmt.Sprintf("const s = %s; return [s.length, [...s], s.at(-1), s.isWellFormed(), s.toWellFormed(), s.normalize('%s'), s.toUpperCase(), s.toLowerCase(), s.padStart(8, %s), s.padEnd(7, ''), s.trim(), s.split(''), s.split(%s, 3), s.replaceAll(%s, %s), s.codePointAt(1), s.substring(3, 1), s.substr(-2, 1), s.slice(-3, -1), s.indexOf('a', 1), s.length, encodeURIComponent(s.toWellFormed()), escape(s), s.concat(1, null), s.search('1'), s.lastIndexOf('a')]",
			s, g.one("NFC", "NFD", "NFKC", "NFKD"), g.text(), g.text(), g.text(), g.text())
	}
}

// yields are statements of a generator, which has a variable n.
func (g *generator) yields() string {
	g.depth++
	defer func() { g.depth-- }()
	var b strings.Builder
	for range 1 + g.IntN(3) {
		kind := g.IntN(7)
		if g.depth > 5 {
			kind = g.IntN(3)
		}
		switch kind {
		case 0, 1:
			b.WriteString("log.push(yield n); ")
		case 2:
			b.WriteString(g.one("yield* [7, 8]; ", "if (n-- < 0) return 'early'; ", "log.push(yield* (function* () { yield 'in'; return 'out' })()); ", "throw 'E'; ", "yield; "))
		case 3:
			b.WriteString("try { " + g.yields() + "} catch (e) { log.push(e?.name ?? e); " + g.yields() + "} ")
		case 4:
			b.WriteString("try { " + g.yields() + "} finally { log.push('f'); " + g.one("", "yield 'last'; ", "return 'r'; ") + "} ")
		case 5:
			b.WriteString("while (n-- > 0) { " + g.yields() + "} ")
		default:
			b.WriteString("for (const x of [1, 2]) { " + g.yields() + g.one("", "break; ", "continue; ") + "} ")
		}
	}
	return b.String()
}

func (g *generator) classes() string {
	member := func() string {
		return g.one("x = log.push('x')", "static s = log.push('s')", "#p = 1; p() { return this.#p++ }", "['c' + 1] = this.x", "static { log.push('block', this.name) }", "get g() { return this.x }", "set g(v) { log.push(v) }",
			"static #h = 5; static h() { return this.#h }", "has(o) { return #q in o } #q = 1", "f = () => this.x", "async m() { return await this.x }", "*it() { yield this.x; yield* [1, 2] }", "'quoted key' = 1", "1 = 2", "static async *ag() { yield 1 }", "z;", "get #r() { return 7 } r() { return this.#r }", "toString() { return 'T' }", "static [Symbol.hasInstance](v) { return v === 1 }")
	}
	seen := map[string]bool{}
	var body strings.Builder
	for range 1 + g.IntN(5) {
		if m := member(); !seen[m] {
			seen[m] = true
			if strings.HasPrefix(m, "*") {
				m = ";" + m // after a field without a semicolon it would be a product
			}
			body.WriteString("\t" + m + "\n")
		}
	}
	return "const log = []; class A { constructor(v) { log.push(new.target.name, v); this.k = v } }\nclass B " + g.one("", "extends A") + " {\n" + body.String() + "}\n" +
		"for (const f of [() => new B(1), () => { const b = new B(2); b.g = 3; return [b.g, Object.keys(b)] }, () => new B().p(), () => B.h(), () => new B().f(), () => String(new B()), () => [...new B().it()], () => new B().has({}), () => 1 instanceof B, () => Object.getOwnPropertyNames(B), () => new B().r(), () => B(), () => B.s]) { try { log.push(f()) } catch (e) { log.push(e.name) } } return log"
}

func (g *generator) loops() string {
	inner := func() string {
		return g.one("if (j === 1) continue outer", "if (i === 1) break outer", "if (j === 2) break", "log.push([i, j])", "try { if (j === 1) continue outer } finally { log.push('f' + j) }", "switch (j) { case 0: log.push('zero'); case 1: log.push('one'); break; default: continue outer }",
			"block: { if (i) break block; log.push('in') }", "fs.push(() => [i, j])", "do { if (i === 1) break; log.push('do') } while (false)", "for (const k in { a: 1, b: 2 }) { if (k === 'b') continue outer; log.push(k) }", "try { throw i } catch (e) { if (e === 1) break outer; log.push(e) } finally { if (j === 2) continue outer }", "await null", "log.push(await j)")
	}
	head := g.one("for (let j = 0; j < 3; j++)", "for (const j of [0, 1, 2])", "for await (const j of [0, Promise.resolve(1), 2])", "for (const j of (function* () { try { yield 0; yield 1; yield 2 } finally { log.push('end') } })())", "for (var j = 0; j < 3; j++)")
	return "const log = [], fs = []; outer: for (let i = 0; i < 3; i++) { " + head + " { " + inner() + "; " + inner() + "; " + inner() + " } log.push('next') } return [log, fs.map((f) => f())]"
}

// mayLack begins a program that may use an option or a locale which
// docs/workflows.md names as missing.
const mayLack = "/* Intl */ "

// international formats by Intl.
func (g *generator) international() string {
	locale := g.one("en-US", "en-GB", "de-DE", "fr-FR", "es-ES", "it-IT", "pt-BR", "nl-NL", "sv-SE")
	n := g.one("0", "1", "-1", "2", "1.5", "1234.5", "-98765.4321", "1e9", "0.256", "1e15", "999999", "5", "21", "101")
	switch g.IntN(6) {
	case 0:
		return fmt.Sprintf(mayLack+"return new Intl.NumberFormat(%q, {%s}).formatToParts(%s)", locale, g.one("", "style: 'currency', currency: 'EUR'", "style: 'percent'", "notation: 'compact'", "style: 'unit', unit: 'kilobyte'", "minimumFractionDigits: 1", "notation: 'scientific'", "notation: 'engineering'", "compactDisplay: 'long', notation: 'compact'", "currencySign: 'accounting', style: 'currency', currency: 'USD'"), n)
	case 1:
		return fmt.Sprintf(mayLack+"return new Intl.PluralRules(%q, { type: '%s' }).select(%s)", locale, g.one("cardinal", "ordinal"), n)
	case 2:
		return fmt.Sprintf(mayLack+"return new Intl.ListFormat(%q, { type: '%s', style: '%s' }).format(['a', 'b', 'c'].slice(%d))", locale, g.one("conjunction", "disjunction", "unit"), g.one("long", "short", "narrow"), g.IntN(4))
	case 3:
		return fmt.Sprintf(mayLack+"return new Intl.RelativeTimeFormat(%q, { numeric: '%s', style: '%s' }).format(%s, '%s')", locale, g.one("auto", "always"), g.one("long", "short", "narrow"), n, g.one("day", "hours", "minute", "year", "weeks", "month", "second", "quarter"))
	case 4:
		return fmt.Sprintf(mayLack+"return new Intl.DateTimeFormat(%q, { timeZone: '%s', dateStyle: '%s' }).formatToParts(new Date(%d))", locale, g.one("UTC", "Europe/Berlin", "Asia/Tokyo"), g.one("full", "long", "medium", "short"), g.Int64N(2e12))
	default:
		return fmt.Sprintf(mayLack+"const o = new Intl.%s(%q).resolvedOptions(); return [o.locale, o.numberingSystem, o.timeZone, o.style, o.type]", g.one("NumberFormat", "DateTimeFormat", "ListFormat"), g.one(locale, "en", "de", "xx", "de-AT"))
	}
}

// expressions uses regular expressions that texts of any units make.
func (g *generator) expressions() string {
	unit := func() string {
		return g.one("a", "b", "\\ud83d", "\\udc00", "\\ud83d\\ude00", ".", "[^a]", "[\\ud83d]", "[\\ud83d\\ude00]", "x?", "(a|b)", "(?<n>b)", "(?<m>.)|(?<k>a)", "\\\\k<n>", "^", "$", "\\\\p{L}", "[\\\\p{L}--[a-c]]", "[a-z&&[aeiou]]", "[\\\\q{ab|c}]", "\\\\p{Lu}", "\\\\u{1F600}", "\\\\ud83d", "(?<=a)", "(?!b)", "\\\\b", "[[a-d][x]]", "é", "\\\\cA", "\\\\0", "[\\\\b]", "{", "}", "]", "\\\\-", "(?i:A)", "(?-i:b)", "İ", "ſ")
	}
	source := unit() + unit() + g.one("", "+", "*?", "{1,2}") + g.one("", unit())
	text := g.one("ab", "a\\ud83db", "\\ud83d\\ude00", "x\\udc00\\ud83d", "aAbB", "abcab", "😀ab", "éı", "İſ", "")
	return fmt.Sprintf(`let re; try { re = new RegExp("%s", "%s") } catch (e) { return e.name }
		const s = "%s%s", log = [re.source, re.flags];
		log.push(s.match(re), s.replace(re, %s), s.split(re, 4), re.test(s), re.lastIndex, re[Symbol.search](s), re.exec(s)?.groups, re.exec(s)?.indices?.groups);
		try { log.push([...s.matchAll(re)].map((m) => [m.index, m[0]])) } catch (e) { log.push(e.name) }
		return log`, source, g.one("", "g", "u", "v", "gu", "gv", "i", "iu", "iv", "d", "dg", "y", "dgv", "s"), text, text,
		g.one(`'[$&]'`, "'$<n>'", "'$1$2$$'", "(m, ...r) => r.length", "(...m) => typeof m.at(-1)", "\"$`|$'\"", "'$01'", "'$<'"))
}
