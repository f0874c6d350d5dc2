package box

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// ladder lists the rungs worth trying, best first.
func ladder() []Rung { return []Rung{PIDNamespace, PIDNamespaceOldProc} }

// Attr returns the attributes to start a supervisor with, or nil for None.
//
// Root gets no user namespace: files of all owners must stay reachable. For
// everybody else there is one, because it gives the right to make the others.
// It maps the caller's own ids onto themselves and never onto root: git's
// index holds owners, and agents must not believe they are root. Inside,
// setuid programs, such as sudo, lose their power, because their owner is not
// mapped; no further prohibition is needed for that.
//
// The IPC namespace is there because shared memory of System V outlives the
// processes that made it, but not its namespace.
func Attr(rung Rung) *syscall.SysProcAttr {
	if rung == None {
		return nil
	}
	attr := &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC,
	}
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{
			{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{
			{ContainerID: gid, HostID: gid, Size: 1}}
		// The supervisor is not root, so only ambient capabilities survive
		// its exec. It needs this one to mount.
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
	}
	return attr
}

// Enter finishes the walls from inside a process that was started with Attr
// of the same rung. It must run on the very thread that starts the agent
// afterwards: capabilities are a thread's own.
func Enter(rung Rung) error {
	if rung == None {
		return nil
	}
	if os.Getpid() != 1 {
		return errors.New("not the first process of a PID namespace")
	}
	// Slave and not private: what the user unmounts must go here too.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("make all mounts slaves: %w", err)
	}
	if rung == PIDNamespace {
		const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
		if err := unix.Mount("proc", "/proc", "proc", flags, ""); err != nil {
			return fmt.Errorf("mount a new /proc: %w", err)
		}
	}
	if os.Geteuid() == 0 {
		return nil // Root had its capabilities before.
	}
	return dropCapabilities()
}

// dropCapabilities makes the next exec of this thread lose what Attr has
// given. The process itself keeps it on purpose: the kernel lets nobody with
// fewer capabilities look into another's memory and descriptors.
func dropCapabilities() error {
	err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	if err != nil {
		return fmt.Errorf("clear ambient capabilities: %w", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var caps [2]unix.CapUserData
	if err := unix.Capget(&header, &caps[0]); err != nil {
		return fmt.Errorf("read capabilities: %w", err)
	}
	caps[0].Inheritable, caps[1].Inheritable = 0, 0
	if err := unix.Capset(&header, &caps[0]); err != nil {
		return fmt.Errorf("clear inheritable capabilities: %w", err)
	}
	return nil
}
