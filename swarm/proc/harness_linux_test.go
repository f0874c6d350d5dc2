package proc

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// exe is this binary, also for a user who may not enter its folder.
func exe() string { return "/proc/self/exe" }

func allModes() []mode {
	return []mode{
		{name: "fallback"},
		{name: "namespace", attr: namespaces, walls: testSandbox{Proc: true}},
	}
}

func namespaces() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS}
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{
			{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{
			{ContainerID: gid, HostID: gid, Size: 1}}
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
	}
	return attr
}

func enterTestSandbox(raw json.RawMessage) error {
	var w testSandbox
	if err := json.Unmarshal(raw, &w); err != nil {
		return err
	}
	if w.Fail != "" {
		return errors.New(w.Fail)
	}
	if w.FileSize > 0 {
		limit := unix.Rlimit{Cur: w.FileSize, Max: unix.RLIM_INFINITY}
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
			return err
		}
	}
	if w.Bare {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return err
		}
	}
	if !w.Proc {
		return nil
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return err
	}
	return unix.Mount("proc", "/proc", "proc", 0, "")
}

// halted reports whether a process was stopped by a signal.
func halted(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(stat), ") ") // its name has none
	return err == nil && strings.HasPrefix(rest, "T")
}
