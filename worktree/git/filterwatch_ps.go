package git

import (
	"context"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// psTime is how long ps may take.
const psTime = 10 * time.Second

// lookByPS looks at the processes below pid by the program ps. It shows how
// long each has computed, but not the bytes that it has read or written.
func lookByPS(ctx context.Context, pid int) activity {
	ctx, cancel := context.WithTimeout(ctx, psTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "ps", "-A", "-o", "pid=", "-o", "ppid=", "-o", "stat=", "-o", "time=", "-o", "args=")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return activity{unseen: true}
	}
	return belowInTable(string(out), pid, cmd.Process.Pid)
}

// psLine is a process in the table of ps.
type psLine struct {
	pid, parent int
	computed    uint64 // in hundredths of a second
	args        string // empty: it has ended
}

// belowInTable reads the processes below pid from a table of ps, but for ps
// itself.
func belowInTable(table string, pid, ps int) activity {
	lines, children := map[int]psLine{}, map[int][]int{}
	a := activity{unseen: true}
	for line := range strings.Lines(table) {
		p, ok := parsePS(line)
		switch {
		case !ok || p.pid == ps:
		case p.pid == pid:
			a.unseen = false
			a.moved += p.computed
		default:
			lines[p.pid] = p
			children[p.parent] = append(children[p.parent], p.pid)
		}
	}
	for _, below := range descendants(children, pid) {
		p := lines[below]
		a.add(p.pid, p.args, p.computed)
	}
	slices.Sort(a.pids)
	return a
}

// parsePS reads a line of the table: pid, parent, state, time and command.
func parsePS(line string) (p psLine, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 4 {
		return psLine{}, false
	}
	var err error
	if p.pid, err = strconv.Atoi(fields[0]); err != nil {
		return psLine{}, false
	}
	if p.parent, err = strconv.Atoi(fields[1]); err != nil {
		return psLine{}, false
	}
	if p.computed, ok = hundredths(fields[3]); !ok {
		return psLine{}, false
	}
	if !strings.HasPrefix(fields[2], "Z") {
		p.args = strings.Join(fields[4:], " ")
	}
	return p, true
}

// hundredths reads a time of ps: "1-02:03:04" or, on macOS, "123:04.56".
func hundredths(text string) (total uint64, ok bool) {
	days, text, found := strings.Cut(text, "-")
	if !found {
		days, text = "0", days
	}
	text, part, found := strings.Cut(text, ".")
	if !found {
		part = "0"
	}
	if len(part) == 1 {
		part += "0"
	}
	total, err := strconv.ParseUint(days, 10, 32)
	if err != nil {
		return 0, false
	}
	total *= 24
	units := strings.Split(text, ":")
	if len(units) == 2 {
		units = append([]string{"0"}, units...)
	}
	if len(units) != 3 || len(part) > 2 {
		return 0, false
	}
	for i, unit := range units {
		n, err := strconv.ParseUint(unit, 10, 32)
		if err != nil {
			return 0, false
		}
		if i > 0 {
			total *= 60
		}
		total += n
	}
	n, err := strconv.ParseUint(part, 10, 32)
	if err != nil {
		return 0, false
	}
	return total*100 + n, true
}
