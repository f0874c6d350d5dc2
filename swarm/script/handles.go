package script

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dop251/goja"
)

// child is an agent that the script started.
type child struct {
	id, label, phase string
	at               place   // where it was asked for
	end              *Result // nil until it was delivered
	cancelled        bool    // it was asked to end
	lost             bool    // a race did not take its branch
	waiting          []func()
}

// whenEnded calls f at once where the end of c was delivered, or else then.
func (c *child) whenEnded(f func()) {
	if c.end != nil {
		f()
		return
	}
	c.waiting = append(c.waiting, f)
}

// deferred is a promise that a delivery settles.
type deferred struct {
	promise         *goja.Object
	resolve, reject func(any) error
}

func (m *machine) deferred() deferred {
	p, resolve, reject := m.rt.NewPromise()
	return deferred{m.rt.ToValue(p).(*goja.Object), resolve, reject}
}

// settleWith settles d with the value of f, or with the error that f throws.
func (m *machine) settleWith(d deferred, f func() goja.Value) {
	var v goja.Value
	var err error
	if ex := m.rt.Try(func() { v = f() }); ex != nil {
		err = d.reject(ex.Value())
	} else {
		err = d.resolve(v)
	}
	if err != nil {
		m.throw(err)
	}
}

// promising turns a function that throws into a function that returns a
// promise.
func (m *machine) promising(f func(goja.FunctionCall, deferred)) func(goja.FunctionCall) goja.Value {
	return func(call goja.FunctionCall) goja.Value {
		d := m.deferred()
		if ex := m.rt.Try(func() { f(call, d) }); ex != nil {
			if err := d.reject(ex.Value()); err != nil {
				m.throw(err)
			}
		}
		return d.promise
	}
}

// launch starts an agent.
func (m *machine) launch(r request) *child {
	m.refuseLosers("an agent")
	if total := m.begin.BudgetTokens; total > 0 && m.spent >= total {
		m.throw(&Error{Name: "Error", Code: CodeBudget, Message: fmt.Sprintf(
			"the budget is spent: %d of %d tokens", m.spent, total)})
	}
	answer := m.do(r.Call)
	var started struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(answer, &started); err != nil || started.ID == "" {
		m.throw(fmt.Errorf("the host answered a call with %q", answer))
	}
	c := m.byID[started.ID]
	if c == nil {
		c = &child{id: started.ID, label: r.Label, phase: r.Phase, at: m.here()}
		m.byID[c.id] = c
		m.agents = append(m.agents, c)
		m.working++
	}
	m.context.current.adopt(c)
	return c
}

// do asks the host and hands back its answer.
func (m *machine) do(r Request) json.RawMessage {
	answer, err := m.ask(r)
	if e := (*Error)(nil); errors.As(err, &e) {
		panic(m.hostFault(e, place{}))
	}
	if err != nil {
		m.throw(err)
	}
	return answer
}

// refuseLosers throws in a branch whose race is over: it may end, but it
// begins nothing more.
func (m *machine) refuseLosers(what string) {
	if !m.context.current.hasLost() {
		return
	}
	e := m.fault(&Error{Name: "Error", Code: CodePolicy, Message: "this branch has lost its race: it cannot start " + what})
	m.lost[e] = true
	panic(e)
}

// agent is agent(prompt, options).
func (m *machine) agent(call goja.FunctionCall) goja.Value {
	d := m.deferred()
	var c *child
	ex := m.rt.Try(func() {
		r := m.mustRequest("agent", call)
		c = m.launch(r)
		c.whenEnded(func() {
			m.settleWith(d, func() goja.Value { return m.outcome(c, r) })
		})
	})
	m.carry(d, c, ex)
	return d.promise
}

// runAgent is sa.run(spec): its promise does not wait for the agent.
func (m *machine) runAgent(call goja.FunctionCall) goja.Value {
	d := m.deferred()
	var c *child
	ex := m.rt.Try(func() {
		c = m.launch(m.mustRequest("run", call))
		handle := m.value(object("id", c.id))
		m.settleWith(d, func() goja.Value { return handle })
	})
	m.carry(d, c, ex)
	return d.promise
}

func (m *machine) mustRequest(what string, call goja.FunctionCall) request {
	r, err := m.request(what, call)
	if err != nil {
		m.throw(err)
	}
	return r
}

// carry gives a promise the id of its agent and a way to end that, or rejects
// it where there is none.
func (m *machine) carry(d deferred, c *child, ex *goja.Exception) {
	cancel := func(goja.FunctionCall) goja.Value { return m.resolved(goja.Null()) }
	if ex != nil {
		if err := d.reject(ex.Value()); err != nil {
			m.throw(err)
		}
	} else {
		m.define(d.promise, "id", m.rt.ToValue(c.id))
		cancel = m.promising(func(call goja.FunctionCall, d deferred) {
			m.cancelChild(c, m.reason(call.Argument(0)), d)
		})
	}
	m.define(d.promise, "cancel", m.function("cancel", cancel))
}

// resolved is a promise of a value that is there.
func (m *machine) resolved(v goja.Value) goja.Value {
	d := m.deferred()
	m.settleWith(d, func() goja.Value { return v })
	return d.promise
}

// join is sa.join(id, {timeout}).
func (m *machine) join(call goja.FunctionCall, d deferred) {
	c := m.find("join", call.Argument(0))
	o, err := m.options("join", call.Argument(1), "timeout")
	if err != nil {
		m.throw(err)
	}
	ms, err := o.duration("timeout")
	if err != nil {
		m.throw(err)
	}
	give := func() { m.settleWith(d, func() goja.Value { return m.result(c.end) }) }
	if c.end != nil || ms == 0 {
		c.whenEnded(give)
		return
	}
	at := m.here()
	timer := m.send(&Timer{MS: ms, For: c.id}, func(Delivery) {
		message := fmt.Sprintf("join: %s did not end within %d ms; it goes on", c.id, ms)
		m.settleWith(d, func() goja.Value {
			panic(m.faultAt(&Error{Name: "Error", Code: CodeTimeout, Message: message}, at))
		})
	})
	c.whenEnded(func() {
		if m.posted[timer] == nil {
			return // it was time before
		}
		m.untime(timer)
		give()
	})
}

// cancel is sa.cancel(id, reason).
func (m *machine) cancel(call goja.FunctionCall, d deferred) {
	m.cancelChild(m.find("cancel", call.Argument(0)), m.reason(call.Argument(1)), d)
}

func (m *machine) reason(v goja.Value) string {
	if absent(v) {
		return ""
	}
	return clip(m.show(v))
}

// cancelChild ends an agent. The promise is settled by its end.
func (m *machine) cancelChild(c *child, reason string, d deferred) {
	m.endChild(c, reason)
	c.whenEnded(func() {
		m.settleWith(d, func() goja.Value { return m.result(c.end) })
	})
}

// endChild asks for the end of an agent, once.
func (m *machine) endChild(c *child, reason string) {
	if c.cancelled {
		return
	}
	c.cancelled = true
	m.send(&Cancel{ID: c.id, Reason: reason, Settled: c.end != nil}, nil)
}

// sendTo is sa.send(id, text).
func (m *machine) sendTo(call goja.FunctionCall, d deferred) {
	c := m.find("send", call.Argument(0))
	text := call.Argument(1)
	if !goja.IsString(text) || text.String() == "" {
		m.throw(invalid("send: the text must be a string that is not empty, not %s", kindOf(text)))
	}
	if c.end != nil {
		m.settleWith(d, func() goja.Value { return m.value(json.RawMessage(`{"delivered":false}`)) })
		return
	}
	m.refuseLosers("a message to an agent")
	m.answered(&Send{ID: c.id, Text: text.String()}, d)
}

// status is sa.status(id).
func (m *machine) status(call goja.FunctionCall) goja.Value {
	return m.standing(m.find("status", call.Argument(0)))
}

// list is sa.list().
func (m *machine) list(goja.FunctionCall) goja.Value {
	all := make([]any, len(m.agents))
	for i, c := range m.agents {
		all[i] = m.standing(c)
	}
	return m.rt.NewArray(all...)
}

// find is the agent that a script means: by its id, its handle, its result or
// the promise of it.
func (m *machine) find(what string, v goja.Value) *child {
	id := ""
	o, ok := v.(*goja.Object)
	switch {
	case goja.IsString(v):
		id = v.String()
	case ok:
		id = m.property(o, "id")
	}
	if id == "" {
		m.throw(invalid("%s: wants the id of an agent, not %s", what, kindOf(v)))
	}
	c := m.byID[id]
	if c == nil {
		m.throw(&Error{Name: "Error", Code: CodeUnknown, Message: fmt.Sprintf("%s: there is no agent %q", what, id)})
	}
	return c
}
