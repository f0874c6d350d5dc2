package proc

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// eviction bounds the time for ending a visitor's processes.
	eviction = 2 * time.Second
	// respite is the time that the door stays shut when no more can come in.
	respite = 50 * time.Millisecond
)

// visits are the visitors of an agent: commands that users run beside it, in
// the same sandbox. They are not the agent's: their ends do not decide its
// outcome, they do not count as left by it, and it is not charged for their
// usage. If a visitor ends by itself, its remaining processes become the
// agent's. Visitors end when the agent does.
type visits struct {
	of     *supervisor
	reaper *reaper
	door   *os.File
	asks   chan *visitor // for tend, which starts them
	over   chan struct{} // closed by end
	once   sync.Once     // closes over
	slots  chan uint64   // free numbers, from 1
	all    sync.WaitGroup
}

// visitor is a command in a visit.
type visitor struct {
	program program
	slot    uint64
	pid     int    // set before started answers
	start   uint64 // likewise; 0 where it is not known
	started chan error
	ended   chan syscall.WaitStatus
}

// openVisits lets visitors in until end.
func openVisits(s *supervisor, r *reaper) *visits {
	v := &visits{
		of: s, reaper: r, asks: make(chan *visitor), over: make(chan struct{}),
		slots: make(chan uint64, mostVisits),
	}
	for slot := range uint64(mostVisits) {
		v.slots <- slot + 1
	}
	door, err := waitable(doorFD, "door")
	if err != nil {
		return v // no visitor comes; each attempt gets the error that no supervisor is there
	}
	v.door = door
	v.all.Go(v.welcome)
	return v
}

// asking delivers the visitors to start; without a door there are none.
func (v *visits) asking() <-chan *visitor {
	if v == nil {
		return nil
	}
	return v.asks
}

// end ends all visitors and returns when they are gone. It must be called by
// the goroutine that starts them, so that none is just being started.
func (v *visits) end() {
	if v == nil {
		return
	}
	v.once.Do(func() {
		close(v.over)
		if v.door != nil {
			_ = v.door.Close() // ends welcome
		}
	})
	v.all.Wait()
}

// welcome accepts until the door is shut.
func (v *visits) welcome() {
	for {
		c, err := accept(v.door)
		switch {
		case err == nil:
			v.all.Go(func() { v.serve(c) })
			continue
		case errors.Is(err, os.ErrClosed):
			return
		}
		select { // too many are open, or somebody came and left
		case <-time.After(respite):
		case <-v.over:
			return
		}
	}
}

// serve handles a visit, from the request to the answer.
func (v *visits) serve(c *os.File) {
	defer c.Close()
	// A peer that does not read cannot block the visit; errors of these calls
	// would come again at once.
	_ = c.SetReadDeadline(time.Now().Add(asked))
	_ = c.SetWriteDeadline(time.Now().Add(asked))
	left := v.leave(c)
	defer close(left)
	answer := v.visit(c)
	if answer == (wireAnswer{}) {
		return
	}
	line, err := encodeLine(answer)
	if err != nil {
		return // no field can cause it
	}
	_ = c.SetWriteDeadline(time.Now().Add(asked))
	_, _ = c.Write(line) // a visitor that has left does not read it
}

// leave ends the wait for a request when all visits end. The caller closes the
// returned channel to stop that.
func (v *visits) leave(c *os.File) chan struct{} {
	left := make(chan struct{})
	v.all.Go(func() {
		select {
		case <-v.over:
			_ = c.SetReadDeadline(time.Unix(1, 0)) // a closed socket needs no deadline
		case <-left:
		}
	})
	return left
}

// visit carries a request out and returns the answer. The answer is empty if
// the caller has left, or the agent has ended.
func (v *visits) visit(c *os.File) wireAnswer {
	if err := v.of.refuseVisitor(c); err != nil {
		return wireAnswer{Refused: err.Error()}
	}
	var slot uint64
	select {
	case slot = <-v.slots:
		defer func() { v.slots <- slot }()
	default:
		return wireAnswer{Refused: "there are " + strconv.Itoa(mostVisits) + " visits already"}
	}
	p, w, err := readVisit(c)
	if err != nil {
		return wireAnswer{Refused: err.Error()}
	}
	from, err := namespaceOf(w)
	closeAll([]*os.File{w})
	if known := v.of.origin.outside; err != nil || known != (namespace{}) && from != known {
		closeAll(p.files)
		return wireAnswer{Refused: "it comes from another PID namespace than the run"}
	}
	p.env = adopted(p.env, v.of.spec.Env, p.adopt)
	one := &visitor{
		program: p, slot: slot,
		started: make(chan error, 1), ended: make(chan syscall.WaitStatus, 1),
	}
	select {
	case v.asks <- one:
		err = <-one.started
	case <-v.over:
		err = errEnded
	}
	closeAll(p.files) // the visitor has its own
	switch {
	case errors.Is(err, errEnded):
		return wireAnswer{}
	case errors.Is(err, errNotFound) || errors.Is(err, fs.ErrNotExist):
		return wireAnswer{Missing: err.Error()}
	case err != nil:
		return wireAnswer{Failed: err.Error()}
	}
	return v.attend(c, one)
}

// adopted is an environment in which some variables are as an agent has them.
func adopted(env, agents, names []string) []string {
	var taken []string
	for _, kv := range agents {
		if name, _, _ := strings.Cut(kv, "="); slices.Contains(names, name) {
			taken = append(taken, kv)
		}
	}
	kept := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.ContainsFunc(taken, func(t string) bool { return strings.HasPrefix(t, name+"=") })
	})
	return append(kept, taken...)
}

// attend waits for the visitor to end, and ends it when who asked for it has
// left.
func (v *visits) attend(c *os.File, one *visitor) wireAnswer {
	_ = c.SetReadDeadline(time.Time{}) // fails only once it is closed
	left := make(chan struct{})
	v.all.Go(func() {
		defer close(left)
		for r := bufio.NewReaderSize(c, mostSaid); ; {
			line, err := r.ReadSlice('\n')
			if err != nil {
				return // it has left, or makes no sense, which is no better
			}
			if sig, ok := decodeWord(line); ok {
				v.reaper.signal(one.pid, sig)
			}
		}
	})
	defer func() {
		_ = c.SetReadDeadline(time.Unix(1, 0)) // ends the reading
		<-left
	}()
	select {
	case status := <-one.ended:
		return v.ending(status)
	case <-left:
		v.evict(one)
		return wireAnswer{}
	case <-v.over:
		select {
		case status := <-one.ended:
			return v.ending(status)
		default:
		}
		v.evict(one)
		return wireAnswer{}
	}
}

// ending is the answer to who is still there. A visitor that was killed when
// all had to end tells nothing about itself.
func (v *visits) ending(status syscall.WaitStatus) wireAnswer {
	select {
	case <-v.over:
		if status.Signaled() && status.Signal() == syscall.SIGKILL {
			return wireAnswer{}
		}
	default:
	}
	var exit VisitExit
	exit.status(status)
	return wireAnswer{Exit: &exit}
}

// status tells how a visitor ended as shells do.
func (e *VisitExit) status(w syscall.WaitStatus) {
	e.Code = w.ExitStatus()
	if w.Signaled() {
		e.Code, e.Signal = 128+int(w.Signal()), signalName(w.Signal())
	}
}

// admit starts a visitor. It must run on the thread that entered the sandbox,
// because dropped rights belong to that thread. The visitor and its descendants
// have a tag of their own, by which they are found wherever they flee.
func (s *supervisor) admit(r *reaper, one *visitor) error {
	own := s.origin.tag
	if err := mark(own | one.slot); err != nil {
		return err
	}
	var err error
	one.pid, err = r.admit(func() (int, error) { return launch(one.program) }, one.ended)
	err = errors.Join(err, mark(own)) // it fails only if the other has
	if row, ok := look(one.pid); err == nil && ok && tableIsOurs() {
		one.start = row.start
	}
	return err
}

// evict ends a visitor and its descendants.
func (v *visits) evict(one *visitor) {
	// Last: its descendants can be told from the agent's only as long as it
	// lives.
	defer v.reaper.signal(one.pid, syscall.SIGKILL)
	if !tableIsOurs() {
		return // the numbers in it are those of another namespace
	}
	mine := v.of.origin.tag | one.slot
	below := &lineage{
		heads:  map[who]bool{{one.pid, one.start}: true},
		marked: func(tag uint64) bool { return tag == mine },
	}
	late := make(chan struct{})
	limit := time.AfterFunc(v.of.eviction, func() { close(late) })
	defer limit.Stop()
	// A process that it misses belongs to the agent, and ends with it.
	killed, _, _ := below.hunt(late)
	v.reaper.disregard(killed)
}
