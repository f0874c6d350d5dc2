package proc

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Supervise is the body of a supervisor and returns its exit code. It reads a
// spec from the engine, calls enter with its Sandbox, starts the agent, and
// returns when no descendant of the agent is left.
//
// It runs enter, and starts the agent, on the same thread, because capabilities
// belong to threads: the agent does not have the capabilities that enter drops.
func Supervise(enter func(sandbox json.RawMessage) error) int { return supervise(enter, eviction) }

// supervise is Supervise with a bound for ending a visitor's processes.
func supervise(enter func(sandbox json.RawMessage) error, eviction time.Duration) int {
	runtime.LockOSThread()
	s, err := newSupervisor()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	s.eviction = eviction
	return s.run(enter)
}

// supervisor is the state of a process that was started by a Launcher.
type supervisor struct {
	spec    Spec
	origin  origin
	visits  *visits // nil without Spec.Door
	control *os.File
	report  *os.File
	lines   *bufio.Reader // of control

	eviction time.Duration // bound for ending a visitor's processes
}

// newSupervisor takes over the descriptors and reads the spec.
func newSupervisor() (*supervisor, error) {
	for _, fd := range []int{controlFD, reportFD} {
		var st syscall.Stat_t
		if err := syscall.Fstat(fd, &st); err != nil ||
			st.Mode&syscall.S_IFMT != syscall.S_IFIFO {
			return nil, errors.New("supervise: this command is not for people: " +
				"swarm itself starts it, with its pipes")
		}
		if err := syscall.SetNonblock(fd, true); err != nil {
			return nil, fmt.Errorf("supervise: %w", err)
		}
	}
	raiseOOMScore()
	if err := seal(); err != nil {
		return nil, fmt.Errorf("supervise: seal descriptors: %w", err)
	}
	s := &supervisor{
		control: os.NewFile(controlFD, "control"),
		report:  os.NewFile(reportFD, "report"),
	}
	s.lines = bufio.NewReader(s.control)
	line, err := s.lines.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("supervise: read the command: %w", err)
	}
	if s.spec, s.origin, err = decodeSpec(line); err != nil {
		return nil, fmt.Errorf("supervise: %w", err)
	}
	if err := claim(s.origin.tag); err != nil {
		return nil, fmt.Errorf("supervise: %w", err)
	}
	return s, nil
}

// run carries out the spec and reports how it ended.
func (s *supervisor) run(enter func(json.RawMessage) error) int {
	// A caught signal is back to its default in the agent; an ignored signal
	// would stay ignored.
	caught := make(chan os.Signal, 4)
	signal.Notify(caught, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP,
		syscall.SIGQUIT)
	defer signal.Stop(caught)

	if s.spec.Low {
		lowerPriority()
	}
	var exit Exit
	if a, err := s.start(enter); err != nil {
		exit = Exit{
			Reason: StartFailed, Text: err.Error(), Code: -1,
			Temporary: passes(err),
		}
	} else {
		exit = s.watch(a, caught)
	}
	s.send(report{Exit: &exit})
	return exit.Code
}

// lowestPriority is the last nice value that all systems have.
const lowestPriority = 19

// lowerPriority gives the agent, which is started on this thread, the lowest priority.
// Linux changes that of the thread, and other systems that of the process. A failure
// costs only speed elsewhere.
func lowerPriority() { _ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, lowestPriority) }

// send writes a line to the engine. It ignores that the engine is gone: the
// control pipe reports that too, and there it counts.
func (s *supervisor) send(r report) {
	line, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("encode a report: %v", err)) // no field can cause it
	}
	_, _ = s.report.Write(append(line, '\n'))
}

// watch waits for the agent to end, ends its remaining processes, and settles
// all.
func (s *supervisor) watch(a *agent, caught <-chan os.Signal) Exit {
	over := make(chan struct{}) // closed when nothing is left to look after
	orders := make(chan bool)
	var others sync.WaitGroup
	others.Go(func() { s.listen(orders, over) })
	others.Go(func() {
		a.out.reportProgress(over, func(g Progress) { s.send(report{Output: &g}) })
	})
	others.Go(func() { a.family.remember(over) })
	go a.reaper.run() // It ends with the last child; finish waits for that.
	if s.spec.Door != "" {
		s.visits = openVisits(s, a.reaper)
	}

	status := s.tend(a, orders, caught)
	s.visits.end()
	a.finish()
	a.out.wait()
	close(over)
	_ = s.control.Close() // ends listen
	others.Wait()
	return a.settle(status)
}

// tend obeys orders until the agent itself has ended.
func (s *supervisor) tend(
	a *agent, orders <-chan bool, caught <-chan os.Signal,
) syscall.WaitStatus {
	full := a.out.full
	// Visitors are not left by the agent: they go first, and are not counted.
	kill := func() {
		s.visits.end()
		a.family.kill()
	}
	var grace <-chan time.Time
	stop := func() {
		if grace == nil {
			grace = time.After(s.spec.Grace)
			_ = syscall.Kill(-a.pid, syscall.SIGTERM)
			if s.spec.Terminal != nil {
				// A shell that a person types to ignores SIGTERM. The loss of
				// its terminal ends it.
				_ = syscall.Kill(-a.pid, syscall.SIGHUP)
			}
			// A stopped process would sleep through its last chance.
			_ = syscall.Kill(-a.pid, syscall.SIGCONT)
		}
	}
	for {
		select {
		case politely := <-orders:
			if politely {
				stop()
			} else {
				kill()
			}
		case <-caught:
			stop()
		case <-grace:
			kill()
		case <-full:
			full = nil
			kill()
		case v := <-s.visits.asking():
			// Here, because this is the thread that went into the sandbox.
			v.started <- s.admit(a.reaper, v)
		case status := <-a.reaper.ended:
			return status
		}
	}
}

// listen turns the lines of the control pipe into orders: true to stop, and
// false, always the last, to kill.
func (s *supervisor) listen(orders chan<- bool, over <-chan struct{}) {
	for {
		line, err := s.lines.ReadSlice('\n')
		politely := err == nil && asksToStop(line)
		select {
		case orders <- politely:
		case <-over:
			return
		}
		if !politely {
			return
		}
	}
}
