package script

import (
	"strings"
	"testing"
)

// TestLanguageRefuses: an unsupported part of the language names its
// replacement, and never gives a wrong value.
func TestLanguageRefuses(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		"new Intl.NumberFormat('th-TH')":                                                        "RangeError: Intl.NumberFormat does not know the locale th-TH: use en-US, ",
		"new Date(0).toLocaleString('ja-JP')":                                                   "RangeError: Intl.DateTimeFormat does not know the locale ja-JP: use en-US, ",
		"new Intl.ListFormat('es')":                                                             "RangeError: Intl.ListFormat does not know the locale es: use ",
		"(5).toLocaleString('de', {notation: 'compact'})":                                       "in English only: use en-US",
		"(5).toLocaleString('de', {style: 'unit', unit: 'meter'})":                              "in English only: use en-US",
		"new Intl.PluralRules('de', {type: 'ordinal'})":                                         "ordinals are there in English only",
		"new Intl.Segmenter('ja', {granularity: 'word'})":                                       "granularity word is not there for ja: use en",
		"[...new Intl.Segmenter('en', {granularity: 'word'}).segment('日本')]":                    "they need a dictionary",
		"new Intl.NumberFormat().formatRange(1, 2)":                                             "Intl.NumberFormat: ranges are not there: format both ends",
		"new Intl.DateTimeFormat().formatRangeToParts(0, 1)":                                    "Intl.DateTimeFormat: ranges are not there: format both ends",
		"new Date(0).toLocaleTimeString('en', {timeZone: 'Asia/Tokyo', timeZoneName: 'short'})": "use shortOffset",
		"new Intl.DisplayNames('en', {type: 'region'})":                                         "Intl.DisplayNames is not there",
		"new Intl.DateTimeFormat('en', {calendar: 'hebrew'})":                                   "the option calendar is not there",
		"new Intl.DateTimeFormat('en', {timeZoneName: 'long', hour: 'numeric'})":                "short, shortOffset and longOffset only",
		"new Date(0).toLocaleString('en', {timeZone: 'Mars/Base'})":                             "Invalid time zone specified: Mars/Base",
		"new Date(0).toLocaleString('en', {weekday: 'long', hour: 'numeric'})":                  "wants a day",
		"new Intl.Collator('en', {usage: 'search'})":                                            "'sort' only",
		"new Intl.DateTimeFormat().format()":                                                    "the clock is closed",
		"new Intl.DateTimeFormat().format(new Date())":                                          "the clock is closed",
		`new RegExp('\\p{RGI_Emoji}', 'v')`:                                                     `SyntaxError: Invalid regular expression: /\p{RGI_Emoji}/: \p{RGI_Emoji} is a property of strings`,
		"new WeakRef({})":                                                                       "WeakRef is not defined",
		"JSON.parse('[1e400]')":                                                                 "SyntaxError",
		"eval('for await (const x of []) {}')":                                                  "SyntaxError",
		"eval('(async function* () {})')":                                                       "SyntaxError",
		"(function () {}).constructor('async function* f() {}')":                                "SyntaxError",
		"Reflect.construct(async function* () {}, [])":                                          "TypeError",
		"new Proxy(/a/, {}).exec('a')":                                                          "TypeError: RegExp.prototype.exec is called on another object",
		"Object.getOwnPropertyDescriptor(RegExp.prototype, 'flags').get.call(1)":                "TypeError",
		"[].values().map.call(null, (x) => x)":                                                  "TypeError",
		"Iterator.prototype.map.call({next: 1}, (x) => x).next()":                               "TypeError",
		"Array.fromAsync([1], 'x').then((x) => x)":                                              "",
		"new Intl.NumberFormat('en', {style: 'currency', currency: 'E'})":                       "RangeError: Invalid currency code",
		"new Intl.NumberFormat('en', {numberingSystem: 'arab'})":                                "the option numberingSystem is not there",
		"new Intl.DateTimeFormat('de', {timeStyle: 'full'})":                                    "use long",
		"new Date(-1e14).toLocaleString()":                                                      "years before 1 are not there",
		"new Intl.RelativeTimeFormat('pl').format(1, 'day')":                                    "does not know the locale pl",
		"new Intl.NumberFormat('en-IN', {notation: 'compact'})":                                 "not there for en-IN",
		"new Date(0).toLocaleDateString('en', {timeStyle: 'short'})":                            "TypeError: Invalid option : timeStyle",
	} {
		got := evaluateScript(t, "try { void ("+give+") } catch (e) { return String(e) }\nreturn 'nothing was thrown'").String()
		if !strings.Contains(got, want) || want != "" && got == "nothing was thrown" {
			t.Errorf("%s gives %q, want %q", give, got, want)
		}
	}
}

// TestUnusedPartsAreNotRead: a script that uses no later part of the language
// does not pay for reading it.
func TestUnusedPartsAreNotRead(t *testing.T) {
	t.Parallel()
	rt := newRuntime()
	v, err := rt.RunString(`['Intl', 'Iterator', 'structuredClone'].map((n) => typeof Object.getOwnPropertyDescriptor(globalThis, n).get).join()`)
	if err != nil || v.String() != "function,function,function" {
		t.Errorf("the parts are %v, %v, want each behind a getter", v, err)
	}
	v, err = rt.RunString(`typeof Intl + typeof Object.getOwnPropertyDescriptor(globalThis, 'Intl').get`)
	if err != nil || v.String() != "objectundefined" {
		t.Errorf("Intl once read is %v, %v, want a plain property", v, err)
	}
}

// TestSuperInFieldIsRefused holds the place of syntax that the engine does not read.
func TestSuperInFieldIsRefused(t *testing.T) {
	t.Parallel()
	_, err := Load(Source{Name: "a.js", Text: "class A { m() { return 1 } }\nclass B extends A { f = super.m() }\nreturn new B().f"})
	if err == nil || !strings.Contains(err.Error(), "a.js:2:25: 'super' keyword unexpected here") {
		t.Errorf("Load = %v, want a refusal of super with its place", err)
	}
}
