package proc

import (
	"encoding/json"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func exe() string {
	path, err := os.Executable()
	must(err)
	return path
}

func allModes() []mode { return []mode{{name: "fallback"}} }

func enterTestSandbox(raw json.RawMessage) error {
	var w testSandbox
	if err := json.Unmarshal(raw, &w); err != nil {
		return err
	}
	if w.Fail != "" {
		return errors.New(w.Fail)
	}
	return nil
}

// halted reports whether a process was stopped by a signal.
func halted(pid int) bool {
	const stopped = 4 // SSTOP
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err == nil && k.Proc.P_stat == stopped
}
