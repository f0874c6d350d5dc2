package box

import (
	"errors"
	"fmt"
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// ladder lists the levels worth trying, best first.
func ladder() []Level {
	return []Level{Full, OldProc, NoOverlay, NoOverlayOldProc, Landlock}
}

// Attr returns the attributes to start a supervisor with, or nil where it
// gets no namespaces.
//
// The user namespace gives the right to make the others. It maps the
// caller's own ids onto themselves and nobody else's onto root: git's index
// holds owners, and agents must not believe they are root. Root gets one too:
// what it may do inside ends with its capabilities, which it gives up. Setuid
// programs, such as sudo, lose their power, because their owner is not mapped.
//
// The IPC namespace is there because shared memory of System V outlives the
// processes that made it, but not its namespace.
func Attr(level Level) *syscall.SysProcAttr {
	if !level.Namespaces() {
		return nil
	}
	uid, gid := os.Geteuid(), os.Getegid()
	attr := &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}},
	}
	// Only ambient capabilities survive the exec of who is not root. All of
	// them: the kernel enters the work folder of an overlay, which nobody may,
	// with those of who mounts it.
	for c := range uintptr(unix.CAP_LAST_CAP + 1) {
		attr.AmbientCaps = append(attr.AmbientCaps, c)
	}
	return attr
}

// Enter finishes the sandbox from inside a process that was started with Attr
// of the same level. It must run on the very thread that starts the agent
// afterwards: capabilities are a thread's own.
func Enter(w Sandbox) error {
	if w.Level == None {
		return nil
	}
	// The agent does not inherit descriptors that this process got by mistake.
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil && w.Level.Namespaces() {
		return fmt.Errorf("keep descriptors: %w", err)
	}
	newKeyring()
	if w.Level == Landlock {
		return restrict(w)
	}
	if os.Getpid() != 1 {
		return errors.New("not the first process of a PID namespace")
	}
	// Slave and not private: what the user unmounts must go here too.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("make all mounts slaves: %w", err)
	}
	if err := build(w); err != nil {
		return err
	}
	if err := giveUp(); err != nil {
		return err
	}
	if !w.Open {
		noForeignSockets()
	}
	return nil
}

// newKeyring leaves the user's session keyring, which would be inherited. Where
// that is refused, so are keys.
func newKeyring() {
	_, _ = unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0)
}

// giveUp makes the next exec of this thread lose what Attr has given, for good.
// The process itself keeps it on purpose: the kernel lets nobody with fewer
// capabilities look into another's memory and descriptors.
func giveUp() error {
	err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	if err != nil {
		return fmt.Errorf("clear ambient capabilities: %w", err)
	}
	// An exec as root would give all of them back. An agent's own agents have
	// lost that already, and the right to say so.
	const noRoot = 1<<0 | 1<<1 // SECBIT_NOROOT and its lock, capabilities(7)
	if bits, err := unix.PrctlRetInt(unix.PR_GET_SECUREBITS, 0, 0, 0, 0); err != nil || bits&noRoot != noRoot {
		if err := unix.Prctl(unix.PR_SET_SECUREBITS, noRoot, 0, 0, 0); err != nil {
			return fmt.Errorf("take the power of root away: %w", err)
		}
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
	return noNewPrivileges()
}

func noNewPrivileges() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid new privileges: %w", err)
	}
	return nil
}
