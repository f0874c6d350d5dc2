package script

import "github.com/dop251/goja"

// running is a workflow that runs: the script itself, or a workflow that it
// calls.
type running struct {
	source Source
	args   goja.Value
	caller *running // nil for the script itself
}

// depth returns the number of workflows above this workflow.
func (r *running) depth() int {
	n := 0
	for c := r.caller; c != nil; c = c.caller {
		n++
	}
	return n
}

// scope is a part of the script with its own agents: a workflow, or a branch of
// a race.
type scope struct {
	parent  *scope // nil for the script itself
	program *running
	agents  []*child // the agents of the scope and of the scopes inside it
	ended   bool     // its race is over, and it did not win
}

// hasLost reports whether a race that s is part of is over without it.
func (s *scope) hasLost() bool {
	for ; s != nil; s = s.parent {
		if s.ended {
			return true
		}
	}
	return false
}

// adopt adds an agent to s and the scopes above. The script itself keeps its
// own list.
func (s *scope) adopt(c *child) {
	for ; s.parent != nil; s = s.parent {
		s.agents = append(s.agents, c)
	}
}

// asyncContext knows the scope of the running code. The runtime reports it:
// code after an await, and a handler of a promise, is in the scope that waited.
// Only the then method of an object that is no promise gets no scope, so it
// runs in that of the script itself.
type asyncContext struct {
	root    *scope
	current *scope
	before  []*scope // the current scopes when jobs began
}

func newAsyncContext(source Source) *asyncContext {
	root := &scope{program: &running{source: source, args: goja.Undefined()}}
	return &asyncContext{root: root, current: root}
}

// Grab is called where code begins to wait.
func (a *asyncContext) Grab() any { return a.current }

// Resumed is called before it goes on.
func (a *asyncContext) Resumed(grabbed any) {
	a.before = append(a.before, a.current)
	a.current = a.root
	if s, ok := grabbed.(*scope); ok {
		a.current = s
	}
}

// Exited is called when it waits again, or has ended.
func (a *asyncContext) Exited() {
	last := len(a.before) - 1
	a.current, a.before = a.before[last], a.before[:last]
}

// within runs f in a scope.
func (a *asyncContext) within(s *scope, f func() goja.Value) goja.Value {
	before := a.current
	a.current = s
	defer func() { a.current = before }()
	return f()
}
