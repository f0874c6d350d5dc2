package proc

import "testing"

// TestCountedOnce: a process that two hunts kill counts once, and the agent is
// never counted.
func TestCountedOnce(t *testing.T) {
	t.Parallel()
	const agent = 10
	f := newFamily(newReaper(agent))
	f.count(map[who]bool{{agent, 1}: true, {11, 1}: true, {12, 1}: true})
	f.count(map[who]bool{{12, 1}: true, {12, 2}: true}) // the second has its number
	if got := len(f.hunted); got != 3 {
		t.Errorf("%d processes were killed, want 3", got)
	}
}
