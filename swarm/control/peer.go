package control

import (
	"fmt"
	"net"
	"os"
	"slices"

	"agentswarm/swarm/proc"
)

// peer is the process at the other end of a connection.
type peer struct{ pid, uid int }

// admit returns why a peer may not send requests; nil: it may. An agent must
// not be able to end others. So admit refuses each peer that could be an agent,
// and each peer that cannot be examined.
func admit(conn *net.UnixConn, supervises func(pid int) bool) error {
	p, err := peerOf(conn)
	if err != nil {
		return &RefusedError{Reason: "the peer could not be identified: " + err.Error()}
	}
	if p.uid != os.Getuid() {
		return &RefusedError{Reason: fmt.Sprintf("the run belongs to another user than %d", p.uid)}
	}
	if p.pid <= 0 {
		return &RefusedError{Reason: "a process in another PID namespace may not control a run"}
	}
	if err := refuseForeign(p.pid); err != nil {
		return err
	}
	if err := refuseSupervised(p.pid, supervises); err != nil {
		return err
	}
	agent, err := isAgent(p.pid)
	if err != nil {
		return &RefusedError{Reason: "its environment cannot be read: " + err.Error()}
	}
	if agent {
		return &RefusedError{Reason: "a process with SWARM_AGENT in its environment may not control a run"}
	}
	// The examined process was the peer only if it is still there.
	return stillThere(conn)
}

// refuseSupervised refuses a process below a supervisor: of this run, or of any
// other that this process is not below itself.
func refuseSupervised(pid int, supervises func(int) bool) error {
	line, foreign, err := proc.Ancestors(pid)
	if err != nil {
		return &RefusedError{Reason: "its ancestors cannot be read: " + err.Error()}
	}
	if foreign || slices.ContainsFunc(line, supervises) {
		return &RefusedError{Reason: "an agent or its processes may not control a run"}
	}
	return nil
}
