package script

import (
	_ "embed"
	"errors"
	"fmt"

	"github.com/dop251/goja"
)

//go:embed api.js
var apiSource string

//go:embed std.js
var stdSource string

//go:embed stages.js
var stagesSource string

// native is a function of the API.
type native = func(goja.FunctionCall) goja.Value

// prepare gives the runtime its globals. No text of the script has run.
func (m *machine) prepare() error {
	var err error
	if m.intrinsics, err = captureIntrinsics(m.rt); err != nil {
		return err
	}
	return m.enter(func() {
		m.api = m.rt.NewObject()
		m.offerAgents()
		m.offerRest()
		m.offerTimers()
		m.offerCombinators()
		m.global("std", m.built("std.js", stdSource,
			m.frozen(m.api), m.source("stages.js", stagesSource), m.parts(), m.function("review", m.review)))
		m.global("lib", m.library())
		m.offerArgs()
	})
}

// offerAgents offers the functions that start and end agents.
func (m *machine) offerAgents() {
	sa := m.rt.NewObject()
	m.member(sa, "run", m.runAgent)
	m.member(sa, "join", m.promising(m.join))
	m.member(sa, "cancel", m.promising(m.cancel))
	m.member(sa, "status", m.status)
	m.member(sa, "list", m.list)
	m.member(sa, "send", m.promising(m.sendTo))
	m.member(sa, "evidence", m.promising(m.evidence))
	m.member(sa, "appraise", m.appraise)
	m.offer("sa", m.frozen(sa))
	for _, name := range []string{"run", "join", "cancel"} {
		m.offer(name, sa.Get(name))
	}
	m.offer("agent", m.function("agent", m.agent))
}

// offerRest offers the other functions and objects of the host.
func (m *machine) offerRest() {
	m.offer("workflow", m.function("workflow", m.promising(m.workflow)))
	m.offer("check", m.function("check", m.promising(m.check)))
	m.offer("merge", m.function("merge", m.promising(m.merge)))
	m.offer("land", m.function("land", m.promising(m.land)))
	m.offer("ask", m.function("ask", m.promising(m.question)))
	m.offer("repo", m.frozen(m.repo()))
	m.offer("budget", m.frozen(m.budget()))
	m.offer("failures", m.function("failures", m.failuresList))
	m.offer("phase", m.function("phase", m.setPhase))
	log := m.function("log", m.log)
	m.offer("log", log)
	console := m.rt.NewObject()
	for _, name := range []string{"log", "info", "warn", "error", "debug"} {
		m.constant(console, name, log)
	}
	m.global("console", m.frozen(console))
}

// offerCombinators offers the functions that are written in the language
// itself.
func (m *machine) offerCombinators() {
	go0 := m.helpers()
	m.constant(go0, "Promise", m.rt.Get("Promise"))
	made, ok := m.built("api.js", apiSource, go0).(*goja.Object)
	if !ok {
		m.throw(errors.New("the combinators are not an object"))
	}
	for _, name := range []string{"parallel", "pipeline", "race"} {
		m.offer(name, made.Get(name))
	}
}

// source returns the function that one of our own sources holds.
func (m *machine) source(name, text string) goja.Value {
	f, err := m.rt.RunScript("swarm:"+name, text)
	if err != nil {
		m.throw(err)
	}
	return f
}

// built calls the function in one of our own sources, and returns its value.
func (m *machine) built(name, source string, with ...goja.Value) goja.Value {
	call, ok := goja.AssertFunction(m.source(name, source))
	if !ok {
		m.throw(fmt.Errorf("%s is not a function", name))
	}
	v, err := call(goja.Undefined(), with...)
	if err != nil {
		m.throw(err)
	}
	if o, ok := v.(*goja.Object); ok {
		return m.frozen(o)
	}
	return v
}

// offerArgs makes args a global with a value for each workflow. Unlike the
// other globals it may be written: args = args ?? {} is how scripts give
// defaults.
func (m *machine) offerArgs() {
	get := m.rt.ToValue(func(goja.FunctionCall) goja.Value { return m.program().args })
	set := m.rt.ToValue(func(call goja.FunctionCall) goja.Value {
		m.program().args = call.Argument(0)
		return nil
	})
	err := m.rt.GlobalObject().DefineAccessorProperty("args", get, set, goja.FLAG_FALSE, goja.FLAG_TRUE)
	if err != nil {
		m.throw(err)
	}
}

// program is the workflow that runs now.
func (m *machine) program() *running { return m.context.current.program }

// offer makes v a global and a member of the api that std uses.
func (m *machine) offer(name string, v goja.Value) {
	m.constant(m.api, name, v)
	m.global(name, v)
}

// global makes v a global that cannot be overwritten. A name that the script
// declares itself hides it.
func (m *machine) global(name string, v goja.Value) {
	m.constant(m.rt.GlobalObject(), name, v)
}

// constant gives an object a property that stays.
func (m *machine) constant(o *goja.Object, name string, v goja.Value) {
	if err := o.DefineDataProperty(name, v, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_TRUE); err != nil {
		m.throw(err)
	}
}

// put gives an object a property of its own that may be changed.
func (m *machine) put(o *goja.Object, name string, v goja.Value) {
	if err := o.DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE); err != nil {
		m.throw(err)
	}
}

// member gives an object a method.
func (m *machine) member(o *goja.Object, name string, f native) {
	m.constant(o, name, m.function(name, f))
}

// function returns f under a name. Scripts cannot add properties to it.
func (m *machine) function(name string, f native) goja.Value {
	o := m.rt.ToValue(f).(*goja.Object)
	if err := o.DefineDataProperty("name", m.rt.ToValue(name), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE); err != nil {
		m.throw(err)
	}
	return m.frozen(o)
}

// frozen freezes o and returns it.
func (m *machine) frozen(o *goja.Object) *goja.Object {
	if _, err := m.freeze(goja.Undefined(), o); err != nil {
		m.throw(err)
	}
	return o
}
