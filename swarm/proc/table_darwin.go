package proc

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// zombie is SZOMB of sys/proc.h.
const zombie = 5

// processes reads the table of all processes.
func processes() ([]process, error) {
	rows, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	table := make([]process, len(rows))
	for i := range rows {
		table[i] = row(&rows[i])
	}
	return table, nil
}

// tableIsOurs is true: there is a single table.
func tableIsOurs() bool { return true }

// descendants reads at least the rows of all that is below a process.
func descendants(int) ([]process, error) { return processes() }

func row(k *unix.KinfoProc) process {
	return process{
		pid: int(k.Proc.P_pid), parent: int(k.Eproc.Ppid),
		group: int(k.Eproc.Pgid), start: uint64(k.Proc.P_starttime.Nano()),
		dead: k.Proc.P_stat == zombie,
	}
}

// look reads the row of a process.
func look(pid int) (process, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return process{}, false
	}
	return row(k), true
}

// send signals a process. There is no handle on a process here, so between the
// look and the signal its number could, in theory, change hands.
func send(p process, sig syscall.Signal) error {
	if now, ok := look(p.pid); !ok || now.who() != p.who() {
		return fmt.Errorf("signal process %d: %w", p.pid, syscall.ESRCH)
	}
	if err := syscall.Kill(p.pid, sig); err != nil {
		return fmt.Errorf("signal process %d: %w", p.pid, err)
	}
	return nil
}

// tagOf returns 0: processes cannot be tagged here.
func tagOf(int) uint64 { return 0 }
