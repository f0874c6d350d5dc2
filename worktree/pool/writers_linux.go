package pool

import (
	"os"

	"golang.org/x/sys/unix"

	"agentswarm/worktree/baseline"
	"agentswarm/worktree/git"
)

// unwritten reports whether no process can write to a file by a descriptor or
// a mapping that it has. An agent can pass a descriptor to another process
// (SCM_RIGHTS), and that outlives the agent. The kernel knows: it grants a read
// lease only for a file that is open for no writer (fcntl(2)). On a file system
// without leases, each file counts as written to.
func unwritten(dir *os.File, name string, e *git.IndexEntry) bool {
	if e.Mode == baseline.ModeSym {
		return true // A link cannot be opened and written to.
	}
	fd, err := unix.Openat(int(dir.Fd()), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd) // which gives the lease back
	_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
	return err == nil
}
