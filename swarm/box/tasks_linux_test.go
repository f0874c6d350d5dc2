package box

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// run does a task. What it returns of an attempt to escape are its successes,
// one a line.
func (t task) run() (string, error) {
	all := map[string]func(*breaches, []string){
		"write": tryWrite, "touch": tryTouch, "read": tryRead, "dial": tryDial, "remount": tryRemount, "look": tryLook,
		"ptrace": tryPtrace, "kill": tryKill, "signal": trySignal, "system": trySystem, "device": tryDevice,
		"handle": tryHandle, "descriptors": tryDescriptors, "shm": tryShm, "groups": tryGroups,
		"terminal": tryTerminal, "mode": tryMode, "key": tryKey, "chroot": tryChroot,
	}
	if t.Name == "facts" {
		return tellFacts(), nil
	}
	do, ok := all[t.Name]
	if !ok {
		return "", fmt.Errorf("no task is called %q", t.Name)
	}
	// Where there is no sandbox at all, what is tried must harm nobody.
	for _, path := range t.Args {
		if t.Name == "write" && !strings.Contains(path, "/swarm-box-") {
			return "", fmt.Errorf("%s is not the test's own", path)
		}
	}
	if t.Name == "remount" || t.Name == "look" || t.Name == "groups" {
		if mounts, err := os.Readlink("/proc/self/ns/mnt"); err != nil || mounts == t.Outer {
			return "", fmt.Errorf("these are the mounts of the machine: %w", err)
		}
	}
	var b breaches
	do(&b, t.Args)
	return b.String(), nil
}

// breaches are the attempts that succeeded.
type breaches struct{ strings.Builder }

// try notes an attempt that succeeded.
func (b *breaches) try(err error, format string, args ...any) {
	if err == nil {
		fmt.Fprintf(b, format+"\n", args...)
	}
}

// tryWrite changes files and folders in all ways there are.
func tryWrite(b *breaches, paths []string) {
	for _, path := range paths {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		b.try(err, "open %q to write", path)
		if err == nil {
			_ = f.Close()
		}
		b.try(os.Truncate(path, 0), "truncate %q", path)
		b.try(os.Chmod(path, 0o777), "chmod %q", path)
		b.try(os.Rename(path, path+".moved"), "rename %q", path)
		b.try(os.Remove(path), "remove %q", path)
		b.try(os.WriteFile(filepath.Join(filepath.Dir(path), "planted"), nil, 0o600), "plant beside %q", path)
		b.try(os.Link(path, "/tmp/linked-"+filepath.Base(path)), "link %q", path)
	}
}

// tryTouch finds out what of the machine may be written to, and leaves it as it
// is.
func tryTouch(b *breaches, paths []string) {
	for _, path := range paths {
		b.try(unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS), "write to %q", path)
		if fd, err := unix.Open(path, unix.O_WRONLY, 0); err == nil {
			fmt.Fprintf(b, "open %q to write\n", path)
			_ = unix.Close(fd)
		}
		// Such a file has no name, and is gone with its descriptor.
		if fd, err := unix.Open(filepath.Dir(path), unix.O_WRONLY|unix.O_TMPFILE, 0o600); err == nil {
			fmt.Fprintf(b, "make a file beside %q\n", path)
			_ = unix.Close(fd)
		}
	}
}

// tryMode gives files the mode that they have, which changes nothing.
func tryMode(b *breaches, paths []string) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			fmt.Fprintf(b, "not look at %q: %v\n", path, err)
			continue
		}
		b.try(os.Chmod(path, info.Mode().Perm()), "change the mode of %q", path)
	}
}

// tryRead looks for the secret in files, and in all files of folders.
func tryRead(b *breaches, paths []string) {
	for _, root := range paths {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && d.Type()&fs.ModeSocket == 0 {
				text, _ := os.ReadFile(path)
				if strings.Contains(string(text), secret) {
					fmt.Fprintf(b, "read the secret in %q\n", path)
				}
			}
			return nil
		})
	}
}

func tryDial(b *breaches, names []string) {
	for _, name := range names {
		c, err := net.Dial("unix", name)
		b.try(err, "reach the socket %q", name)
		if err == nil {
			_ = c.Close()
		}
	}
}

// mountPoints are all there are, the last first.
func mountPoints() []string {
	text, _ := os.ReadFile("/proc/self/mountinfo")
	var all []string
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 4 {
			all = append([]string{unescape(fields[4])}, all...)
		}
	}
	return all
}

// tryRemount leaves the sandbox and then does the things that it forbids: write beside
// the first path, and read the others.
func tryRemount(b *breaches, paths []string) {
	for _, at := range mountPoints() {
		err := unix.Mount("", at, "", unix.MS_REMOUNT|unix.MS_BIND, "")
		if at == "/" {
			b.try(err, "remount %q", at)
		}
		attr := unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}
		err = unix.MountSetattr(unix.AT_FDCWD, at, unix.AT_RECURSIVE, &attr)
		if at == "/" {
			b.try(err, "make %q writable", at)
		}
		b.try(unix.Unmount(at, 0), "unmount %q", at)
		b.try(unix.Unmount(at, unix.MNT_DETACH), "detach %q", at)
	}
	tryTouch(b, paths[:1])
	tryRead(b, paths[1:])
}

// tryLook looks for secrets underneath what stands on them, through second
// mounts and layers of all folders above.
func tryLook(b *breaches, secrets []string) {
	if unix.Mount("/tmp/control", "/tmp/bind", "", unix.MS_BIND, "") != nil {
		return // Without a namespace of its own it cannot even start.
	}
	_ = unix.Unmount("/tmp/bind", 0)
	control := breaches{}
	for _, path := range append(secrets, "/tmp/control/file") {
		if path == "/tmp/control/file" {
			control, *b = *b, control
		}
		for dir := filepath.Dir(path); dir != "/tmp" && dir != "/"; dir = filepath.Dir(dir) {
			rest, _ := filepath.Rel(dir, path)
			b.lookThrough(dir, rest)
		}
		b.lookThrough("/", path[1:])
	}
	control, *b = *b, control
	if n := strings.Count(control.String(), "read"); n < 4 {
		fmt.Fprintf(b, "not look for secrets at all: %s\n", control.String())
	}
}

// lookThrough looks for a secret through second mounts of a folder.
func (b *breaches) lookThrough(dir, rest string) {
	for _, how := range []uintptr{unix.MS_BIND, unix.MS_BIND | unix.MS_REC} {
		if unix.Mount(dir, "/tmp/bind", "", how, "") != nil {
			continue
		}
		for _, at := range mountPoints() {
			if covers("/tmp/bind", at) && at != "/tmp/bind" {
				b.try(unix.Unmount(at, unix.MNT_DETACH), "unmount %q", at)
			}
		}
		tryRead(b, []string{filepath.Join("/tmp/bind", rest)})
		_ = unix.Unmount("/tmp/bind", unix.MNT_DETACH)
	}
	for _, how := range []uint{0, unix.AT_RECURSIVE} {
		if fd, err := unix.OpenTree(unix.AT_FDCWD, dir, unix.OPEN_TREE_CLONE|how); err == nil {
			tryRead(b, []string{fmt.Sprintf("/proc/self/fd/%d/%s", fd, rest)})
			_ = unix.Close(fd)
		}
	}
	if unix.Mount("o", "/tmp/layers", "overlay", 0, "userxattr,lowerdir="+dir+":/tmp/none") == nil {
		tryRead(b, []string{filepath.Join("/tmp/layers", rest)})
		_ = unix.Unmount("/tmp/layers", unix.MNT_DETACH)
	}
}

// tryPtrace looks into the supervisor, which has rights that the agent lacks.
func tryPtrace(b *breaches, _ []string) {
	b.try(unix.PtraceSeize(1), "trace the supervisor")
	b.try(unix.PtraceAttach(1), "attach to the supervisor")
	for _, name := range []string{"root", "cwd", "exe", "fd/0", "fd/1", "ns/mnt", "ns/user"} {
		_, err := os.Readlink("/proc/1/" + name)
		b.try(err, "see /proc/1/%s", name)
	}
	_, err := os.ReadDir("/proc/1/root/")
	b.try(err, "list /proc/1/root")
	for _, name := range []string{"mem", "environ", "maps"} {
		f, err := os.OpenFile("/proc/1/"+name, os.O_RDONLY, 0)
		if err == nil {
			_, err = f.Read(make([]byte, 1))
			if name == "mem" || errors.Is(err, io.EOF) {
				err = nil
			}
			_ = f.Close()
		}
		b.try(err, "read /proc/1/%s", name)
	}
	local := []unix.Iovec{{Base: new(byte), Len: 1}}
	_, err = unix.ProcessVMReadv(1, local, []unix.RemoteIovec{{Base: 0x400000, Len: 1}}, 0)
	b.try(err, "read the supervisor's memory")
	if fd, err := unix.PidfdOpen(1, 0); err == nil {
		_, err = unix.PidfdGetfd(fd, 0, 0)
		b.try(err, "take a descriptor of the supervisor")
		b.try(unix.Setns(fd, unix.CLONE_NEWNS), "enter the supervisor's mounts")
	}
}

// tryKill asks the same in all ways there are, of processes with the times of
// their starts. In a namespace of its own the agent has others of the same
// numbers, where those are small.
func tryKill(b *breaches, processes []string) {
	for one := range slices.Chunk(processes, 2) {
		if start := startOf(one[0]); start != "" && start != one[1] {
			continue // it is the agent's
		}
		trySignal(b, one[:1])
		pid, _ := strconv.Atoi(one[0])
		b.try(syscall.Kill(-pid, 0), "signal group %d", pid)
		if dir, err := os.Open("/proc/" + one[0]); err == nil {
			b.try(unix.PidfdSendSignal(int(dir.Fd()), 0, nil, 0), "signal process %d through /proc", pid)
		}
	}
}

// trySignal asks whether a process could be ended, where all are visible.
func trySignal(b *breaches, pids []string) {
	for _, text := range pids {
		pid, _ := strconv.Atoi(text)
		b.try(syscall.Kill(pid, 0), "signal process %d", pid)
	}
}

// trySystem finds what may be written to of the machine's settings.
func trySystem(b *breaches, roots []string) {
	for _, root := range roots {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil
			case strings.Count(path, "/") == 2 && root == "/proc" && d.Name()[0] <= '9':
				return fs.SkipDir
			case d.Type()&fs.ModeSymlink != 0, path == "/proc/pressure":
				return nil
			}
			b.try(unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS), "write to %s", path)
			return nil
		})
	}
}

// tryDevice opens the disks, and makes devices.
func tryDevice(b *breaches, paths []string) {
	for _, mode := range []uint32{unix.S_IFBLK, unix.S_IFCHR} {
		at := "/tmp/device"
		b.try(unix.Mknod(at, mode|0o600, int(unix.Mkdev(1, 1))), "make a device")
	}
	_ = filepath.WalkDir("/dev", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type()&fs.ModeDevice != 0 && d.Type()&fs.ModeCharDevice == 0 {
			paths = append(paths, path)
		}
		return nil
	})
	for _, path := range append(paths, "/dev/mem", "/dev/kmsg", "/dev/port") {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK, 0)
		b.try(err, "open %s", path)
		if err == nil {
			_ = unix.Close(fd)
		}
	}
}

// tryHandle opens what is hidden by its number, beside all names.
func tryHandle(b *breaches, paths []string) {
	for _, path := range paths {
		dir := path
		for dir != "/" {
			dir = filepath.Dir(dir)
			handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, dir, 0)
			if err != nil {
				continue
			}
			for _, at := range []string{dir, "/"} {
				mount, err := unix.Open(at, unix.O_RDONLY|unix.O_DIRECTORY, 0)
				if err != nil {
					continue
				}
				fd, err := unix.OpenByHandleAt(mount, handle, unix.O_RDONLY)
				rest, _ := filepath.Rel(dir, path)
				if err == nil {
					tryRead(b, []string{fmt.Sprintf("/proc/self/fd/%d/%s", fd, rest)})
					_ = unix.Close(fd)
				}
				_ = unix.Close(mount)
			}
		}
	}
}

func tryDescriptors(b *breaches, _ []string) {
	for fd := 3; fd < 1024; fd++ {
		var at unix.Stat_t
		if unix.Fstat(fd, &at) != nil {
			continue
		}
		// What this process has opened itself is closed with an exec.
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err == nil && flags&unix.FD_CLOEXEC == 0 {
			fmt.Fprintf(b, "descriptor %d was inherited\n", fd)
		}
	}
}

func tryShm(b *breaches, keys []string) {
	for _, text := range keys {
		key, _ := strconv.Atoi(text)
		_, err := unix.SysvShmGet(key, 0, 0)
		b.try(err, "share memory %d", key)
	}
}

// tryGroups ends everything in the control group, which is not the agent's own.
func tryGroups(b *breaches, _ []string) {
	if unix.Unshare(unix.CLONE_NEWCGROUP) != nil {
		return
	}
	for _, kind := range []string{"cgroup2", "cgroup"} {
		options := ""
		if kind == "cgroup" {
			options = "none,name=systemd"
		}
		if unix.Mount("none", "/mnt", kind, 0, options) == nil {
			b.try(unix.Access("/mnt/cgroup.procs", unix.W_OK), "write to the control group by %s", kind)
		}
	}
}

// tryTerminal types into somebody else's terminal.
func tryTerminal(b *breaches, paths []string) {
	for _, path := range paths {
		fd, err := unix.Open(path, unix.O_RDWR, 0)
		if err != nil {
			continue
		}
		b.try(unix.IoctlSetPointerInt(fd, unix.TIOCSTI, 'x'), "type into %s", path)
		b.try(unix.IoctlSetInt(fd, unix.TIOCSCTTY, 1), "take %s over", path)
	}
}

func tryKey(b *breaches, names []string) {
	for _, name := range names {
		for _, ring := range []int{unix.KEY_SPEC_SESSION_KEYRING, unix.KEY_SPEC_USER_KEYRING} {
			_, err := unix.KeyctlSearch(ring, "user", name, 0)
			b.try(err, "find the key %s", name)
		}
	}
}

// tryChroot climbs out as out of a chroot.
func tryChroot(b *breaches, paths []string) {
	_ = os.Mkdir("/tmp/jail", 0o700)
	if syscall.Chroot("/tmp/jail") != nil {
		return
	}
	for range 40 {
		_ = syscall.Chdir("..")
	}
	_ = syscall.Chroot(".")
	tryTouch(b, paths[:1])
	tryRead(b, paths[1:])
}
