package nonamespaces

import (
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// inside is the variable of the process that mounts the overlay.
const inside = "NONAMESPACES_INSIDE"

// onOverlay runs a command in a mount namespace where a folder is an overlay. It
// returns the exit code of the command.
func onOverlay(dir string, argv []string) (code int, err error) {
	if os.Getenv(inside) != "" {
		return 0, mountOverlay(dir, argv)
	}
	for _, d := range []string{dir, dir + ".upper", dir + ".work"} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return 0, err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	// The parent waits, and its thread with it.
	runtime.LockOSThread()
	attr := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if !mayMount() {
		uid, gid := os.Geteuid(), os.Getegid()
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		// An overlay writes to its work folder, whose mode is 0, with the rights of who
		// mounted it.
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_DAC_OVERRIDE}
	}
	p, err := os.StartProcess(self, os.Args, &os.ProcAttr{
		Env: append(os.Environ(), inside+"=1"), Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}, Sys: attr,
	})
	if err != nil {
		return 0, err
	}
	state, err := p.Wait()
	if err != nil {
		return 0, err
	}
	return state.ExitCode(), nil
}

// mayMount reports whether this process has CAP_SYS_ADMIN. Root of a container has not.
func mayMount() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	err := unix.Capget(&header, &sets[0])
	return err == nil && sets[0].Effective&(1<<unix.CAP_SYS_ADMIN) != 0
}

// mountOverlay mounts the overlay and becomes the command. A user other than root
// has no capability then.
func mountOverlay(dir string, argv []string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make the mounts private: %w", err)
	}
	options := "userxattr,lowerdir=" + dir + ",upperdir=" + dir + ".upper,workdir=" + dir + ".work"
	// EINVAL: this file system takes no overlays, so there is no need of one.
	if err := unix.Mount("overlay", dir, "overlay", 0, options); err != nil && err != unix.EINVAL {
		return fmt.Errorf("mount an overlay at %s: %w", dir, err)
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("give the capabilities up: %w", err)
	}
	if err := os.Unsetenv(inside); err != nil {
		return err
	}
	return unix.Exec("/usr/bin/env", append([]string{"env", "--"}, argv...), os.Environ())
}
