package script

import "github.com/dop251/goja"

// running is a workflow at work: the script itself, or one that it calls.
type running struct {
	source Source
	args   goja.Value
	caller *running // nil for the script itself
}

// depth counts the workflows above this one.
func (r *running) depth() int {
	n := 0
	for c := r.caller; c != nil; c = c.caller {
		n++
	}
	return n
}

// scope is a part of the script that is told apart: a workflow, or one branch
// of a race.
type scope struct {
	parent  *scope // nil for the script itself
	program *running
	agents  []*child // what it started, and what the scopes inside it started
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

// adopt makes an agent one of s. The script itself keeps its own list.
func (s *scope) adopt(c *child) {
	for ; s.parent != nil; s = s.parent {
		s.agents = append(s.agents, c)
	}
}

// asyncContext knows in which scope the code is that runs now. The runtime
// tells it: what goes on after an await, and a handler of a promise, is in the
// scope that waited. Only the then of an object that is no promise is called
// without it, in the scope of the script itself.
type asyncContext struct {
	root    *scope
	current *scope
	before  []*scope // what was current when a job began
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
