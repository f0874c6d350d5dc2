package script

import (
	"fmt"
	"strconv"
	"strings"
)

// addresses reads, changes and joins addresses and their parameters.
func (g *generator) addresses() string {
	if g.IntN(3) == 0 {
		return g.parameters()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "const log = []; const see = (u) => log.push(u.href, u.origin, u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.pathname, u.search, u.hash, [...u.searchParams]);\n"+
		"try { const u = new URL(%s); see(u);\n", g.address())
	for range g.IntN(4) {
		fmt.Fprintf(&b, "\tu.%s; see(u);\n", g.one(
			"href = "+g.address(), "protocol = "+g.one("'http'", "'https:'", "'ftp'", "'x'", "'file'", "'1'", "''"),
			"username = "+g.piece(), "password = "+g.piece(), "host = "+g.host(), "hostname = "+g.host(),
			"port = "+g.one("'80'", "'443'", "'8080'", "''", "'65536'", "'8a'", "81", "'a'", "' 9'", "'0'"),
			"pathname = "+g.piece(), "search = "+g.piece(), "hash = "+g.piece(),
			"searchParams.append("+g.piece()+", "+g.piece()+")", "searchParams.set('a', "+g.piece()+")", "searchParams.delete('a')", "searchParams.sort()"))
	}
	b.WriteString("} catch (e) { log.push(e.name) }\nreturn [log, URL.canParse(" + g.address() + "), URL.parse(" + g.address() + ")?.href]")
	return b.String()
}

// address is the argument, or both arguments, of URL.
func (g *generator) address() string {
	text := g.one("http:", "https:", "HTTP:", "ftp:", "file:", "ws:", "mailto:", "data:", "x-y:", "", "", ":") +
		g.one("//", "//", "//", "/", "", "\\\\\\\\", "///") + g.one("", "", "u@", "u:p@", ":@", "u:p@q@", "é:ü@")
	host, _ := strconv.Unquote(strings.ReplaceAll(g.host(), "'", `"`))
	text += host + g.one("", "", ":80", ":443", ":8080", ":", ":99999", ":x") +
		g.one("", "/", "/a/b", "/a/../b", "/./a/%2e%2E/b", "/a b", "/%zz", "/é", "\\\\a", "//", "/C|/x", "/a;b=1", "/{x}`^") +
		g.one("", "", "?", "?a=1&b=2", "?a=b c", "?é=ü", "?a=%20+b", "?'\\\"<>") + g.one("", "", "#", "#h", "#a b", "#é`{}", "#?x")
	text = g.one("", "", "", " ", "\\t") + text + g.one("", "", "", " ", "\\n")
	if g.IntN(3) == 0 {
		return `"` + text + `", ` + g.one("'https://e.com/d/e/f?g#h'", "'http://u:p@h:81/x/'", "'file:///a/b'", "'mailto:a@b'", "'e.com'", "undefined")
	}
	return `"` + text + `"`
}

func (g *generator) host() string {
	return g.one("'ex.com'", "'EX.com'", "'a.b.c'", "'127.0.0.1'", "'0x7f.1'", "'1.2.3'", "'256.1.1.1'", "'[::1]'", "'[1:2::3]'", "'[::1'", "'münchen.de'",
		"'xn--mnchen-3ya.de'", "'a%41.com'", "''", "'a b'", "'a_b'", "'ex.com.'", "'ex.com:9'", "'localhost'", "'4294967295'", "'a..b'", "'ß.de'", "'日本.jp'")
}

// piece is a text for a part of an address.
func (g *generator) piece() string {
	return g.one("'a'", "'a b'", "'/x/../y'", "'?q=1&r'", "'#z'", "''", "'é😀'", "'%41%zz'", "'a+b'", "'a:b@c/d'", "'~!*()'", "'\\\\x'", "'[]|^`'", "'\"<>'", "5", "null", "'&='", "'\\ud83d'", "'a\\nb'", "'x=1#y'")
}

// parameters uses URLSearchParams alone.
func (g *generator) parameters() string {
	from := g.one("'a=1&b=2&a=3'", "'?x=%20+y&z'", "'&&=&a'", "[['a', 1], ['b', null]]", "{ b: 'é', a: '&' }", "new Map([['k', 'v w']])", "new URLSearchParams('q=1')", "''", "'a=%zz&b=%E9&c=%C3%A9'", "[['a']]", "null", "undefined", "'a\\u0000=\\ud800'", "'=1&b=='", "new Set(['ab'])")
	var b strings.Builder
	for range 1 + g.IntN(5) {
		fmt.Fprintf(&b, "log.push(%s, String(p), p.size); ", g.one(
			"p.get("+g.piece()+")", "p.getAll('a')", "p.has('a')", "p.has('a', '1')", "p.append("+g.piece()+", "+g.piece()+")", "p.set('a', "+g.piece()+")",
			"p.delete('a', '3')", "p.delete('b')", "p.sort()", "[...p]", "[...p.keys()].join()", "[...p.values()].join('|')", "Object.fromEntries(p)",
			"p.forEach((v, k) => log.push(k + v))", "JSON.stringify(p)", "p.entries().next()", "Object.prototype.toString.call(p)"))
	}
	return "const log = []; try { const p = new URLSearchParams(" + from + "); " + b.String() + "} catch (e) { log.push(e.name) } return log"
}

// inheriting uses classes that extend others, with super in each place for it.
func (g *generator) inheriting() string {
	base := g.one(
		"class A { constructor(...v) { log.push('A', new.target.name, v.length); this.a = v } m(x) { return ['A.m', x, this.a?.length] } get g() { return 'A.g' } set g(v) { log.push('set', v) } static s(x) { return ['A.s', this.name, x] } static t = 'A.t' }",
		"class A extends Array { m(x) { return ['arr', x, this.length] } get g() { return this.length } static s() { return this.of(1, 2).length } }",
		"class A extends Error { constructor(m) { super(m ?? 'none', { cause: 7 }); this.name = 'Own' } m() { return [this.message, this.cause, this instanceof Error] } static s() { return 's' } }",
		"class A extends Map { m(k) { return this.set(k, 1).size } get g() { return [...this.keys()] } static s() { return this.groupBy([1, 2], (x) => x % 2) instanceof this } }",
		"function A(v) { log.push(new.target?.name); this.a = [v] } A.prototype.m = function (x) { return ['f', x] }; A.s = () => 's'",
		"const A = class { static #made = 0; static made() { return A.#made } #secret = ++A.#made; m(o = this) { return #secret in o ? o.#secret : 'none' } static s(o) { return o.#secret } }",
	)
	make := g.one("", "constructor(...v) { super(...v); log.push('B', new.target === B) }", "constructor() { const f = () => super(4); f(); this.b = 1 }", "constructor() { log.push('early'); this.x }",
		"constructor() { super(); return { m: () => 'other', other: true } }", "constructor(v) { super(v); try { super(v) } catch (e) { log.push(e.name) } }", "constructor() { return 5 }", "constructor() { try { super(1) } finally { log.push('f') } }")
	member := func() string {
		return g.one("m(x) { return ['B', super.m(x)] }", "m(x) { return (() => super.m?.(x))() }", "async am() { return [await null, super.m(1)] }", "get g() { return ['B', super.g] }", "set g(v) { super.g = v; log.push('B.set') }",
			"static s(x) { return ['B', super.s(x)] }", "own = this.m?.(0)", "own2 = new.target", "*[Symbol.iterator]() { yield super.m(2); yield 9 }", "static { log.push(this === B, super.name) }",
			"static get [Symbol.species]() { return A }", "['m' + 2]() { return super['m'](3) }", "toString() { return 'B:' + super.toString().length }", "get [Symbol.toStringTag]() { return 'Tag' }", "#p() { return super.m(5) } p() { return this.#p() }",
			"static #sp = 3; static sp() { return B.#sp++ + B.#sp }", "get #a() { return this._a ?? 'un' } set #a(v) { this._a = v } acc() { this.#a = 1; this.#a += 2; return this.#a }", "w = (this.y = 1, () => this.y)", "static async *sg() { yield* [1, super.name] }",
			"static 'with space' = 1; 5 = 'five'", "constructor2 = B.name", "static name = 'Named'", "m3() { delete super.m }", "m4() { return Object.keys(this) }")
	}
	seen := map[string]bool{}
	var body strings.Builder
	body.WriteString("\t" + make + "\n")
	for range 1 + g.IntN(5) {
		m := member()
		name, _, _ := strings.Cut(m, "(")
		if seen[name] {
			continue
		}
		seen[name] = true
		if strings.HasPrefix(m, "*") || strings.HasPrefix(m, "[") {
			m = ";" + m // after a field without a semicolon it would be a product or an index
		}
		body.WriteString("\t" + m + "\n")
	}
	return "const log = []; " + base + "\nclass B extends A {\n" + body.String() + "}\n" +
		"for (const f of [() => new B(1), () => new B(1, 2).m('x'), () => { const b = new B(); b.g = 3; return b.g }, () => B.s(new B()), () => [...new B()], () => new B().m2(), () => String(new B()), " +
		"() => new B().p(), () => B.sp(), () => new B().acc(), () => new B().w(), () => new B().m3(), () => new B().m4(), () => new B().own, () => B.t2, () => B.name, () => Object.getOwnPropertyNames(B.prototype), " +
		"() => Object.getPrototypeOf(B) === A, () => new B() instanceof A, () => B.call({}), () => Reflect.construct(A, [1], B) instanceof B, () => Object.prototype.toString.call(new B()), () => new B().map?.((x) => x) instanceof B]) { try { log.push(f()) } catch (e) { log.push(e.name) } }\n" +
		"try { log.push(await new B().am?.()) } catch (e) { log.push(e.name) }\nreturn log"
}
