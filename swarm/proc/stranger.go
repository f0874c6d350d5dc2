package proc

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// namespace identifies a PID namespace. Its zero value is an unknown namespace.
type namespace struct {
	Dev uint64 `json:"dev"`
	Ino uint64 `json:"ino"`
}

// namespaceOf returns the namespace in which a witness was opened.
func namespaceOf(w *os.File) (namespace, error) {
	var st unix.Stat_t
	err := onDescriptor(w, func(fd int) error { return unix.Fstat(fd, &st) })
	return namespace{Dev: uint64(st.Dev), Ino: st.Ino}, err
}

// ownNamespace is this process's; zero where the system does not tell.
func ownNamespace() namespace {
	w, err := openWitness()
	if err != nil {
		return namespace{}
	}
	defer w.Close()
	n, err := namespaceOf(w)
	if err != nil {
		return namespace{}
	}
	return n
}

func onDescriptor(f *os.File, do func(fd int) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	err = raw.Control(func(fd uintptr) { inner = do(int(fd)) })
	return errors.Join(err, inner)
}

// refuseVisitor says why a process may not visit; nil where it may. It must
// come from where the engine is: the same user, and no box but those that the
// engine itself is in. The sandbox hides the door from agents; this holds where
// they cannot.
func (s *supervisor) refuseVisitor(c *os.File) error {
	pid, uid, err := peerOf(c)
	switch {
	case err != nil:
		return fmt.Errorf("the process cannot be identified: %w", err)
	case uid != os.Getuid():
		return errors.New("the agent belongs to another user")
	case first() && pid != 0: // only who is in our own namespace has a number
		return errors.New("it comes from inside a sandbox")
	case first():
		return nil // the witness is looked at with the request
	}
	line, err := ancestry(pid)
	if err != nil {
		return err
	}
	foreign, err := line.foreign()
	switch {
	case err != nil:
		return err
	case foreign || line.below():
		return errors.New("it comes from an agent or its processes")
	}
	return nil
}

// refuseListener returns why the maker of a door is not a supervisor. Without a
// sandbox an agent could put its own socket there, to get at the descriptors
// that visitors hand over.
func refuseListener(c *os.File) error {
	pid, uid, err := peerOf(c)
	if err != nil {
		return err
	}
	line, _ := ancestry(pid) // the maker of the door may have ended
	tag, own := line.tag(), ownTag()
	if uid != os.Getuid() || pid == 0 || tag != 0 && !(isTag(own) && ofSupervisor(tag, own)) {
		return fmt.Errorf("process %d, which made it, is not swarm", pid)
	}
	return nil
}

// Ancestors returns the numbers of a process, its parent, and so on, up to this
// process or to the last that can be read. The process is foreign if any of
// them is a supervisor that this process is not below: it belongs to an agent,
// of this run or any other. Only Linux has the tags that say so. It returns an
// error if any of them ends before it is read.
func Ancestors(pid int) (pids []int, foreign bool, err error) {
	line, err := ancestry(pid)
	if err != nil {
		return nil, false, err
	}
	for _, a := range line {
		pids = append(pids, a.pid)
	}
	foreign, err = line.foreign()
	return pids, foreign, err
}

// ancestors are a process, its parent, and so on.
type ancestors []ancestor

type ancestor struct {
	pid int
	tag uint64 // 0: none, or shed
}

// ancestry walks from a process up to this process, to the first process, or to
// a hidden process of another user: no supervisor of this user is above that.
func ancestry(pid int) (ancestors, error) {
	const most = 1000 // no chain is that long, whatever moves meanwhile
	var line ancestors
	for pid > 1 && pid != os.Getpid() {
		if len(line) == most {
			return line, errors.New("it has too many ancestors")
		}
		tag := tagOf(pid)
		row, ok := look(pid)
		if !ok && errors.Is(syscall.Kill(pid, 0), syscall.EPERM) {
			return line, nil
		}
		if !ok {
			return line, fmt.Errorf("process %d of its ancestry has ended", pid)
		}
		line = append(line, ancestor{pid, tag})
		pid = row.parent
	}
	if pid == os.Getpid() {
		line = append(line, ancestor{pid, ownTag()})
	}
	return line, nil
}

// below reports whether the process descends from this process.
func (l ancestors) below() bool { return len(l) > 0 && l[len(l)-1].pid == os.Getpid() }

// tag returns the tag of the nearest process that has any; 0 if there is none.
func (l ancestors) tag() uint64 {
	for _, a := range l {
		if isTag(a.tag) {
			return a.tag
		}
	}
	return 0
}

// foreign reports whether any of the processes has the tag of a supervisor that
// this process is not below. A process can shed its tag or take another's, but
// its supervisor keeps its own.
func (l ancestors) foreign() (bool, error) {
	own, err := ancestry(os.Getppid())
	if err != nil {
		return false, err
	}
	own = append(own, ancestor{os.Getpid(), ownTag()})
	return slices.ContainsFunc(l, func(a ancestor) bool {
		return isTag(a.tag) && !slices.ContainsFunc(own, func(o ancestor) bool { return isTag(o.tag) && ofSupervisor(a.tag, o.tag) })
	}), nil
}
