package script

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

// mostItems is the limit of items for a call of a combinator.
const mostItems = 4096

// bounded throws if a call has too many items.
func (m *machine) bounded(what string, n int) {
	if n > mostItems {
		m.throw(&Error{Name: "Error", Code: CodeLimit, Message: fmt.Sprintf(
			"%s: %d items, and one call takes at most %d", what, n, mostItems)})
	}
}

// length is that of an array.
func length(o *goja.Object) int {
	n := o.Get("length").ToInteger()
	return int(min(max(n, 0), 1<<31))
}

func index(i int) string { return strconv.Itoa(i) }

func isPromise(v goja.Value) bool {
	o, ok := v.(*goja.Object)
	return ok && o.ExportType() == reflect.TypeFor[*goja.Promise]()
}

// helpers returns the functions that the combinators use, beside the language.
func (m *machine) helpers() *goja.Object {
	o := m.rt.NewObject()
	for name, f := range map[string]func(goja.FunctionCall) goja.Value{
		"plan":   m.plan,
		"stages": m.stages,
		"slots":  m.slots,
		"keyed":  m.keyed,
		"push":   m.push,
		"note": func(call goja.FunctionCall) goja.Value {
			m.note(call, "is null")
			return nil
		},
		"noteBranch": func(call goja.FunctionCall) goja.Value {
			m.note(call, "threw")
			return nil
		},
		"noteThrown": m.noteThrown,
		"nobody":     m.nobody,
		"isFatal":    func(call goja.FunctionCall) goja.Value { return m.rt.ToValue(m.isFatal(call.Argument(0))) },
		"good":       m.good,
		"branch":     m.branch,
		"within":     m.withinBranch,
		"choose":     m.choose,
		"lose":       m.lose,
	} {
		m.member(o, name, f)
	}
	return o
}

// slots is a list of n nulls, its elements its own.
func (m *machine) slots(call goja.FunctionCall) goja.Value {
	all := make([]any, call.Argument(0).ToInteger())
	return m.rt.NewArray(all...)
}

// push adds an element to a list of our own, past whatever a script did to
// arrays.
func (m *machine) push(call goja.FunctionCall) goja.Value {
	o := call.Argument(0).(*goja.Object)
	err := o.DefineDataProperty(index(length(o)), call.Argument(1), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	if err != nil {
		m.throw(err)
	}
	return nil
}

// keyed is an object of the values of a list under their keys.
func (m *machine) keyed(call goja.FunctionCall) goja.Value {
	keys, values := call.Argument(0).(*goja.Object), call.Argument(1).(*goja.Object)
	out := m.rt.NewObject()
	for i := range length(keys) {
		m.put(out, keys.Get(index(i)).String(), values.Get(index(i)))
	}
	return out
}

// plan reads the arguments of parallel() or race(): {jobs, keys, width} or
// {jobs, accept, n}.
func (m *machine) plan(call goja.FunctionCall) goja.Value {
	what := call.Argument(0).String()
	jobs, keys := m.jobs(what, call.Argument(1))
	out := m.rt.NewObject()
	m.put(out, "jobs", m.rt.NewArray(values(jobs)...))
	m.put(out, "keys", goja.Null())
	if keys != nil {
		m.put(out, "keys", m.rt.NewArray(values(keys)...))
	}
	if what == "parallel" {
		m.planWidth(out, call.Argument(2), len(jobs))
	} else {
		m.planWinners(out, call.Argument(2))
	}
	return out
}

func (m *machine) planWidth(out *goja.Object, given goja.Value, jobs int) {
	o, err := m.options("parallel", given, "concurrency")
	if err != nil {
		m.throw(err)
	}
	width, limited, err := o.number("concurrency", 1, mostItems)
	if err != nil {
		m.throw(err)
	}
	if !limited || int(width) > jobs {
		width = float64(jobs)
	}
	m.put(out, "width", m.rt.ToValue(int(width)))
}

func (m *machine) planWinners(out *goja.Object, given goja.Value) {
	o, err := m.options("race", given, "accept", "n")
	if err != nil {
		m.throw(err)
	}
	accept := o.get("accept")
	if accept != nil && !isFunction(accept) {
		m.throw(o.refuse("accept", accept, "a function"))
	}
	n, given1, err := o.number("n", 1, mostItems)
	if err != nil {
		m.throw(err)
	}
	if !given1 {
		n = 1
	}
	m.put(out, "accept", orUndefined(accept))
	m.put(out, "n", m.rt.ToValue(int(n)))
}

func values(list []goja.Value) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

// jobs returns the jobs of a list or an object: thunks, or promises of calls
// that have started.
func (m *machine) jobs(what string, v goja.Value) (jobs, keys []goja.Value) {
	jobs, isList := elements(v)
	o, isObject := v.(*goja.Object)
	switch {
	case isList:
		m.bounded(what, length(o))
	case !isObject || isFunction(o) || isPromise(o):
		m.throw(invalid("%s: wants a list of functions, not %s", what, kindOf(v)))
	case m.isCollection(o):
		m.throw(invalid("%s: wants a list or a plain object of functions, not %s; write [...x]", what, kindOf(v)))
	default:
		names := o.Keys()
		m.bounded(what, len(names))
		for _, k := range names {
			keys = append(keys, m.rt.ToValue(k))
			jobs = append(jobs, o.Get(k))
		}
		if keys == nil {
			keys = []goja.Value{}
		}
	}
	for i, job := range jobs {
		if job == nil || !isFunction(job) && !isPromise(job) {
			name := fmt.Sprintf("item %d", i)
			if keys != nil {
				name = strconv.Quote(keys[i].String())
			}
			m.throw(invalid("%s: %s is %s, not a function; write () => agent(…)", what, name, kindOf(job)))
		}
	}
	return jobs, keys
}

// isCollection reports whether an object holds its values elsewhere than in its
// properties: a Set, a Map, an iterator, a typed array. Such an object has no
// keys, so a combinator would take it for an empty object.
func (m *machine) isCollection(o *goja.Object) bool {
	if o.ClassName() != "Object" {
		return true
	}
	return !absent(o.GetSymbol(goja.SymIterator))
}

// stages reads the arguments of pipeline(): {items, steps}.
func (m *machine) stages(call goja.FunctionCall) goja.Value {
	items, ok := elements(call.Argument(0))
	if o, isObject := call.Argument(0).(*goja.Object); !ok && isObject && m.isCollection(o) {
		m.throw(invalid("pipeline: wants a list of items, not %s; write [...x]", kindOf(o)))
	}
	if !ok {
		m.throw(invalid("pipeline: wants a list of items, not %s", kindOf(call.Argument(0))))
	}
	m.bounded("pipeline", length(call.Argument(0).(*goja.Object)))
	for i, item := range items {
		items[i] = orUndefined(item)
	}
	steps, _ := elements(call.Argument(1))
	for i, f := range steps {
		if !isFunction(f) {
			m.throw(invalid("pipeline: stage %d is %s, not a function", i+1, kindOf(f)))
		}
	}
	out := m.rt.NewObject()
	m.put(out, "items", m.rt.NewArray(values(items)...))
	m.put(out, "steps", m.rt.NewArray(values(steps)...))
	return out
}

// isLost tells the errors that end the branches of a race which another won.
func (m *machine) isLost(v goja.Value) bool {
	o, ok := v.(*goja.Object)
	return ok && m.lost[o]
}

// isFatal reports whether an error must not become a null. Such an error
// concerns the whole run, or the script itself, and not a single item. In the
// form of Claude Code a mistake of the script concerns a single item.
func (m *machine) isFatal(v goja.Value) bool {
	if m.isLost(v) {
		return true
	}
	o, ok := v.(*goja.Object)
	if !ok || o.ClassName() != "Error" {
		return false
	}
	if m.form() == FormClaude {
		return m.refused[o]
	}
	switch Code(m.property(o, "code")) {
	case CodeBudget, CodeLimit, CodeOption, CodePolicy:
		return true
	default: // its class decides
	}
	for _, name := range []string{"ReferenceError", "TypeError", "SyntaxError"} {
		if !m.rt.InstanceOf(o, m.classes[name]) {
			continue
		}
		// A text that JSON.parse refuses is the answer of an agent, not the script.
		return name != "SyntaxError" || !strings.Contains(m.property(o, "stack"), "\n\tat parse (native)\n")
	}
	return false
}

// good is the default test of race(). It accepts every value but null and
// undefined, and the result of an agent only if the agent completed.
func (m *machine) good(call goja.FunctionCall) goja.Value {
	v := call.Argument(0)
	ok := !absent(v)
	if o, is := v.(*goja.Object); is {
		if status := o.GetSymbol(m.ending); status != nil {
			ok = status.String() == "completed"
		}
	}
	return m.rt.ToValue(ok)
}

// nobody records that a race has fewer winners than it wants.
func (m *machine) nobody(call goja.FunctionCall) goja.Value {
	branches, won, wanted := call.Argument(0).ToInteger(), call.Argument(1).ToInteger(), call.Argument(2).ToInteger()
	m.failures = append(m.failures, failure{Phase: m.phase, Kind: kindRace, Message: fmt.Sprintf(
		"race: of %d branches %d gave what is acceptable, and %d should", branches, won, wanted)})
	return nil
}

// branch makes a scope for a branch of a race. The script never sees it.
func (m *machine) branch(goja.FunctionCall) goja.Value {
	s := &scope{parent: m.context.current, program: m.context.current.program}
	return m.rt.ToValue(s)
}

func scopeOf(v goja.Value) *scope {
	s, _ := v.Export().(*scope)
	return s
}

// withinBranch begins a branch. It calls a function inside the scope of the
// branch. Of a promise it moves the agent into that scope.
func (m *machine) withinBranch(call goja.FunctionCall) goja.Value {
	s, job := scopeOf(call.Argument(0)), call.Argument(1)
	result := job
	if f, ok := goja.AssertFunction(job); ok {
		result = m.context.within(s, func() goja.Value {
			v, err := f(goja.Undefined())
			if err != nil {
				m.throw(err)
			}
			return v
		})
	}
	if o, ok := result.(*goja.Object); ok && isPromise(o) {
		if c := m.byID[m.property(o, "id")]; c != nil {
			s.adopt(c)
		}
	}
	return result
}

// lose ends a branch of a race. Its promise is settled when every agent of it
// has ended.
func (m *machine) lose(call goja.FunctionCall) goja.Value {
	s := scopeOf(call.Argument(0))
	s.ended = true
	d := m.deferred()
	left := 1
	ended := func() {
		if left--; left == 0 {
			m.settleWith(d, goja.Undefined)
		}
	}
	for _, c := range s.agents {
		if c.end == nil {
			left++
			m.endChild(c, "its race was lost")
			c.whenEnded(ended)
		}
	}
	ended()
	return d.promise
}

// choose tells the host which agents a race took and which it did not. Agents
// that lost a race within a branch stay lost. A race in a branch that has lost
// already makes no choice.
func (m *machine) choose(call goja.FunctionCall) goja.Value {
	if m.context.current.hasLost() {
		return goja.Undefined()
	}
	branches, won := call.Argument(0).(*goja.Object), call.Argument(1).(*goja.Object)
	r := &Choose{}
	for i := range length(branches) {
		s := scopeOf(branches.Get(index(i)))
		took := won.Get(index(i)).ToBoolean()
		for _, c := range s.agents {
			switch {
			case !took:
				c.lost = true
				r.Lost = append(r.Lost, c.id)
			case !c.lost:
				r.Won = append(r.Won, c.id)
			}
		}
	}
	if len(r.Won)+len(r.Lost) > 0 {
		m.send(r, nil)
	}
	return goja.Undefined()
}
