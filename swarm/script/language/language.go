// Package language owns the parts of ECMAScript 2025 that scripts may use
// beyond their engine. These are syntax that the engine does not read, its
// regular expressions, and later parts of the library.
//
// It knows no workflow. Nothing in it reads a clock, a file or a random number.
package language

import (
	"archive/zip"
	"embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dop251/goja"
	"golang.org/x/text/collate"
)

//go:embed *.js
var sources embed.FS

// chunk is a part of the library that is written in the language itself. It is
// read when a script first uses one of its names, so that other scripts do not
// pay for it.
type chunk struct {
	file string
	// names are paths such as Promise.try. %Iterator% is the prototype of all
	// iterators.
	names string
}

func chunks() []chunk {
	return []chunk{
		{"editions.js", `Promise.try RegExp.escape Error.captureStackTrace String.prototype.isWellFormed String.prototype.toWellFormed`},
		{"library.js", `Promise.withResolvers Map.groupBy Object.groupBy Array.fromAsync structuredClone`},
		{"urls.js", `URL URLSearchParams`},
		{"intl.js", `Intl Number.prototype.toLocaleString BigInt.prototype.toLocaleString Array.prototype.toLocaleString
			Date.prototype.toLocaleString Date.prototype.toLocaleDateString Date.prototype.toLocaleTimeString
			String.prototype.localeCompare`},
		{"iterator.js", `Iterator %Iterator%.map %Iterator%.filter %Iterator%.take %Iterator%.drop %Iterator%.flatMap
			%Iterator%.reduce %Iterator%.toArray %Iterator%.forEach %Iterator%.some %Iterator%.every %Iterator%.find`},
	}
}

// Install adds the parts of the language that scripts expect to a runtime. It
// must run before any text of a script. It returns an error if a part cannot be
// installed.
func Install(rt *goja.Runtime) error {
	in := &installer{rt: rt, places: map[string]*goja.Object{"": rt.GlobalObject()}}
	if err := in.regexps(); err != nil {
		return fmt.Errorf("offer regular expressions: %w", err)
	}
	if err := in.dates(); err != nil {
		return fmt.Errorf("offer dates: %w", err)
	}
	if err := in.json(); err != nil {
		return fmt.Errorf("offer JSON.stringify: %w", err)
	}
	if err := in.texts(); err != nil {
		return fmt.Errorf("offer methods of texts and numbers: %w", err)
	}
	if err := in.numbers(); err != nil {
		return fmt.Errorf("offer operators and functions of numbers: %w", err)
	}
	if err := in.async(); err != nil {
		return fmt.Errorf("offer async generators: %w", err)
	}
	for _, c := range chunks() {
		if err := in.offer(c); err != nil {
			return fmt.Errorf("offer %s: %w", c.file, err)
		}
	}
	return nil
}

type installer struct {
	rt     *goja.Runtime
	places map[string]*goja.Object // by path

	// For Intl, as it comes to need them.
	collators map[string]*collate.Collator
	zoneFiles []*zip.File
	zoneRules map[string]*time.Location
}

// place is the object at a path.
func (in *installer) place(path string) (*goja.Object, error) {
	if o := in.places[path]; o != nil {
		return o, nil
	}
	var v goja.Value
	switch outer, name, inner := cutLast(path); {
	case path == "%Iterator%":
		array, ok := in.rt.NewArray().GetSymbol(goja.SymIterator).(*goja.Object)
		if !ok {
			return nil, fmt.Errorf("arrays have no iterator")
		}
		values, _ := goja.AssertFunction(array)
		it, err := values(in.rt.NewArray())
		if err != nil {
			return nil, err
		}
		v = it.ToObject(in.rt).Prototype().Prototype()
	case inner:
		o, err := in.place(outer)
		if err != nil {
			return nil, err
		}
		v = o.Get(name)
	default:
		v = in.rt.Get(path)
	}
	o, ok := v.(*goja.Object)
	if !ok {
		return nil, fmt.Errorf("there is no %s", path)
	}
	in.places[path] = o
	return o, nil
}

// cutLast cuts a path at its last dot.
func cutLast(path string) (outer, name string, inner bool) {
	if i := strings.LastIndex(path, "."); i >= 0 {
		return path[:i], path[i+1:], true
	}
	return "", path, false
}

// offer defines the names of a chunk, each as a property that reads the chunk
// when it is first used.
func (in *installer) offer(c chunk) error {
	names := strings.Fields(c.names)
	loaded := false
	load := func() {
		if loaded {
			return
		}
		loaded = true
		in.load(c, names)
	}
	for _, path := range names {
		outer, name, _ := cutLast(path)
		holder, err := in.place(outer)
		if err != nil {
			return err
		}
		get := in.rt.ToValue(func(goja.FunctionCall) goja.Value {
			load()
			return holder.Get(name)
		})
		set := in.rt.ToValue(func(call goja.FunctionCall) goja.Value {
			load()
			to, ok := call.This.(*goja.Object)
			if !ok {
				to = holder
			}
			in.must(to.DefineDataProperty(name, call.Argument(0), goja.FLAG_TRUE, goja.FLAG_TRUE, choose(to == holder, goja.FLAG_FALSE, goja.FLAG_TRUE)))
			return goja.Undefined()
		})
		if err := holder.DefineAccessorProperty(name, get, set, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
			return err
		}
	}
	return nil
}

func choose[T any](yes bool, a, b T) T {
	if yes {
		return a
	}
	return b
}

// load runs a chunk and installs its values. The chunk is a function of the
// parts that it uses, and returns an object of values by their paths.
func (in *installer) load(c chunk, names []string) {
	made := in.run(c.file, in.parts())
	for _, path := range names {
		outer, name, _ := cutLast(path)
		v := made.Get(path)
		if v == nil {
			panic(fmt.Sprintf("%s has no %s", c.file, path))
		}
		in.must(in.places[outer].DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	}
}

// run calls the function that a file is.
func (in *installer) run(file string, with ...goja.Value) *goja.Object {
	text, err := sources.ReadFile(file)
	in.must(err)
	f, err := in.rt.RunScript("swarm:"+file, string(text))
	in.must(err)
	call, ok := goja.AssertFunction(f)
	if !ok {
		panic(file + " is not a function")
	}
	v, err := call(goja.Undefined(), with...)
	in.must(err)
	return v.ToObject(in.rt)
}

// parts are the functions in Go that chunks are built on.
func (in *installer) parts() *goja.Object {
	o := in.rt.NewObject()
	iterators, err := in.place("%Iterator%")
	in.must(err)
	in.must(o.Set("iterators", iterators))
	in.must(o.Set("classOf", func(v goja.FunctionCall) goja.Value {
		if o, ok := v.Argument(0).(*goja.Object); ok {
			return in.rt.ToValue(o.ClassName())
		}
		return goja.Undefined()
	}))
	in.must(o.Set("compare", in.compare))
	in.must(o.Set("parseURL", in.parseURL))
	in.must(o.Set("changeURL", in.changeURL))
	in.must(o.Set("formDecode", in.formDecode))
	in.must(o.Set("part", func(call goja.FunctionCall) goja.Value {
		return in.run(call.Argument(0).String(), call.Argument(1))
	}))
	in.must(o.Set("localeText", in.localeText))
	in.must(o.Set("segments", in.segments))
	in.must(o.Set("zoneName", in.zoneName))
	in.must(o.Set("zoneOffset", in.zoneOffset))
	return o
}

// must raises an error in the script that runs: mostly its stack is full.
func (in *installer) must(err error) {
	if err != nil {
		panic(err)
	}
}

// throw raises an error of a class of the language.
func (in *installer) throw(class, message string) {
	c, err := in.place(class)
	in.must(err)
	e, err := in.rt.New(c, in.rt.ToValue(message))
	in.must(err)
	panic(e)
}

// without is a text without some characters.
func without(text, characters string) string {
	return string(slices.DeleteFunc([]byte(text), func(c byte) bool { return strings.IndexByte(characters, c) >= 0 }))
}
