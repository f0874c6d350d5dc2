package git

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// lookBelow looks at the processes below one, by /proc.
func lookBelow(pid int) activity {
	var a activity
	children := childrenOf()
	a.done = cpuTime(pid)
	for below := slices.Clone(children[pid]); len(below) > 0; {
		p := below[0]
		below = append(below[1:], children[p]...)
		a.pids = append(a.pids, p)
		moved, seen := transferred(p)
		if !seen {
			moved = cpuTime(p) // of a process of another, as behind walls
		}
		a.done += moved
		line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p), "cmdline"))
		if err != nil || len(line) == 0 {
			continue // it is gone
		}
		words := strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
		if filepath.Base(words[0]) == "git" {
			a.done += cpuTime(p)
			continue
		}
		a.commands = append(a.commands, strings.Join(words, " "))
	}
	moved, _ := transferred(pid)
	a.done += moved
	slices.Sort(a.pids)
	return a
}

// childrenOf are the children of all processes.
func childrenOf() map[int][]int {
	all := map[int][]int{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return all
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
	return all
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
			n, _ := strconv.ParseUint(field, 10, 64) // 0 of what is no number
			ticks += n
		}
	}
	return ticks
}

// transferred is how much a process has read and written, in bytes; false where
// that cannot be seen.
func transferred(pid int) (total uint64, seen bool) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "io"))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && (name == "rchar" || name == "wchar") {
			n, _ := strconv.ParseUint(strings.TrimSpace(value), 10, 64)
			total += n
		}
	}
	return total, true
}
