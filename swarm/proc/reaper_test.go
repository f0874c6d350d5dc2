package proc

import (
	"errors"
	"syscall"
	"testing"
)

// TestReaperCounts counts the agent's processes, and neither its visitors nor
// the processes that these had started.
func TestReaperCounts(t *testing.T) {
	t.Parallel()
	const agent, visitor, guest, other = 10, 11, 12, 13
	r := newReaper(agent)
	ended := make(chan syscall.WaitStatus, 1)
	if _, err := r.admit(func() (int, error) { return visitor, nil }, ended); err != nil {
		t.Fatal(err)
	}
	r.disregard(map[who]bool{{visitor, 1}: true, {guest, 1}: true})
	r.armed.Store(true)
	killed := syscall.WaitStatus(syscall.SIGKILL)
	use := &syscall.Rusage{Utime: syscall.Timeval{Sec: 1}, Maxrss: 5}
	for _, pid := range []int{visitor, guest, other} {
		if r.bury(pid, killed, use) {
			t.Errorf("%d is taken for the agent", pid)
		}
	}
	if status := <-ended; status != killed {
		t.Errorf("the visitor ended %v, want %v", status, killed)
	}
	if !r.bury(agent, 0, use) {
		t.Error("the agent is not known")
	}
	if cpu, rss := r.used(); cpu.Seconds() != 2 || rss != maxRSS(use) || r.killed.Load() != 1 {
		t.Errorf("%v, %d bytes, %d killed, want those of two, and one", cpu, rss, r.killed.Load())
	}
	if _, err := r.admit(func() (int, error) { t.Error("it starts"); return 0, nil }, ended); !errors.Is(err, errEnded) {
		t.Errorf("a visit after the end: %v, want %v", err, errEnded)
	}
}
