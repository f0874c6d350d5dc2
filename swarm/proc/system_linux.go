package proc

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// orphansStay says that a process whose parent dies becomes ours.
const orphansStay = true

// seal marks all descriptors that were inherited, so that no agent inherits
// them in turn: the engine may itself have been started with some open. It
// also shuts the supervisor's /proc folder, through which an agent of the
// same user could otherwise open its pipes.
func seal() error {
	if err := Conceal(); err != nil {
		return err
	}
	err := unix.CloseRange(controlFD, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
		return sealEach()
	}
	return err
}

// agentScore is the share of the memory, in thousandths, by which an agent
// counts as larger where the kernel chooses a process to kill.
const agentScore = 500

// raiseOOMScore has the kernel kill this supervisor and its agent before swarm
// if memory runs out (proc(5), oom_score_adj). A process may raise its own score
// while its /proc folder is open; see [seal]. A failure costs only that order.
func raiseOOMScore() {
	const file = "/proc/self/oom_score_adj"
	text, err := os.ReadFile(file)
	if err != nil {
		return
	}
	if score, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && score < agentScore {
		_ = os.WriteFile(file, strconv.AppendInt(nil, agentScore, 10), 0)
	}
}

// Conceal shuts the /proc folder of this process to others of the same user: to
// its environment, its memory and its descriptors (prctl(2), PR_SET_DUMPABLE).
func Conceal() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

// adopt makes orphans below this process its children.
func adopt() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become a subreaper: %w", err)
	}
	return nil
}

// mark leaves a tag on this process and all that will descend from it. It is
// kept as the soft limit of file locks, which no kernel since 2.4 looks at,
// and which, unlike a variable, survives a change of the environment.
func mark(tag uint64) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_LOCKS, &limit); err != nil {
		return fmt.Errorf("leave a tag: %w", err)
	}
	if limit.Max < tag {
		return nil // Somebody has lowered it. Only Sweep is the poorer for it.
	}
	limit.Cur = tag
	if err := unix.Setrlimit(unix.RLIMIT_LOCKS, &limit); err != nil {
		return fmt.Errorf("leave a tag: %w", err)
	}
	return nil
}

func signalName(s syscall.Signal) string { return unix.SignalName(s) }

// maxRSS returns bytes; Linux counts in KiB.
func maxRSS(use *syscall.Rusage) int64 { return int64(use.Maxrss) << 10 }

// resident is the memory that a process holds, in bytes; 0 where that is not
// known.
func resident(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	var size, held int64
	if _, err := fmt.Sscan(string(text), &size, &held); err != nil {
		return 0
	}
	return held * int64(os.Getpagesize())
}
