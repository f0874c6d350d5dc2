package box

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// device is a device node of the machine that agents find in their /dev.
type device struct {
	name  string
	mount int
}

// harmless are the devices that every agent may open.
func harmless() []string { return []string{"null", "zero", "full", "random", "urandom", "tty"} }

// takeDevices makes mounts of the harmless devices. Without capabilities root
// still owns the disks of the machine.
func takeDevices() (all []device, err error) {
	for _, name := range harmless() {
		mount, _, err := bind("/dev/" + name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = lockDevice(mount)
		}
		if err != nil {
			closeDevices(all)
			return nil, err
		}
		all = append(all, device{name, mount})
	}
	return all, nil
}

// lockDevice keeps root, who owns the machine's devices, from changing the mode of
// one: npm, told to write its configuration to a hidden file, took /dev/null away
// from all other users. A device on a read-only mount can be written to.
func lockDevice(mount int) error { return setAttr(mount, unix.MOUNT_ATTR_RDONLY, 0) }

func closeDevices(all []device) {
	for _, d := range all {
		_ = unix.Close(d.mount)
	}
}

// putDevices makes a /dev with these devices, an empty shm, and pseudo-terminals
// of its own: an agent that could open a terminal of the user's could send escape
// sequences to it. An agent's own terminal, if it has one, is open already.
func putDevices(all []device) error {
	dev, err := newFS("tmpfs", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC, [2]string{"mode", "755"})
	if err != nil {
		return err
	}
	defer unix.Close(dev)
	for name, to := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
		"ptmx": "pts/ptmx",
	} {
		if err := unix.Symlinkat(to, dev, name); err != nil {
			return fmt.Errorf("link %s: %w", name, err)
		}
	}
	for _, name := range []string{"shm", "pts"} {
		if err := unix.Mkdirat(dev, name, 0o755); err != nil {
			return fmt.Errorf("make %s: %w", name, err)
		}
	}
	terminals, err := newFS("devpts", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC,
		[2]string{"ptmxmode", "666"}, [2]string{"mode", "620"})
	if err != nil {
		return err
	}
	defer unix.Close(terminals)
	err = unix.MoveMount(dev, "", unix.AT_FDCWD, "/dev", unix.MOVE_MOUNT_F_EMPTY_PATH)
	if err != nil {
		return err
	}
	for _, d := range all {
		p := piece{Piece: Piece{At: "/dev/" + d.name}, mount: d.mount, file: true}
		if err := p.put(); err != nil {
			return fmt.Errorf("put up %s: %w", p.At, err)
		}
	}
	if err := (&piece{Piece: Piece{At: "/dev/pts"}, mount: terminals}).put(); err != nil {
		return fmt.Errorf("put up /dev/pts: %w", err)
	}
	return setAttr(dev, unix.MOUNT_ATTR_RDONLY, 0)
}

// makeProc makes a new /proc, or takes the old one aside while it can still be
// written to.
func makeProc(level Level) (int, error) {
	if !level.FreshProc() {
		_ = noControlGroups(unix.AT_FDCWD, "/proc/") // It may be read-only here.
		fd, _, err := bind("/proc")
		if err != nil {
			return -1, fmt.Errorf("keep /proc: %w", err)
		}
		return fd, nil
	}
	proc, err := newFS("proc", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
	if err != nil {
		return -1, err
	}
	if err := noControlGroups(proc, ""); err != nil {
		return -1, errors.Join(fmt.Errorf("forbid namespaces of control groups: %w", err), unix.Close(proc))
	}
	return proc, nil
}

// noControlGroups keeps agents from mounting the control groups once more,
// which takes a namespace of them, where the group they run in is their user's:
// they could end all that is in it, swarm itself too.
func noControlGroups(dir int, proc string) error {
	if groups, err := os.ReadFile("/proc/self/cgroup"); err == nil && os.Geteuid() != 0 &&
		!ownsGroup(string(groups), "/sys/fs/cgroup", "/sys/fs/cgroup/unified") {
		return nil
	}
	fd, err := unix.Openat(dir, proc+"sys/user/max_cgroup_namespaces", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil // The kernel has none.
	}
	if err != nil {
		return err
	}
	_, err = unix.Write(fd, []byte("0"))
	return errors.Join(err, unix.Close(fd))
}

// ownsGroup reports whether a group that /proc names for a process may be
// written to. One that is not to be found may be.
func ownsGroup(groups string, roots ...string) bool {
	_, rest, ok := strings.Cut("\n"+groups, "\n0::")
	if !ok {
		return false // The old hierarchies are root's.
	}
	path, _, _ := strings.Cut(rest, "\n")
	for _, root := range roots {
		at := filepath.Join(root, path, "cgroup.procs")
		switch err := unix.Faccessat(unix.AT_FDCWD, at, unix.W_OK, unix.AT_EACCESS); {
		case err == nil:
			return true
		case !errors.Is(err, unix.ENOENT):
			return false
		}
	}
	return true
}

// closeProc makes all of /proc read-only but for the processes: the kernel lets
// root change it even without capabilities. Nested sandboxes cannot mount a
// /proc of their own over it; those of root cannot anyway.
func closeProc() error {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 || e.Name()[0] >= '0' && e.Name()[0] <= '9' {
			continue
		}
		if info, err := e.Info(); err != nil || !e.IsDir() && info.Mode().Perm()&0o222 == 0 {
			continue
		}
		path := filepath.Join("/proc", e.Name())
		mount, file, err := bind(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		p := piece{Piece: Piece{At: path}, mount: mount, file: file}
		err = setAttr(mount, unix.MOUNT_ATTR_RDONLY, unix.AT_RECURSIVE)
		if err = errors.Join(err, p.put(), unix.Close(mount)); err != nil {
			return fmt.Errorf("make %s read-only: %w", path, err)
		}
	}
	return nil
}
