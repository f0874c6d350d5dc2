package box

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// abi is a system call interface: its number in the kernel's audit, and the number of
// prlimit64 in it.
type abi struct{ arch, prlimit uint32 }

// abis are those that programs of this machine can use.
func abis() []abi {
	switch runtime.GOARCH {
	case "amd64":
		return []abi{{unix.AUDIT_ARCH_X86_64, 302}, {unix.AUDIT_ARCH_I386, 340}}
	case "arm64":
		return []abi{{unix.AUDIT_ARCH_AARCH64, 261}, {unix.AUDIT_ARCH_ARM, 369}}
	default:
		return nil
	}
}

// Offsets in struct seccomp_data of linux/seccomp.h. Both machines have the low half
// of an argument first.
const (
	seccompCall = 0
	seccompArch = 4
	seccompArgs = 16
)

// noForeignLimits has this thread, and what it starts, set limits of no other process.
// Landlock does not watch that. A limit of processor time ends a process as a signal
// does, and supervisors are known by a limit of theirs. It asks for no new privileges
// to be set. Kernels without such filters have none.
func noForeignLimits() {
	all := abis()
	if len(all) == 0 {
		return
	}
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	equal := func(k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: yes, Jf: no, K: k}
	}
	answer := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	var filter []unix.SockFilter
	for _, a := range all {
		filter = append(filter,
			load(seccompArch), equal(a.arch, 0, 11),
			load(seccompCall),
			unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: 1<<30 - 1}, // without the mark of x32
			equal(a.prlimit, 0, 6),
			load(seccompArgs), equal(0, 4, 0), // of the process itself
			load(seccompArgs+2*8), equal(0, 0, 3), // without a new limit
			load(seccompArgs+2*8+4), equal(0, 0, 1),
			answer(unix.SECCOMP_RET_ALLOW),
			answer(unix.SECCOMP_RET_ERRNO|uint32(unix.EPERM)),
		)
	}
	filter = append(filter, answer(unix.SECCOMP_RET_ALLOW))
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	// With the flag, the kernel slows nothing down.
	_, _, _ = unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW, uintptr(unsafe.Pointer(&program)))
}
