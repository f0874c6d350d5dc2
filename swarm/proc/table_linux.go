package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// processes reads the table of all processes. A process that ends meanwhile is
// left out.
func processes() ([]process, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var table []process
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := look(pid); ok {
			table = append(table, p)
		}
	}
	return table, nil
}

// tableIsOurs reports whether the numbers in the table are those of this
// process's own namespace.
func tableIsOurs() bool {
	self, err := os.Readlink("/proc/self")
	return err == nil && self == strconv.Itoa(os.Getpid())
}

// descendants reads the rows of all that is below a process. The kernel
// lists children, if it was built to, which is so much faster than reading
// the whole table that a chain of forks can be caught. It may miss some
// while others come and go, so who needs them all looks again.
func descendants(pid int) ([]process, error) {
	var table []process
	for open := []int{pid}; len(open) > 0; {
		pid := open[len(open)-1]
		open = open[:len(open)-1]
		children, listed := children(pid)
		if !listed {
			return processes()
		}
		for _, child := range children {
			if p, ok := look(child); ok {
				table = append(table, p)
				open = append(open, child)
			}
		}
	}
	return table, nil
}

// children lists the children of all threads of a process. It answers false
// if the kernel does not say, and none if the process is gone.
func children(pid int) (pids []int, listed bool) {
	threads := "/proc/" + strconv.Itoa(pid) + "/task"
	names, err := os.ReadDir(threads)
	if err != nil {
		return nil, true
	}
	for _, name := range names {
		list, err := os.ReadFile(threads + "/" + name.Name() + "/children")
		if err != nil {
			_, err = os.Stat(threads + "/" + name.Name())
			if err == nil {
				return nil, false
			}
			continue // The thread has ended.
		}
		for field := range strings.FieldsSeq(string(list)) {
			if child, err := strconv.Atoi(field); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids, true
}

// look reads the row of a process.
func look(pid int) (process, bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	return parseStat(stat)
}

// parseStat reads a line of /proc/PID/stat. The second field is the name in
// parentheses, which may hold any byte, also a parenthesis.
func parseStat(line []byte) (process, bool) {
	left, right := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if left < 1 || right < left {
		return process{}, false
	}
	const state, parent, group, threads, start = 0, 1, 2, 17, 19
	rest := bytes.Fields(line[right+1:])
	if len(rest) <= start {
		return process{}, false
	}
	var p process
	var errs [5]error
	var lives int
	p.pid, errs[0] = strconv.Atoi(string(bytes.TrimSpace(line[:left])))
	p.parent, errs[1] = strconv.Atoi(string(rest[parent]))
	p.group, errs[2] = strconv.Atoi(string(rest[group]))
	lives, errs[3] = strconv.Atoi(string(rest[threads]))
	p.start, errs[4] = strconv.ParseUint(string(rest[start]), 10, 64)
	switch rest[state][0] {
	case 'Z':
		// A first thread that has ended before the others looks the same.
		p.dead = lives <= 1
	case 'X', 'x':
		p.dead = true
	}
	return p, errors.Join(errs[:]...) == nil
}

// send signals a process, and no other that has its number by now.
func send(p process, sig syscall.Signal) error {
	fd, err := unix.PidfdOpen(p.pid, 0)
	switch {
	case errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM):
		fd = -1 // An old kernel, or a sandbox that does not know the call.
	case err != nil:
		return fmt.Errorf("signal process %d: %w", p.pid, err)
	default:
		defer unix.Close(fd)
	}
	if now, ok := look(p.pid); !ok || now.who() != p.who() {
		return fmt.Errorf("signal process %d: %w", p.pid, syscall.ESRCH)
	}
	if fd >= 0 {
		err = unix.PidfdSendSignal(fd, sig, nil, 0)
	} else {
		err = syscall.Kill(p.pid, sig)
	}
	if err != nil {
		return fmt.Errorf("signal process %d: %w", p.pid, err)
	}
	return nil
}

// tagOf reads the tag that mark left on a process, or 0.
func tagOf(pid int) uint64 {
	limits, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/limits")
	if err != nil {
		return 0
	}
	return parseTag(string(limits))
}

// parseTag finds the tag in the text of /proc/PID/limits.
func parseTag(limits string) uint64 {
	for line := range strings.Lines(limits) {
		rest, ok := strings.CutPrefix(line, "Max file locks")
		if !ok {
			continue
		}
		if soft := strings.Fields(rest); len(soft) > 0 {
			tag, err := strconv.ParseUint(soft[0], 10, 64)
			if err == nil && isTag(tag) {
				return tag
			}
		}
	}
	return 0
}
