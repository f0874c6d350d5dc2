package script

import (
	"encoding/json"
	"fmt"

	"github.com/dop251/goja"
)

// workflow is workflow(name or {scriptPath}, args): another script, inside this
// script. It has its own args and shares all else.
func (m *machine) workflow(call goja.FunctionCall, d deferred) {
	m.refuseLosers("a workflow")
	caller := m.program()
	most := max(1, m.begin.Depth)
	if caller.depth() >= most {
		levels := "one level"
		if most > 1 {
			levels = fmt.Sprintf("%d levels", most)
		}
		m.throw(&Error{Name: "Error", Code: CodeLimit, Message: "workflow: workflows nest " + levels + " deep, and this would be one more"})
	}
	args, err := m.encodeLeaving(call.Argument(1), "args")
	if err != nil {
		m.throw(asOption("workflow", err))
	}
	source := m.nestedSource(m.nestedRequest(call.Argument(0)))
	for c := caller; c != nil; c = c.caller {
		if c.source.Name == source.Name {
			m.throw(&Error{Name: "Error", Code: CodeLimit, Message: fmt.Sprintf("workflow: %s would call itself", source.Name)})
		}
	}
	program, err := Load(source)
	if err != nil {
		m.throw(err)
	}
	inside := &scope{
		parent:  m.context.current,
		program: &running{source: source, args: m.value(args), caller: caller},
	}
	result := m.context.within(inside, func() goja.Value { return m.start(program) })
	m.settleWith(d, func() goja.Value { return result })
}

// nestedRequest asks for the text of a workflow.
func (m *machine) nestedRequest(v goja.Value) *Nested {
	r := &Nested{From: m.program().source.Name}
	if o, ok := v.(*goja.Object); ok {
		given, err := m.options("workflow", o, "scriptPath", "name")
		if err != nil {
			m.throw(err)
		}
		if r.Path, err = given.text("scriptPath"); err != nil {
			m.throw(err)
		}
		if r.Name, err = given.text("name"); err != nil {
			m.throw(err)
		}
		if (r.Path == "") == (r.Name == "") {
			m.throw(invalid("workflow: wants a name or {scriptPath}, one of both"))
		}
		return r
	}
	r.Name = m.word("workflow: the name", v)
	return r
}

func (m *machine) nestedSource(r *Nested) Source {
	var s Source
	if err := json.Unmarshal(m.do(r), &s); err != nil {
		m.throw(fmt.Errorf("read the text of a workflow: %w", err))
	}
	return s
}

// library returns the exports of a project's own files, as lib.
func (m *machine) library() goja.Value {
	for _, src := range m.begin.Lib {
		m.sources[src.Name] = src
	}
	o, err := loadLibraries(m.rt, m.begin.Lib)
	if err != nil {
		m.throw(err)
	}
	return m.frozen(o)
}
