package git

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// lookBelow looks at the processes below pid, by /proc.
func lookBelow(ctx context.Context, pid int) activity {
	children, seen := childrenOf()
	if !seen {
		return lookByPS(ctx, pid)
	}
	a := activity{moved: cpuTime(pid)}
	for _, p := range descendants(children, pid) {
		line, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p), "cmdline")) // none: it is gone
		a.add(p, strings.ReplaceAll(strings.TrimRight(string(line), "\x00"), "\x00", " "), cpuTime(p))
		a.moved += transferred(p)
	}
	a.moved += transferred(pid)
	slices.Sort(a.pids)
	return a
}

// childrenOf are the children of all processes; false where /proc does not show
// this process.
func childrenOf() (all map[int][]int, seen bool) {
	all = map[int][]int{}
	if stat(os.Getpid()) == nil {
		return all, false
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return all, false
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if fields := stat(pid); len(fields) > 1 {
			if parent, err := strconv.Atoi(fields[1]); err == nil {
				all[parent] = append(all[parent], pid)
			}
		}
	}
	return all, true
}

// stat are the fields of /proc/PID/stat from the state on, the third; none
// where the process is gone.
func stat(pid int) []string {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
}

// cpuTime is how long a process has computed, in ticks.
func cpuTime(pid int) (ticks uint64) {
	if fields := stat(pid); len(fields) > 12 {
		for _, field := range fields[11:13] {
			n, _ := strconv.ParseUint(field, 10, 64) // 0 if it is no number
			ticks += n
		}
	}
	return ticks
}

// transferred is how much a process has read and written, in bytes; 0 where that
// cannot be seen, as of a process of another user.
func transferred(pid int) (total uint64) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "io"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && (name == "rchar" || name == "wchar") {
			n, _ := strconv.ParseUint(strings.TrimSpace(value), 10, 64)
			total += n
		}
	}
	return total
}
