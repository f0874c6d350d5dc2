package nonamespaces

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// become replaces this process by the command, under the filter.
func become(as string, noLandlock bool, argv []string) error {
	rules, err := rulesOf(as, noLandlock)
	if err != nil {
		return err
	}
	// A filter holds for its thread and whatever that becomes by exec.
	runtime.LockOSThread()
	if err := install(compile(rules)); err != nil {
		return fmt.Errorf("set the filter: %w", err)
	}
	// env looks the command up in PATH.
	return unix.Exec("/usr/bin/env", append([]string{"env", "--"}, argv...), os.Environ())
}

// rule refuses a system call with an error. With flags it refuses only calls
// whose first argument has any of them.
type rule struct {
	call  uint32
	errno unix.Errno
	flags uint32
}

// namespaces are the flags of clone and unshare that make a namespace.
const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

func rulesOf(as string, noLandlock bool) ([]rule, error) {
	var rules []rule
	refuse := func(errno unix.Errno, calls ...uint32) {
		for _, call := range calls {
			rules = append(rules, rule{call: call, errno: errno})
		}
	}
	refuse(unix.EPERM, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG,
		unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_MOUNT_SETATTR)
	switch as {
	case "apparmor":
	case "container":
		// libc falls back from clone3, whose flags no filter can read, to clone.
		refuse(unix.ENOSYS, unix.SYS_CLONE3)
		refuse(unix.EPERM, unix.SYS_SETNS, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_BPF,
			unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_QUOTACTL,
			unix.SYS_REBOOT, unix.SYS_IO_URING_SETUP)
		rules = append(rules,
			rule{call: unix.SYS_CLONE, errno: unix.EPERM, flags: namespaces},
			rule{call: unix.SYS_UNSHARE, errno: unix.EPERM, flags: namespaces})
	default:
		return nil, fmt.Errorf("-as %q: want container or apparmor", as)
	}
	if noLandlock {
		refuse(unix.ENOSYS, unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_ADD_RULE, unix.SYS_LANDLOCK_RESTRICT_SELF)
	}
	return rules, nil
}

// Offsets in struct seccomp_data of linux/seccomp.h, and the size of an
// argument. The low half of an argument comes first on the machines that Go's
// amd64 and arm64 run on.
const (
	offsetCall = 0
	offsetArgs = 16
)

// compile makes a program of classic BPF that allows all calls that no rule
// refuses.
func compile(rules []rule) []unix.SockFilter {
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	answer := func(value uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: value}
	}
	filter := []unix.SockFilter{load(offsetCall)}
	for _, r := range rules {
		refused := answer(unix.SECCOMP_RET_ERRNO | uint32(r.errno))
		if r.flags == 0 {
			filter = append(filter, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: r.call}, refused)
			continue
		}
		filter = append(filter,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 4, K: r.call},
			load(offsetArgs),
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, Jf: 1, K: r.flags},
			refused, answer(unix.SECCOMP_RET_ALLOW))
	}
	return append(filter, answer(unix.SECCOMP_RET_ALLOW))
}

func install(filter []unix.SockFilter) error {
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	set := func() error {
		return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
	}
	// With the privilege the filter is set without no_new_privs, as by a
	// container's runtime: setuid programs keep their meaning.
	err := set()
	if !errors.Is(err, unix.EACCES) {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	return set()
}
