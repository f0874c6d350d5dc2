package script

import (
	"fmt"
	"math"
	"slices"

	"github.com/dop251/goja"
)

// mostTimers is how many timers a script may set. Each that fires is a record
// of the run.
const mostTimers = 100_000

// offerTimers offers setTimeout and clearTimeout. As every other answer, the end
// of a timer is delivered and recorded, so that a resume sees the same order.
func (m *machine) offerTimers() {
	for name, f := range map[string]native{"setTimeout": m.setTimeout, "clearTimeout": m.clearTimeout} {
		m.define(m.rt.GlobalObject(), name, m.function(name, f))
	}
}

// setTimeout is setTimeout(f, ms, …args): it calls f after ms milliseconds and
// gives the number of the timer. An error of f is an unhandled rejection.
func (m *machine) setTimeout(call goja.FunctionCall) goja.Value {
	m.refuseLosers("a timer")
	f, ok := goja.AssertFunction(call.Argument(0))
	if !ok {
		m.throw(invalid("setTimeout: wants a function, not %s", kindOf(call.Argument(0))))
	}
	if m.timersSet++; m.timersSet > mostTimers {
		m.throw(&Error{Name: "Error", Code: CodeLimit, Message: fmt.Sprintf("setTimeout: a script sets at most %d timers", mostTimers)})
	}
	var args []goja.Value
	if len(call.Arguments) > 2 {
		args = slices.Clone(call.Arguments[2:]) // they lie on the stack of the runtime
	}
	in := m.context.current
	n := 0
	n = m.send(&Timer{MS: delay(call.Argument(1))}, func(Delivery) {
		delete(m.timers, n)
		if in.hasLost() {
			return
		}
		m.context.within(in, func() goja.Value {
			d := m.deferred()
			m.settleWith(d, func() goja.Value {
				v, err := f(goja.Undefined(), args...)
				if err != nil {
					m.throw(err)
				}
				return v
			})
			return d.promise
		})
	})
	m.timers[n] = true
	return m.rt.ToValue(n)
}

// delay is a time in milliseconds as the language reads it: anything that is no
// number from 0 up is 0.
func delay(v goja.Value) int64 {
	ms := v.ToFloat()
	if math.IsNaN(ms) || ms < 0 {
		return 0
	}
	return int64(min(ms, longest))
}

// clearTimeout is clearTimeout(n). Numbers of no timer are passed over.
func (m *machine) clearTimeout(call goja.FunctionCall) goja.Value {
	v := call.Argument(0)
	if !goja.IsNumber(v) || !m.timers[int(v.ToInteger())] {
		return goja.Undefined()
	}
	n := int(v.ToInteger())
	delete(m.timers, n)
	m.untime(n)
	return goja.Undefined()
}

// untime gives back a timer that has not fired.
func (m *machine) untime(n int) {
	delete(m.posted, n)
	m.returned[n] = true
	m.send(&Untimer{N: n}, nil)
}
