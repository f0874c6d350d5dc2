package script

import (
	"fmt"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"agentswarm/swarm/script/language"
)

// mostCalls is the limit of nested calls of functions. Calls through the
// language itself, such as a comparison by sort, take some of the Go stack on
// each level. The time to leave them grows with the square of the levels.
const mostCalls = 3_000

// newRuntime is plain, deterministic JavaScript: the same text gives the same
// values whenever it runs. The clock and the dice are closed where the language
// takes them from, so that no way around their names leads to them.
//
// Times without a zone are in that of the process. A process that runs scripts
// sets time.Local to UTC, as [Serve] does.
func newRuntime() *goja.Runtime {
	rt := goja.New()
	rt.SetMaxCallStackSize(mostCalls)
	// eval and Function would read the files that source maps name.
	rt.SetParserOptions(parser.WithDisableSourceMaps)
	closed := closing{rt: rt, class: rt.Get("Error"), unnamed: rt.Get("ReferenceError")}
	rt.SetTimeSource(func() time.Time {
		panic(closed.fault("the clock is closed: Date.now(), new Date() and Date() would give another answer when the run is resumed; pass a time in args"))
	})
	rt.SetRandSource(func() float64 {
		panic(closed.fault("Math.random() is closed: it would give another answer when the run is resumed; pass a seed in args, or vary prompts by an index"))
	})
	closed.offer()
	return rt
}

// closing holds the parts of a runtime without a way out.
type closing struct {
	rt *goja.Runtime
	// class and unnamed are Error and ReferenceError, whatever a script makes of
	// their names.
	class, unnamed goja.Value
}

// fault returns the error thrown for a forbidden use.
func (c closing) fault(message string) *goja.Object { return c.faultOf(c.class, message) }

func (c closing) faultOf(constructor goja.Value, message string) *goja.Object {
	class, ok := constructor.(*goja.Object)
	if !ok {
		return c.rt.NewTypeError(message)
	}
	o, err := c.rt.New(class, c.rt.ToValue(message))
	if err != nil { // the stack is full, or the script is being ended
		panic(err)
	}
	if err := o.DefineDataProperty("code", c.rt.ToValue(string(CodePolicy)), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
		panic(err)
	}
	return o
}

// offer adds the non-language parts that scripts expect to a runtime, and
// removes forbidden names. It must run before any text of a script.
func (c closing) offer() {
	for _, name := range []string{"GoError", "WeakRef", "FinalizationRegistry"} {
		c.must(c.rt.GlobalObject().Delete(name))
	}
	c.must(language.Install(c.rt))
	explain := func(v goja.FunctionCall) goja.Value {
		panic(c.faultOf(c.unnamed, explanation(v.Argument(0).String())))
	}
	c.must(c.rt.GlobalObject().DefineDataProperty(explainAbsent, c.rt.ToValue(explain), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE))
}

// must panics on an error that only a wrong source of this package can cause.
func (c closing) must(err error) {
	if err != nil {
		panic(fmt.Sprintf("build a runtime: %v", err))
	}
}
