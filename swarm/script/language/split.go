package language

import (
	"math"
	"strings"
	"unicode/utf16"

	"github.com/dop251/goja"
)

// split replaces RegExp.prototype[Symbol.split]. The engine steps over halves of
// pairs with the flag v, matches at every place for itself, and reads negative
// limits as 0.
func (r *regexps) split() error {
	return r.symbolMethod(goja.SymSplit, "[Symbol.split]", 2, r.doSplit)
}

// splitting is a call of split.
type splitting struct {
	*regexps
	text  goja.String
	units []uint16
	wide  bool
	most  int

	by *expression // nil: matches through the method exec
	rx *goja.Object

	parts []any
}

// doSplit is RegExp.prototype[Symbol.split] of the standard.
func (r *regexps) doSplit(call goja.FunctionCall) goja.Value {
	o, ok := call.This.(*goja.Object)
	if !ok {
		r.throw("TypeError", "RegExp.prototype[Symbol.split] is called on a value that is no object")
	}
	s := &splitting{regexps: r, text: call.Argument(0).ToString().(goja.String), most: math.MaxUint32}
	class := r.species(o)
	flags := o.Get("flags").String()
	s.wide = strings.ContainsAny(flags, "uv")
	if !strings.Contains(flags, "y") {
		flags += "y"
	}
	var err error
	s.rx, err = r.rt.New(class, o, r.rt.ToValue(flags))
	r.must(err)
	if limit := call.Argument(1); !goja.IsUndefined(limit) {
		s.most = int(uint32(limit.ToInteger()))
	}
	if s.most == 0 {
		return r.rt.NewArray()
	}
	if class == r.class && s.rx.Get("exec") == r.exec {
		s.by = r.find(s.rx)
	}
	s.units = unitsOf(s.text)
	s.cut()
	return r.rt.NewArray(s.parts...)
}

// cut collects the parts.
func (s *splitting) cut() {
	if len(s.units) == 0 {
		if _, end, _ := s.next(0); end < 0 {
			s.parts = append(s.parts, s.text)
		}
		return
	}
	begin, at := 0, 0
	for at < len(s.units) {
		from, end, groups := s.next(at)
		if end < 0 || from >= len(s.units) {
			break
		}
		if end == begin {
			at = s.behind(from)
			continue
		}
		for _, part := range append([]goja.Value{s.text.Substring(begin, from)}, groups()...) {
			s.parts = append(s.parts, part)
			if len(s.parts) == s.most {
				return
			}
		}
		begin, at = end, end
	}
	s.parts = append(s.parts, s.text.Substring(begin, len(s.units)))
}

// behind is the place behind the character at a place.
func (s *splitting) behind(at int) int {
	if s.wide && at+1 < len(s.units) && utf16.DecodeRune(rune(s.units[at]), rune(s.units[at+1])) != 0xFFFD {
		return at + 2
	}
	return at + 1
}

// next finds the first match at a place or behind it: where it begins and ends,
// and its groups. end is -1 where there is none.
func (s *splitting) next(at int) (from, end int, groups func() []goja.Value) {
	if s.by != nil {
		found, err := s.by.Match(s.units, at, false, s.interrupted)
		s.must(err)
		if found == nil {
			return 0, -1, nil
		}
		return found[0], found[1], func() (all []goja.Value) {
			for g := range s.by.Groups {
				all = append(all, s.captured(s.text, found, g+1))
			}
			return all
		}
	}
	for ; at < max(1, len(s.units)); at = s.behind(at) {
		s.must(s.rx.Set("lastIndex", at))
		m := s.execute(s.rx, s.text)
		if m == nil {
			continue
		}
		end := min(int(max(0, s.rx.Get("lastIndex").ToInteger())), len(s.units))
		return at, end, func() (all []goja.Value) {
			for g := int64(1); g < m.Get("length").ToInteger(); g++ {
				all = append(all, orUndefined(m.Get(s.rt.ToValue(g).String())))
			}
			return all
		}
	}
	return 0, -1, nil
}
