package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Helper is a child that works for this process over its stdin and stdout,
// such as the machine that runs a script. It is this binary again. Its end is
// the end of its stdin: should this process be killed, it ends by itself.
type Helper struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  io.ReadCloser
	gone chan struct{}  // closed when it was waited for
	eyes sync.WaitGroup // of the goroutine that watches its memory

	once sync.Once  // guards the end of stdin
	mu   sync.Mutex // guards over
	over bool       // it was killed for its memory
}

// HelperRequest describes a helper to start.
type HelperRequest struct {
	Binary string   // required
	Args   []string // required
	// Memory is the bound of its memory, in bytes; it is killed above. 0 is any
	// amount. Only Linux reports the memory.
	Memory int64
}

// helperGrace bounds the time until a helper ends once its stdin has ended.
const helperGrace = time.Second

// memoryLook is the time between two looks at its memory.
const memoryLook = 50 * time.Millisecond

// StartHelper starts a helper. It must be closed.
func StartHelper(r HelperRequest) (*Helper, error) {
	h := &Helper{gone: make(chan struct{})}
	h.cmd = &exec.Cmd{
		Path: r.Binary, Args: append([]string{r.Binary}, r.Args...), Dir: "/",
		Env: []string{"TZ=UTC", "GOTRACEBACK=none"},
		// A group of its own: signals of a terminal for our group do not reach
		// it.
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	// A pipe of our own: Wait would close that of StdoutPipe before all of it
	// was read.
	out, far, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start a helper: %w", err)
	}
	h.out, h.cmd.Stdout = out, far
	if h.in, err = h.cmd.StdinPipe(); err == nil {
		err = h.cmd.Start()
	}
	_ = far.Close() // ours; the child has its own
	if err != nil {
		return nil, errors.Join(&StartError{Temporary: passes(err), Err: err}, out.Close())
	}
	go func() { // Close waits for it.
		defer close(h.gone)
		_ = h.cmd.Wait() // the helper reports its errors on stdout
	}()
	if r.Memory > 0 {
		h.eyes.Go(func() { h.watch(r.Memory) })
	}
	return h, nil
}

// Read reads the helper's output.
func (h *Helper) Read(p []byte) (int, error) { return h.out.Read(p) }

// Write writes to the helper.
func (h *Helper) Write(p []byte) (int, error) { return h.in.Write(p) }

// Gone is closed once the helper is gone, for any reason.
func (h *Helper) Gone() <-chan struct{} { return h.gone }

// OutOfMemory reports whether it was killed because it held too much.
func (h *Helper) OutOfMemory() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.over
}

// Close ends the helper and waits until it is gone. It may be called twice.
func (h *Helper) Close() error {
	var err error
	h.once.Do(func() {
		if err = h.in.Close(); errors.Is(err, os.ErrClosed) {
			err = nil // it ended before
		}
		patience := time.AfterFunc(helperGrace, func() { _ = h.cmd.Process.Kill() })
		<-h.gone
		patience.Stop()
		h.eyes.Wait()
		err = errors.Join(err, h.out.Close())
	})
	return err
}

func (h *Helper) watch(limit int64) {
	tick := time.NewTicker(memoryLook)
	defer tick.Stop()
	for {
		select {
		case <-h.gone:
			return
		case <-tick.C:
		}
		if resident(h.cmd.Process.Pid) <= limit {
			continue
		}
		h.mu.Lock()
		h.over = true
		h.mu.Unlock()
		_ = h.cmd.Process.Kill()
		return
	}
}
