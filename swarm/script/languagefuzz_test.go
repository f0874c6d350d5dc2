package script

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"agentswarm/internal/testing/campaign"
)

// generator makes programs of the features that scripts have beyond their
// engine. The same seed gives the same program.
type generator struct {
	*rand.Rand
	depth, groups, names int
}

func newGenerator(seed uint64) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, 1))}
}

func (g *generator) one(of ...string) string { return of[g.IntN(len(of))] }

// program is the body of an async function.
func (g *generator) program() string {
	switch g.IntN(19) {
	case 0:
		return g.matching()
	case 1:
		return g.expressions()
	case 2:
		return g.asynchronous()
	case 3:
		return g.formatting()
	case 4:
		return g.comparing()
	case 5:
		return g.writing()
	case 6:
		return g.dates()
	case 7:
		return g.iterating()
	case 8, 9:
		return g.structured()
	case 10:
		return g.international()
	case 11, 12, 13, 14:
		return g.operating()
	case 15, 16:
		return g.addresses()
	case 17:
		return g.inheriting()
	default:
		return g.expressions()
	}
}

const fuzzText = `['abab', 'aab1 é', 'ÀÉé\n_b', '😀a😀', 'ſKk b', '', 'a\u2028b', '1.5-2'][%d]`

// withPairs is the index of the text with surrogate pairs.
const withPairs = 3

// cutsPairs matches patterns whose empty matches cut pairs in node.
var cutsPairs = regexp.MustCompile(`\(\?<?!|\\B`)

// matching matches a random pattern in several ways.
func (g *generator) matching() string {
	flags := g.one("", "g", "i", "u", "gu", "iu", "v", "iv", "gimsu", "y", "d", "dgv", "m", "gs")
	wide := strings.ContainsAny(flags, "uv")
	g.groups, g.depth = 0, 0
	source := strconv.Quote(g.pattern(wide))
	text := g.IntN(8)
	if wide && text == withPairs && cutsPairs.MatchString(source) {
		text = 0
	}
	return fmt.Sprintf(`const out = [];
		let re;
		try { re = new RegExp(%s, %q) } catch (e) { return e.name }
		const text = %s;
		const m = re.exec(text);
		out.push(m && [...m], m && m.index, m && m.groups && {...m.groups}, m && m.indices, re.lastIndex);
		re.lastIndex = 0;
		out.push(text.replace(re, '[$&|$1]'), text.search(re), text.split(re), re.flags, re.source);
		if (re.global) out.push([...text.matchAll(re)].map((x) => [x.index, ...x]));
		return out`, source, flags, fmt.Sprintf(fuzzText, text))
}

func (g *generator) pattern(wide bool) string {
	g.depth++
	defer func() { g.depth-- }()
	var b strings.Builder
	for i := range 1 + g.IntN(3) {
		if i > 0 && g.IntN(4) == 0 {
			b.WriteString("|")
		}
		b.WriteString(g.atom(wide))
		if g.IntN(3) == 0 {
			b.WriteString(g.one("*", "+", "?", "{2}", "{0,2}", "{1,}") + g.one("", "", "?"))
		}
	}
	return b.String()
}

func (g *generator) atom(wide bool) string {
	if g.depth > 3 {
		return g.one("a", "b", ".", "1")
	}
	if wide && g.IntN(4) == 0 {
		return g.one(`\p{L}`, `\P{L}`, `\p{Lu}`, `\p{Emoji}`, `\p{scx=Latin}`, `\u{1F600}`, `[\p{Ll}\d]`, `[^\p{L}]`, "😀")
	}
	switch g.IntN(10) {
	case 0:
		g.groups++
		return "(" + g.pattern(wide) + ")"
	case 1:
		return "(?:" + g.pattern(wide) + ")"
	case 2:
		return g.one("(?=", "(?!", "(?<=", "(?<!") + g.pattern(wide) + ")"
	case 3:
		if g.groups > 0 {
			return `\` + strconv.Itoa(1+g.IntN(g.groups))
		}
		return g.one(`\d`, `\w`, `\s`, `\D`, `\W`, `\S`)
	case 4:
		return g.one("^", "$", `\b`, `\B`)
	case 5:
		return g.one("[ab]", "[^a]", "[a-c1]", `[\w-]`, `[\s\d]`, "[é]", "[^]", "[à-ÿ]", "[K]")
	case 6:
		return g.one("(?i:", "(?-i:", "(?s:", "(?m:") + g.pattern(wide) + ")"
	default:
		return g.one("a", "b", "é", "k", "1", ".", " ", "A", `\n`, `\.`, "s")
	}
}

// asynchronous runs async generators inside one another and logs the order in
// which they continue.
func (g *generator) asynchronous() string {
	g.names, g.depth = 0, 0
	make := g.one("async function* g(n) { BODY } const it = g(3)", "const o = { async *g(n) { BODY } }; const it = o.g(3)",
		"class A { async *#g(n) { BODY } go() { return this.#g(3) } } const it = new A().go()")
	use := g.one(
		"for await (const x of it) { log.push(x); if (log.length > 30) break }",
		"let k = 0; here: for await (const x of it) { for (const y of [1, 2]) { if (k++ > 3) break here; if (y === 2) continue here; log.push(x) } }",
		"log.push(await it.next('a'), await it.next('b'), await it.return('c'), await it.next('d'))",
		"log.push(await it.next('a'), await it.throw('t').catch((e) => 'caught ' + (e?.name ?? e)), await it.next('d'))",
		"log.push(await Promise.all([it.next(1), it.next(2), it.return(3), it.next(4)].map((p) => p.catch((e) => 'caught ' + (e?.name ?? e)))))",
	)
	return `const log = [];
		const tick = (async () => { for (let i = 0; i < 12; i++) { await null; log.push('t' + i) } })();
		` + strings.Replace(make, "BODY", g.statements(), 1) + `;
		try { ` + use + ` } catch (e) { log.push('threw ' + (e?.name ?? e)) }
		await tick;
		return log`
}

func (g *generator) statements() string {
	g.depth++
	defer func() { g.depth-- }()
	var b strings.Builder
	for range 1 + g.IntN(3) {
		g.names++
		v := "v" + strconv.Itoa(g.names)
		kind := g.IntN(11)
		if g.depth > 3 {
			kind = g.IntN(5)
		}
		switch kind {
		case 0, 1:
			fmt.Fprintf(&b, "log.push('got', yield %d); ", g.IntN(9))
		case 2:
			b.WriteString(g.one("await null; ", "log.push(await Promise.resolve(5)); ", "yield Promise.resolve(6); ", "yield; "))
		case 3:
			fmt.Fprintf(&b, "const %s = [yield 1, await 2]; log.push(%s.length); ", v, v)
		case 4:
			b.WriteString(g.one("yield* [7, 8]; ", "log.push(yield* (async function* () { yield 'in'; return 'out' })()); ", "if (n-- < 0) return 'early'; "))
		case 5:
			fmt.Fprintf(&b, "try { %s } catch (e) { log.push('c' + (e?.name ?? e)); %s } ", g.statements(), g.statements())
		case 6:
			fmt.Fprintf(&b, "try { %s } finally { log.push('f'); %s } ", g.statements(), g.one("", "await null; ", "yield 'last'; "))
		case 7:
			fmt.Fprintf(&b, "for await (const %s of [1, Promise.resolve(2)]) { log.push(%s); %s } ", v, v, g.one("", "break; ", "yield "+v+"; "))
		case 8:
			fmt.Fprintf(&b, "if (n-- > 1) { %s } ", g.statements())
		case 9:
			b.WriteString(g.one("throw 'E'; ", "return Promise.resolve('R'); ", "yield Promise.reject('X'); "))
		default:
			fmt.Fprintf(&b, "const %s = async () => { await null; return 4 }; yield await %s(); ", v, v)
		}
	}
	return b.String()
}

// formatting writes numbers and dates.
func (g *generator) formatting() string {
	locale := g.one("en-US", "en-GB", "de-DE", "fr-FR", "es-ES", "it-IT", "pt-BR", "nl-NL", "sv-SE", "en-IN", "de-CH", "en-CA")
	number := strconv.FormatFloat((g.Float64()-0.3)*[]float64{1, 100, 1e4, 1e7, 1e-3}[g.IntN(5)], 'g', 1+g.IntN(12), 64)
	if g.IntN(2) == 0 {
		options := g.one("", "style: 'percent'", "style: 'currency', currency: 'EUR'", "style: 'currency', currency: 'USD'", "style: 'currency', currency: 'JPY'",
			"style: 'percent', maximumFractionDigits: 2", "style: 'currency', currency: 'CHF', currencyDisplay: 'code'")
		more := g.one("", "maximumFractionDigits: 1, minimumFractionDigits: 0", "minimumFractionDigits: 2", "maximumSignificantDigits: 3", "useGrouping: false",
			"signDisplay: 'always'", "minimumIntegerDigits: 3", "signDisplay: 'exceptZero'", "roundingMode: 'floor'")
		return fmt.Sprintf("return [(%s).toLocaleString(%q, {%s}), (%s).toLocaleString(%q, {%s})]", number, locale, options, number, locale, more)
	}
	field := func(name string, values ...string) string {
		if v := g.one(append(values, "", "")...); v != "" {
			return fmt.Sprintf("%s: '%s', ", name, v)
		}
		return ""
	}
	options := field("weekday", "long", "short") + field("year", "numeric", "2-digit") + field("month", "long", "short", "numeric", "2-digit") +
		field("day", "numeric", "2-digit") + "timeZone: '" + g.one("UTC", "UTC", "Europe/Berlin", "America/New_York", "+05:30") + "', "
	if g.IntN(3) == 0 {
		options += "month: 'short', day: 'numeric', " + g.one("hour: 'numeric', minute: '2-digit'", "hour: '2-digit', minute: '2-digit', second: '2-digit'", "hour: 'numeric', hour12: true")
	}
	date := fmt.Sprintf("new Date(%d)", g.Int64N(2e12))
	return fmt.Sprintf("return [%s.toLocaleString(%q, {%s}), %s.toLocaleString(%q, {dateStyle: '%s', timeStyle: '%s'})]",
		date, locale, options, date, locale, g.one("full", "long", "medium", "short"), g.one("long", "medium", "short"))
}

// comparing sorts texts.
func (g *generator) comparing() string {
	words := make([]string, 0, 8)
	for range 8 {
		var b strings.Builder
		for range 1 + g.IntN(4) {
			b.WriteString(g.one("a", "A", "b", "B", "é", "e", "E", "ä", "z", "1", "10", "2", "02", "-", "_", " ", ".", "ß", "ø"))
		}
		words = append(words, strconv.Quote(b.String()))
	}
	options := g.one("", "numeric: true", "sensitivity: 'base'", "sensitivity: 'accent'", "numeric: true, sensitivity: 'base'", "caseFirst: 'upper'")
	return fmt.Sprintf("const w = [%s]; return [w.toSorted((a, b) => a.localeCompare(b, 'en', {%s})), w.map((x) => x.localeCompare(w[0], undefined, {%s}))]",
		strings.Join(words, ", "), options, options)
}

// compareWithNode holds programs against node. Where there is none that is new
// enough, it holds that they run at all.
func compareWithNode(t *testing.T, bodies []string) {
	t.Helper()
	var want []string
	if node() != "" {
		var err error
		if want, err = byNode(t.Context(), bodies); err != nil {
			t.Fatal(err)
		}
	}
	for i, body := range bodies {
		got := byScript(body)
		switch {
		case want != nil:
			compareValues(t, body, got, want[i])
		case strings.HasPrefix(got, "broken: ") || got == "never settles" || strings.HasPrefix(got, "refused: "):
			t.Errorf("%s\n\tgives %s", body, got)
		}
	}
}

// compareValues holds the value of a program against that of node.
func compareValues(t *testing.T, body, got, want string) {
	t.Helper()
	switch {
	case got == want:
	case strings.HasPrefix(want, "throws ") && strings.HasPrefix(got, want):
	case want == "throws SyntaxError" && strings.HasPrefix(got, "refused: "):
	case strings.HasPrefix(body, mayLack) && strings.HasPrefix(got, "throws RangeError (RangeError: Intl."):
	default:
		t.Errorf("%s\n\tgives %s\n\twant  %s", body, got, want)
	}
}

const programsOfBatch = 100 // programs of a process of node

// batch are generated programs.
func batch(seed uint64, n int) []string {
	bodies := make([]string, 0, programsOfBatch)
	for i := range programsOfBatch {
		bodies = append(bodies, newGenerator(seed<<32+uint64(n*programsOfBatch+i)).program())
	}
	return bodies
}

// TestRandomProgramsEqualNode holds generated programs against node: in the gate 250
// whose values are recorded, in a campaign others beside node itself.
func TestRandomProgramsEqualNode(t *testing.T) {
	t.Parallel()
	seed := campaign.Seed(t)
	if campaign.Running(t) {
		for n := range 100 {
			compareWithNode(t, batch(seed, n))
		}
		return
	}
	const recorded = "testdata/programs.txt"
	bodies := batch(seed, 0)
	for i := range 150 { // each operator several times
		bodies = append(bodies, newGenerator(uint64(i)).operating())
	}
	if *recordLanguage {
		recordPrograms(t, recorded, bodies)
	}
	text, err := os.ReadFile(recorded)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(lines) != len(bodies) {
		t.Fatalf("%s has %d values for %d programs; record them with -record-language and node 24", recorded, len(lines), len(bodies))
	}
	for i, body := range bodies {
		sum, want, _ := strings.Cut(lines[i], " ")
		if sum != bodySum(body) {
			t.Fatalf("line %d of %s is of another program; record the values with -record-language and node 24:\n%s", i+1, recorded, body)
		}
		compareValues(t, body, byScript(body), want)
	}
}

// bodySum identifies a program.
func bodySum(body string) string {
	sum := fnv.New32a()
	sum.Write([]byte(body))
	return fmt.Sprintf("%08x", sum.Sum32())
}

// recordPrograms writes the values that node gives for programs.
func recordPrograms(t *testing.T, file string, bodies []string) {
	t.Helper()
	if node() == "" {
		t.Fatal("there is no node that is new enough")
	}
	values, err := byNode(t.Context(), bodies)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i, v := range values {
		fmt.Fprintf(&b, "%s %s\n", bodySum(bodies[i]), v)
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func FuzzLanguage(f *testing.F) {
	for seed := range uint64(5) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		compareWithNode(t, []string{newGenerator(seed).program()})
	})
}
