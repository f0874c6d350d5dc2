package proc

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// namespace tells one PID namespace from any other. Its zero value is one that
// is not known.
type namespace struct {
	Dev uint64 `json:"dev"`
	Ino uint64 `json:"ino"`
}

// namespaceOf is the one that a witness was opened in.
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
// come from where the engine is: the same user, and no box but the one that
// the engine itself is in. The walls hide the door from agents; this holds
// where they cannot.
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
	tag, below := boxOf(pid)
	if below || tag != 0 && (s.within == 0 || !ofSupervisor(tag, s.within)) {
		return errors.New("it comes from an agent, or what one has started")
	}
	return nil
}

// refuseListener says why a door is not a supervisor's. Without walls an
// agent could put one of its own there, to get at what visitors hand over.
func refuseListener(c *os.File) error {
	pid, uid, err := peerOf(c)
	if err != nil {
		return err
	}
	tag, _ := boxOf(pid)
	own := ownTag()
	if uid != os.Getuid() || pid == 0 || tag != 0 && !(isTag(own) && ofSupervisor(tag, own)) {
		return fmt.Errorf("process %d, which made it, is not swarm", pid)
	}
	return nil
}

// boxOf finds the box that a process is in: the tag of the nearest of its
// ancestors that has one, for a process can shed its own, and its parent's
// only by leaving it; 0 if there is none. below is whether it descends from
// this process.
func boxOf(pid int) (tag uint64, below bool) {
	const most = 1000 // no chain is that long, whatever moves meanwhile
	for range most {
		if pid <= 1 {
			break
		}
		if pid == os.Getpid() {
			return tag, true
		}
		if t := tagOf(pid); tag == 0 && isTag(t) {
			tag = t
		}
		row, ok := look(pid)
		if !ok {
			break
		}
		pid = row.parent
	}
	return tag, false
}
