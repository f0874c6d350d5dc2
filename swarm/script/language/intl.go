package language

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/dop251/goja"
	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

// localesText holds the formats of numbers and dates in some languages, a line
// for each: see testdata/locales.js.
//
//go:embed locales.json
var localesText string

// zones are the rules of time zones, as Go brings them: those of the machine may
// be others, and a script is to give the same wherever it runs.
//
//go:embed zones.zip
var zones []byte

// localeText returns the JSON of a locale; for the empty locale, the list of
// all names.
func (in *installer) localeText(call goja.FunctionCall) goja.Value {
	wanted := call.Argument(0).String()
	var names []string
	for line := range strings.Lines(localesText) {
		name, body, ok := strings.Cut(line, ": ")
		if !ok {
			continue
		}
		if name == strconv.Quote(wanted) {
			return in.rt.ToValue(strings.TrimRight(body, ",\n"))
		}
		if name != `"digits"` {
			names = append(names, name)
		}
	}
	return in.rt.ToValue("[" + strings.Join(names, ",") + "]")
}

// compare compares two texts: locale, a, b, sensitivity, numeric, caseFirst,
// ignorePunctuation.
func (in *installer) compare(call goja.FunctionCall) goja.Value {
	a, b := norm.NFD.String(call.Argument(1).String()), norm.NFD.String(call.Argument(2).String())
	if call.Argument(6).ToBoolean() {
		a, b = unpunctuated(a), unpunctuated(b)
	}
	if call.Argument(3).String() == "case" {
		a, b = unmarked(a), unmarked(b)
	}
	locale, sensitivity, numeric := call.Argument(0).String(), call.Argument(3).String(), call.Argument(4).ToBoolean()
	at := in.collator(locale, sensitivity, numeric).CompareString(a, b)
	if first := call.Argument(5).String(); first == "upper" && sensitivity != "base" && sensitivity != "accent" {
		// Case counts only where all else is the same.
		if in.collator(locale, choose(sensitivity == "case", "base", "accent"), numeric).CompareString(a, b) == 0 {
			at = -at
		}
	}
	return in.rt.ToValue(at)
}

// collator is the collation of a locale. It is made once.
func (in *installer) collator(locale, sensitivity string, numeric bool) *collate.Collator {
	key := locale + " " + sensitivity + strconv.FormatBool(numeric)
	if c := in.collators[key]; c != nil {
		return c
	}
	tag, err := language.Parse(locale)
	if err != nil {
		in.throw("RangeError", "Incorrect locale information provided: "+locale)
	}
	var options []collate.Option
	switch sensitivity {
	case "base":
		options = append(options, collate.IgnoreCase, collate.IgnoreDiacritics)
	case "accent":
		options = append(options, collate.IgnoreCase)
	}
	if numeric {
		options = append(options, collate.Numeric)
	}
	if in.collators == nil {
		in.collators = make(map[string]*collate.Collator)
	}
	c := collate.New(tag, options...)
	in.collators[key] = c
	return c
}

// unpunctuated is a text without white space and punctuation.
func unpunctuated(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPunct(r) || unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}

// unmarked is a decomposed text without its accents.
func unmarked(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, text)
}

// offsetZone is a zone that is an offset from UTC.
var offsetZone = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([+-])([01]\d|2[0-3])(?::?([0-5]\d))?$`)
})

// zoneName is the full name of a zone, as its rules are filed.
func (in *installer) zoneName(call goja.FunctionCall) goja.Value {
	name := call.Argument(0).String()
	if m := offsetZone().FindStringSubmatch(name); m != nil {
		return in.rt.ToValue(m[1] + m[2] + ":" + choose(m[3] == "", "00", m[3]))
	}
	if strings.EqualFold(name, "UTC") || strings.EqualFold(name, "GMT") || strings.EqualFold(name, "Etc/UTC") || strings.EqualFold(name, "Etc/GMT") {
		return in.rt.ToValue("UTC")
	}
	if f := in.zoneFile(name); f != nil {
		return in.rt.ToValue(f.Name)
	}
	in.throw("RangeError", "Invalid time zone specified: "+name)
	return nil
}

// zoneFile is the file of the rules of a zone; nil is that there is none.
func (in *installer) zoneFile(name string) *zip.File {
	if in.zoneFiles == nil {
		r, err := zip.NewReader(bytes.NewReader(zones), int64(len(zones)))
		in.must(err)
		in.zoneFiles = r.File
	}
	for _, f := range in.zoneFiles {
		if strings.EqualFold(f.Name, name) && !strings.HasSuffix(f.Name, "/") {
			return f
		}
	}
	return nil
}

// zoneOffset is how many seconds a zone is ahead of UTC at a time in
// milliseconds.
func (in *installer) zoneOffset(call goja.FunctionCall) goja.Value {
	name, ms := call.Argument(0).String(), call.Argument(1).ToInteger()
	if name == "UTC" {
		return in.rt.ToValue(0)
	}
	if m := offsetZone().FindStringSubmatch(name); m != nil {
		hours, _ := strconv.Atoi(m[2])
		minutes, _ := strconv.Atoi(m[3])
		return in.rt.ToValue(choose(m[1] == "-", -1, 1) * (hours*60 + minutes) * 60)
	}
	zone, err := in.zone(name)
	in.must(err)
	_, offset := time.UnixMilli(ms).In(zone).Zone()
	return in.rt.ToValue(offset)
}

// zone reads the rules of a zone once.
func (in *installer) zone(name string) (*time.Location, error) {
	if z := in.zoneRules[name]; z != nil {
		return z, nil
	}
	file := in.zoneFile(name)
	if file == nil {
		return nil, fmt.Errorf("there is no time zone %s", name)
	}
	r, err := file.Open()
	if err != nil {
		return nil, fmt.Errorf("open the time zone %s: %w", name, err)
	}
	rules, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read the time zone %s: %w", name, err)
	}
	z, err := time.LoadLocationFromTZData(name, rules)
	if err != nil {
		return nil, fmt.Errorf("read the time zone %s: %w", name, err)
	}
	if in.zoneRules == nil {
		in.zoneRules = make(map[string]*time.Location)
	}
	in.zoneRules[name] = z
	return z, nil
}
