package script

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"

	"agentswarm/internal/testing/campaign"
)

// evaluateScript runs a script that never waits, and returns its value.
func evaluateScript(t *testing.T, text string) goja.Value {
	t.Helper()
	p, err := Load(Source{Name: "a.js", Text: text})
	if err != nil {
		t.Fatalf("Load(%q) = %v", text, err)
	}
	v, err := call(t, newRuntime(), p.Code)
	if err != nil {
		t.Fatalf("run %q: %v", text, err)
	}
	return v
}

// call runs an async function that a program gives, to its end.
func call(t *testing.T, rt *goja.Runtime, code *goja.Program) (goja.Value, error) {
	t.Helper()
	f, err := rt.RunProgram(code)
	if err != nil {
		t.Fatal(err)
	}
	run, ok := goja.AssertFunction(f)
	if !ok {
		t.Fatalf("the program gives %v, want a function", f)
	}
	v, err := run(goja.Undefined())
	if err != nil {
		return nil, err
	}
	p, ok := v.Export().(*goja.Promise)
	switch {
	case !ok:
		return v, nil
	case p.State() == goja.PromiseStateRejected:
		return nil, fmt.Errorf("%v", p.Result())
	case p.State() == goja.PromiseStatePending:
		t.Fatal("the script waits")
	}
	return p.Result(), nil
}

func TestLoadedScriptsRun(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, give, want string }{
		{"nothing", "", "undefined"},
		{"only a comment", "// nothing", "undefined"},
		{"top-level return", "return 1", "1"},
		{"top-level await", "const x = await Promise.resolve(2); return x", "2"},
		{"meta is a const", "export const meta = {name: 'a', description: 'd'}\nreturn meta.name", "a"},
		{"comments before meta", "// one\n/* two\n*/ export  const\nmeta = {name: 'a', description: 'd'}; return 3", "3"},
		{"hashbang", "#!/usr/bin/env swarm\nreturn 4", "4"},
		{"hashbang and meta", "#!/usr/bin/env swarm\nexport const meta = {name: 'a', description: 'd'}; return 4", "4"},
		{"byte order mark", "\ufeffexport const meta = {name: 'a', description: 'd'}; return 5", "5"},
		{"last line is a comment", "return 6 // six", "6"},
		{"windows lines", "const a = 1\r\nreturn a\r\n", "1"},
		{"the word in texts", "return 'export default import' + `export const meta` // export", "export default importexport const meta"},
		{"the word as a key", "const o = {export: 1, import: 2}; return o.export + o.import", "3"},
		{"a name shadows", "const args = 7; return args", "7"},
		{"strict", "return (function () { return this })() === undefined", "true"},
		{"a slash behind a bracket", "const f = {a: 6}; return f['a'] / 2 / 1", "3"},
		{"brackets in a regexp", "return '(['.replace(/[([]/g, 'x') + /\\/\\(/.test('/(')", "xxtrue"},
		{"an option of a function of its own", "const most = 3; const f = (o) => o.stopWhen(4); return f({stopWhen: (n) => n > most})", "true"},
		{"closed options", "const o = {stopWhen: (s) => s.n > 1, onTool({id}) { return 'no ' + id }, get stopWhen() { return o }}; return o.onTool({id: 1})", "no 1"},
		{"a source map is not read", "return 8\n//# sourceMappingURL=/etc/passwd", "8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := evaluateScript(t, tt.give).String(); got != tt.want {
				t.Errorf("the script %q returns %s, want %s", tt.give, got, tt.want)
			}
		})
	}
}

func TestPositionsAreThoseOfTheText(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, give, want string }{
		{"first line", "return new Error('x').stack", "a.js:1:8("},
		{"behind export", "export const meta = {name: 'a', description: 'd'}; return new Error('x').stack", "a.js:1:59("},
		{"later line", "\n\n  return new Error('x').stack", "a.js:3:10("},
		{"in a function", "const f = () => { return new Error('x').stack }\nreturn f()", "a.js:1:26("},
		{"its caller", "const f = () => { return new Error('x').stack }\nreturn f()", "a.js:2:9("},
		{"in a class", "class A { static x = new Error('x').stack }; return A.x", "a.js:1:22("},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if stack := evaluateScript(t, tt.give).String(); !strings.Contains(stack, tt.want) {
				t.Errorf("the stack of %q is\n%s\nwant %s in it", tt.give, stack, tt.want)
			}
		})
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	const meta = "export const meta = {name: 'a', description: 'd'}\n"
	tests := []struct {
		name, give string
		code       Code
		where      string
		want       string // in the message
		not        string // not in it
	}{
		{"an error", "const a = ;", CodeSyntax, "a.js:1:11", "unexpected token ;", "TypeScript"},
		{"on a later line", "const a = 1\n\tconst b = 2 3", CodeSyntax, "a.js:2:14", "unexpected number", "TypeScript"},
		{"columns count characters", "const ä = 'ö'; const b = ;", CodeSyntax, "a.js:1:26", "unexpected token ;", ""},
		{"declared twice", "const a = 1\nlet a = 2", CodeSyntax, "a.js:2:5", "already been declared", ""},
		{"await before a power", "const f = async (x) => (await x) ** 2 + await `${x}` ** 2", CodeSyntax, "a.js:1:41", "await before ** wants parentheses", ""},
		{"await of parentheses before a power", "return await (2) ** (await 3) ** 2", CodeSyntax, "a.js:1:8", "await before ** wants parentheses", ""},
		{"await before a power in a power", "for await (const x of []) ;\nreturn 2 ** await x[(1)] /* ) */ ** 2", CodeSyntax, "a.js:2:13", "await before ** wants parentheses", ""},
		{"one brace too many", "return 1 }", CodeSyntax, "a.js:1:10", "unexpected }", ""},
		{"out of the function", "}; f(); async () => {", CodeSyntax, "a.js:1:1", "unexpected }", ""},
		{"out of the call", "}, f(), async () => {", CodeSyntax, "a.js:1:1", "unexpected }", ""},
		{"never closed", "if (1) {\n  f(", CodeSyntax, "a.js:2:4", "this ( is never closed", ""},
		{"the inner one is closed", "if (1) {\n  f()\n", CodeSyntax, "a.js:1:8", "this { is never closed", ""},
		{"the wrong one", "f(1]\n", CodeSyntax, "a.js:1:4", "unexpected ]", ""},
		{"text not closed", "return 'abc", CodeSyntax, "a.js:1:8", "", ""},
		{"a template not closed", "f()\nreturn `abc\nd ${f({})} e\n", CodeSyntax, "a.js:2:8", "this ` is never closed", ""},
		{"a template in a template", "return `abc${`d}`\n", CodeSyntax, "a.js:1:12", "this $ is never closed", ""},
		{"await", "[1].map(x => { await f(x) })", CodeSyntax, "a.js:1:22", "write async in front of its parameters", ""},
		{"for await in a plain function", "const f = () => {\n  for await (const x of y) {}\n}", CodeSyntax, "a.js:2:3", "write async in front of its parameters", ""},
		{"for await over keys", "for await (const x in y) {}", CodeSyntax, "a.js:1:1", "for await wants of", ""},
		{"for await by counting", "for await (let i = 0; i < 3; i++) {}", CodeSyntax, "a.js:1:1", "for await wants of", ""},
		{"super changed in an async generator", "class A { async *m() { super.x += 1 } }", CodeSyntax, "a.js:1:24", "write super.x = super.x + …", ""},
		{"behind an async method", "const o = { async *m() { yield 1 }, x: 1 }; const = 2", CodeSyntax, "a.js:1:51", "", ""},
		{"behind for await", "for await (const x of y) {} const = 2", CodeSyntax, "a.js:1:35", "", ""},
		{"unknown property", "const a = 1\nreturn /é\\p{Nope}/u", CodeSyntax, "a.js:2:10", "invalid property name Nope", ""},
		{"property of strings", "return /\\p{RGI_Emoji}/v", CodeSyntax, "a.js:1:9", "use \\p{Emoji_Presentation}", ""},
		{"pattern", "return /a(b/", CodeSyntax, "a.js:1:10", "unterminated group", ""},
		{"nothing to repeat", "const é = /é**/", CodeSyntax, "a.js:1:14", "nothing to repeat", ""},
		{"group name", "return /(?<a>x)(?<a>y)/", CodeSyntax, "a.js:1:21", "duplicate capture group name a", ""},
		{"flag", "return /a/gg", CodeSyntax, "a.js:1:9", "stands twice", ""},
		{"flags", "return /a/uv", CodeSyntax, "a.js:1:9", "u and v exclude each other", ""},

		{"NUL", "a\x00b", CodeSyntax, "a.js:1:2", "NUL", ""},
		{"not UTF-8", "a\n\xff", CodeSyntax, "a.js:2:1", "not UTF-8", ""},
		{"too long", strings.Repeat(" ", MaxSource+1), CodeSyntax, "a.js", "524289 bytes; at most 524288", ""},
		{"a fence", "```js\nreturn 1\n```\nfoo bar", CodeSyntax, "a.js:4:5", "unexpected identifier", ""},

		{"import", "import x from 'y'", CodeSyntax, "a.js:1:1", "import is not there", "TypeScript"},
		{"import()", "const x = await import('y')", CodeSyntax, "a.js:1:17", "import() is not there", ""},
		{"import.meta", "return import.meta", CodeSyntax, "a.js:1:8", "import is not there", ""},
		{"export default", meta + "export default 1", CodeSyntax, "a.js:2:1", "no default export", ""},
		{"export default first", "export default function f() {}", CodeSyntax, "a.js:1:1", "no default export", ""},
		{"another export", meta + "export const x = 1", CodeSyntax, "a.js:2:1", "exports nothing but const meta", ""},
		{"a function", "export async function run() {}", CodeSyntax, "a.js:1:1", "exports nothing but const meta", ""},
		{"let meta", "export let meta = {}", CodeSyntax, "a.js:1:1", "export const meta = {…}", ""},
		{"meta is not first", "const a = 1\n" + meta, CodeSyntax, "a.js:2:1", "is the first statement", ""},
		{"behind a directive", "'use strict'; " + meta, CodeSyntax, "a.js:1:15", "is the first statement", ""},
		{"meta twice", meta + meta, CodeSyntax, "a.js:2:1", "is the first statement", ""},

		{"an open stopWhen", "const most = 3\nreturn agent('x', {stopWhen: (s) => s.turns > most})", CodeOption, "a.js:2:47", "stopWhen: it uses most:", ""},
		{"an open onTool", "return parallel([() => agent('x', {\n  onTool({id}) { return log(id) }})])", CodeOption, "a.js:2:25", "onTool: it uses log:", ""},
		{"an async onTool", "return agent({prompt: 'x', 'onTool': async () => 'deny'})", CodeOption, "a.js:1:38", "onTool: it is async", ""},
		{"open, of a handle", "const h = await sa.run({prompt: 'x', stopWhen: () => this})", CodeOption, "a.js:1:54", "stopWhen: it uses this:", ""},
		{"open, of a strategy", "return std.verify('x', {onTool: (c) => seen(c)})", CodeOption, "a.js:1:40", "onTool: it uses seen:", ""},
		{"open, by a name", "const o = {stopWhen: function (s) { return budget.spent() > 5 }}\nreturn agent('x', o)", CodeOption, "a.js:1:44", "stopWhen: it uses budget:", ""},

		{"with", "with ({}) {}", CodeSyntax, "a.js:1:1", "with", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := refusal(t, tt.give)
			if e.Code != tt.code || e.Where != tt.where || !strings.Contains(e.Message, tt.want) {
				t.Errorf("Load(%.60q) = %s %s: %q, want %s %s: %q", tt.give, e.Code, e.Where, e.Message, tt.code, tt.where, tt.want)
			}
			if tt.not != "" && strings.Contains(e.Message, tt.not) {
				t.Errorf("Load(%.60q) = %q, which blames %s", tt.give, e.Message, tt.not)
			}
		})
	}
}

// refusal is the error of a text that must not load.
func refusal(t *testing.T, text string) *Error {
	t.Helper()
	_, err := Load(Source{Name: "a.js", Text: text})
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("Load(%.60q) = %v, want an *Error", text, err)
	}
	return e
}

func TestTypeScriptIsCalledSo(t *testing.T) {
	t.Parallel()
	for _, give := range []string{
		"const x: string = 'a'",
		"let y : Foo<Bar> = 1",
		"const {a, b}: Props = f()",
		"function f(a: number) {}",
		"function f(a, b: string[]) {}",
		"const f = (a: Foo) => a",
		"const f = (a: { b: string }) => a",
		"function f(a?: string) {}",
		"const f = (a?: string) => a",
		"const f = async (a: string, b?: number): Promise<void> => a",
		"items.map((a: Item) => a)",
		"const f = (a): Promise<string> => a",
		"function f(): void {}",
		"interface Foo { a: string }",
		"type Foo = string | number",
		"type Foo<T> = T[]",
		"enum Color { Red }",
		"declare const x",
		"abstract class A {}",
		"class A { private x = 1 }",
		"return x as string",
		"return {a: 1} satisfies Foo",
		"export const meta = {name: 'a', description: 'd'} as const",
		"export const meta: Meta = {name: 'a', description: 'd'}",
		"export type Foo = string",
		"import type { Foo } from 'y'",
		"function f<T>(a) {}",
		"const f = <T>(a) => a",
		"class A<T> {}",
		"const m = new Map<string, number>()",
		"return a!.b",
	} {
		t.Run(give, func(t *testing.T) {
			t.Parallel()
			e := refusal(t, give)
			if !strings.HasPrefix(e.Message, "TypeScript: ") || e.Code != CodeSyntax {
				t.Errorf("Load(%q) = %s %q, want TypeScript to be named", give, e.Code, e.Message)
			}
		})
	}
}

func TestOtherMistakesAreNotCalledTypeScript(t *testing.T) {
	t.Parallel()
	for _, give := range []string{
		"const x = {a: 1, b 2}",
		"f(a: 1)",
		"f(a: 'x', b: 2)",
		"f(items: [1, 2])",
		"if (a): b()",
		"if (a): return {}",
		"while (a) : {",
		"return a b",
		"const as = 1 as",
		"a ? b",
		"const x = 1 2",
		"const f = (a, ) > a",
		"[1, 2",
		"class A { x y }",
		"function f( {}",
		"return <b",
		"for (const x on y) {}",
		"else { a: 1 }",
		"case 1: x = {",
		"return !",
		"a = b != = c",
		"elif (x): y = {}",
	} {
		t.Run(give, func(t *testing.T) {
			t.Parallel()
			if e := refusal(t, give); strings.Contains(e.Message, "TypeScript") {
				t.Errorf("Load(%q) = %q", give, e.Message)
			}
		})
	}
}

func TestErrorsShowTheirLine(t *testing.T) {
	t.Parallel()
	long := "const a = '" + strings.Repeat("ü", 300) + "'; const b = ;" + strings.Repeat(" ", 400)
	tests := []struct{ name, give, want string }{
		{"the line", "const a = 1\n\tconst b = ; // \x1b[31mred\nconst c = 1", "\tconst b = ; //  [31mred"},
		{"with export", "export const meta = 1", "export const meta = 1"},
		{"windows", "const a = ;\r\nb", "const a = ;"},
		{"not UTF-8", "a\xffb\xfe", "a?b?"},
		{"nothing but bad bytes", strings.Repeat("\x94", 300), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if e := refusal(t, tt.give); e.Line != tt.want {
				t.Errorf("Load(%q) shows %q, want %q", tt.give, e.Line, tt.want)
			}
		})
	}
	e := refusal(t, long)
	if n := len(e.Line); n > mostLine || n < mostLine-4 || !strings.Contains(e.Line, "const b = ;") {
		t.Errorf("a long line is shown as %q, want %d bytes around the column", e.Line, mostLine)
	}
}

func TestNestingIsBounded(t *testing.T) {
	t.Parallel()
	fits := func(unit string) int { return (MaxSource - 100) / len(unit) }
	// Reading takes long: in the gate a single text of full length is enough.
	part := campaign.Rounds(t, 8, 1)
	tests := []struct {
		name, give string
		want       string // in the message; empty loads
	}{
		{"brackets that fit", strings.Repeat("(", 200) + "1" + strings.Repeat(")", 200), ""},
		{"brackets", strings.Repeat("(", 300) + "1" + strings.Repeat(")", 300), "nest more than"},
		{"brackets without end", strings.Repeat("[", fits("[")), "nest more than"},
		{"blocks", strings.Repeat("{", fits("{")), "nest more than"},
		{"templates", strings.Repeat("`${", fits("`${")), "nest more than"},
		{"mixed", strings.Repeat("f({a:[", fits("f({a:[")), "nest more than"},
		{"functions", strings.Repeat("(()=>{", fits("(()=>{")), "nest more than"},
		{"sums", "1" + strings.Repeat("+1", fits("+1")), "words and signs"},
		{"powers", strings.Repeat("2**", fits("2**")) + "1", "words and signs"},
		{"not", strings.Repeat("!", fits("!")) + "1", "words and signs"},
		{"arrows", strings.Repeat("a=>", fits("a=>")) + "1", "words and signs"},
		{"chains", "a" + strings.Repeat("?.b", fits("?.b")), "words and signs"},
		{"sums in lines", "1" + strings.Repeat("\n+1", fits("\n+1")), "words and signs"},
		{"sums in brackets", strings.Repeat("("+strings.Repeat("1+", 200), 100), "words and signs"},
		{"parameters", strings.Repeat("(a=", 9) + "1" + strings.Repeat(")=>1", 9), "in the parameters of others"},
		{"statements", strings.Repeat("f(1, 2)\n", fits("f(1, 2)\n")), ""},
		{"statements and semicolons", strings.Repeat("a(1);", fits("a(1);")/part), ""},
		{"a long list", "return [" + strings.Repeat("1,", fits("1,")/part) + "]", ""},
		{"a long text", "return '" + strings.Repeat("(", fits("(")) + "'", ""},
		{"a long template", "return `" + strings.Repeat("{[(", fits("{[(")) + "`", ""},
		{"a long comment", "/*" + strings.Repeat("(", fits("(")) + "*/", ""},
		{"a long regexp", "return /[" + strings.Repeat("(", 100_000) + "]/", ""},
		{"callbacks", strings.Repeat("f(async (a) => {", 60) + strings.Repeat("})", 60), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			begin := time.Now()
			_, err := Load(Source{Name: "a.js", Text: tt.give})
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("Load = %v, want no error", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("Load = %v, want %q", err, tt.want)
			}
			t.Logf("%v", time.Since(begin))
		})
	}
}

// Nested statements without brackets go as deep as a script is long. The parser
// has enough stack for them.
func TestDeepStatementsDoNotOverflow(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"if(x)", "if(x);else ", "while(1)", "for(;;)", "do ", "a:"} {
		t.Run(unit, func(t *testing.T) {
			t.Parallel()
			_, err := Load(Source{Name: "a.js", Text: strings.Repeat(unit, 9_000) + ";"})
			if e := (*Error)(nil); err != nil && !errors.As(err, &e) {
				t.Errorf("Load = %v", err)
			}
		})
	}
}

func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		"return 1", "export const meta = {name: 'a', description: `d`, phases: ['x', {title: 'y'}], args: {a: [-1, null]}}\nreturn await agent('x')",
		"}; f(); async () => {", "const x: string = 1", "a = /[/(]/ / 2", "`${`${1}`}`", "export default 1", "#!x\nreturn",
		"for (const {a = 1, ...b} of c) { label: while (1) break label }", "class A { #x = 1; static { this.y } get z() { return this.#x } }",
		"(a = (b = 1) => 2) => 3", "if (a) /b(/.test(c)", "\u2028return '\u2029'", "a ? b : c => ({})", "''\\\r\n", "'\\", "`\\", "/\\",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		src := Source{Name: "a.js", Text: text}
		var e *Error
		if _, err := LoadLib(src); err != nil && !errors.As(err, &e) {
			t.Errorf("LoadLib(%q) = %v, want an *Error", text, err)
		}
		p, err := Load(src)
		if err == nil {
			if p.Code == nil || p.Meta != nil && !metaName().MatchString(p.Meta.Name) {
				t.Errorf("Load(%q) gives %+v", text, p)
			}
			return
		}
		if !errors.As(err, &e) || e.Code != CodeSyntax && e.Code != CodeMeta || e.Message == "" {
			t.Fatalf("Load(%q) = %v, want an *Error of a script", text, err)
		}
		if e.Where != "" && e.Where != "a.js" && !strings.HasPrefix(e.Where, "a.js:") || len(e.Line) > mostLine {
			t.Errorf("Load(%q) = %+v", text, e)
		}
	})
}
