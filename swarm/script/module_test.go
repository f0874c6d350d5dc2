package script

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestLibrariesExport(t *testing.T) {
	t.Parallel()
	const text = `// helpers
const secret = 40;
export function add(a) { return a + secret }
export async function later(a) { return a }
export const twice = (a) => 2 * add(a), name = 'x'
function hidden() {}
const o = { export: 1 }; o.export = 2
export   const
  last = ` + "`export function no() {}`" + `
export function* many() { yield 1 }`
	l, err := LoadLib(Source{Name: "lib.js", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"add", "later", "twice", "name", "last", "many"}; !slices.Equal(l.Exports, want) {
		t.Errorf("LoadLib exports %q, want %q", l.Exports, want)
	}
	rt := newRuntime()
	lib, err := loadLibraries(rt, []Source{{Name: "lib.js", Text: text}, {Name: "b.js", Text: "export const more = 1"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := rt.Set("lib", lib); err != nil {
		t.Fatal(err)
	}
	for give, want := range map[string]string{
		"lib.add(2)":                      "42",
		"lib.twice(2)":                    "84",
		"lib.last":                        "export function no() {}",
		"lib.more":                        "1",
		"lib.later(1) instanceof Promise": "true",
		"Object.keys(lib).join()":         "add,later,twice,name,last,many,more",
		"lib.add = 1; lib.add(1)":         "41",
		"typeof hidden + typeof secret":   "undefinedundefined",
	} {
		v, err := rt.RunString(give)
		if err != nil {
			t.Fatalf("%s: %v", give, err)
		}
		if v.String() != want {
			t.Errorf("%s = %s, want %s", give, v, want)
		}
	}
}

func TestLibrariesAreRefused(t *testing.T) {
	t.Parallel()
	const declarations = "by their declarations"
	tests := []struct{ name, give, where, want string }{
		{"default", "export default function f() {}", "lib.js:1:1", declarations},
		{"a list", "const a = 1\nexport { a }", "lib.js:2:1", declarations},
		{"everything", "export * from 'x'", "lib.js:1:1", declarations},
		{"let", "export let a = 1", "lib.js:1:1", declarations},
		{"a class", "export class A {}", "lib.js:1:1", declarations},
		{"inside", "{ export const a = 1 }", "lib.js:1:3", declarations},
		{"import", "import x from 'y'", "lib.js:1:1", "import is not there"},
		{"a pattern", "export const {a} = {}", "lib.js:1:14", "by its name"},
		{"twice", "export function a() {}\nexport function a() {}", "lib.js:2:8", "a is exported twice"},
		{"await", "await f()", "lib.js:1:7", "await"},
		{"return", "export const a = 1\nreturn a", "lib.js:2:1", "a library returns nothing"},
		{"an error", "export const a = ;", "lib.js:1:18", "unexpected token ;"},
		{"TypeScript", "export type A = string", "lib.js:1:1", "TypeScript"},
		{"too deep", strings.Repeat("(", 1000), "lib.js:1:251", "nest more than"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := LoadLib(Source{Name: "lib.js", Text: tt.give})
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("LoadLib(%q) = %v, want an *Error", tt.give, err)
			}
			if e.Code != CodeSyntax || e.Where != tt.where || !strings.Contains(e.Message, tt.want) {
				t.Errorf("LoadLib(%q) = %s %s: %q, want %s: %q", tt.give, e.Code, e.Where, e.Message, tt.where, tt.want)
			}
		})
	}
}

func TestLibrariesDoNotOverwriteOneAnother(t *testing.T) {
	t.Parallel()
	_, err := loadLibraries(newRuntime(), []Source{
		{Name: "a.js", Text: "export const f = 1"}, {Name: "b.js", Text: "export const f = 2"},
	})
	if err == nil || !strings.Contains(err.Error(), "b.js: lib.f is exported by another file too") {
		t.Errorf("loadLibraries = %v", err)
	}
	for _, give := range []string{"return", "return {}", "return 1"} {
		_, err := loadLibraries(newRuntime(), []Source{{Name: "a.js", Text: "if (1) { " + give + " }\nexport const f = 1"}})
		if err == nil || !strings.Contains(err.Error(), "a.js: a library returns nothing") {
			t.Errorf("loadLibraries of one that does %q = %v", give, err)
		}
	}
}
