package engine

import "testing"

// TestSupervisorsOfOnePid gives a supervisor the pid of an ended supervisor
// whose attempt continues. The end of that attempt does not remove the live
// supervisor.
func TestSupervisorsOfOnePid(t *testing.T) {
	t.Parallel()
	var s supervisors
	s.add(7)
	s.add(7)
	s.remove(7)
	is(t, "the one that lives is known", s.has(7), true)
	s.remove(7)
	is(t, "nobody is left", s.has(7), false)
}
