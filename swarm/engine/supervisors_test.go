package engine

import "testing"

// TestSupervisorsOfOnePid has a supervisor be given the pid of one that has ended,
// whose attempt goes on: the end of that one's attempt takes it from nobody else.
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
