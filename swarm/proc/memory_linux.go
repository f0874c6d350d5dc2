package proc

import (
	"bytes"
	"os"
	"strconv"
)

// Memory is the private memory of a process's descendants, in bytes, without
// memory shared with others. It is 0 if that is unknown.
func Memory(pid int) (sum int64) {
	below, err := descendants(pid)
	if err != nil {
		return 0
	}
	// Where the kernel lists no children the table is that of all processes.
	parents := map[int]int{}
	for _, p := range below {
		parents[p.pid] = p.parent
	}
	for _, p := range below {
		if isBelow(parents, p.pid, pid) {
			sum += private(p.pid)
		}
	}
	return sum
}

// isBelow reports whether a process descends from another, by the parents that
// are known.
func isBelow(parents map[int]int, pid, of int) bool {
	for range len(parents) + 1 {
		parent, known := parents[pid]
		if !known || parent == of {
			return known
		}
		pid = parent
	}
	return false
}

// private is the resident memory of a process that it shares with no other.
func private(pid int) int64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	pages := bytes.Fields(text)
	if len(pages) < 3 {
		return 0
	}
	resident, err1 := strconv.ParseInt(string(pages[1]), 10, 64)
	shared, err2 := strconv.ParseInt(string(pages[2]), 10, 64)
	if err1 != nil || err2 != nil {
		return 0
	}
	return max(0, resident-shared) * int64(os.Getpagesize())
}
