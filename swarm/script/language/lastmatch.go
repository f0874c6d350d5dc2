package language

import (
	"fmt"

	"github.com/dop251/goja"
)

// lastMatch offers RegExp.$1 and its like, which are not in ECMAScript: parts
// of the latest match of any expression. An assignment to them has no effect.
func (r *regexps) lastMatch() error {
	ignore := r.rt.ToValue(func(goja.FunctionCall) goja.Value { return goja.Undefined() })
	offer := func(name string, part func() goja.Value) error {
		get := r.rt.ToValue(func(goja.FunctionCall) goja.Value {
			if r.matched == nil {
				return r.rt.ToValue("")
			}
			return part()
		})
		return r.class.DefineAccessorProperty(name, get, ignore, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	for group := 1; group <= 9; group++ {
		if err := offer(fmt.Sprintf("$%d", group), func() goja.Value { return r.groupOrEmpty(group) }); err != nil {
			return err
		}
	}
	parts := map[string]func() goja.Value{
		"input $_":        func() goja.Value { return r.matchedIn },
		"lastMatch $&":    func() goja.Value { return r.groupOrEmpty(0) },
		"leftContext $`":  func() goja.Value { return r.matchedIn.Substring(0, r.matched[0]) },
		"rightContext $'": func() goja.Value { return r.matchedIn.Substring(r.matched[1], r.matchedIn.Length()) },
		"lastParen $+": func() goja.Value {
			if len(r.matched) == 2 {
				return r.rt.ToValue("")
			}
			return r.groupOrEmpty(len(r.matched)/2 - 1)
		},
	}
	for names, part := range parts {
		var long, short string
		if _, err := fmt.Sscan(names, &long, &short); err != nil {
			return err
		}
		for _, name := range []string{long, short} {
			if err := offer(name, part); err != nil {
				return err
			}
		}
	}
	return nil
}

// groupOrEmpty is the text of a group of the latest match, empty where there is none.
func (r *regexps) groupOrEmpty(group int) goja.Value {
	if 2*group >= len(r.matched) || r.matched[2*group] < 0 {
		return r.rt.ToValue("")
	}
	return r.captured(r.matchedIn, r.matched, group)
}
