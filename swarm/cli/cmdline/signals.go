package cmdline

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"agentswarm/swarm/exit"
	"agentswarm/swarm/proc"
)

// OnSignals ends the context at the first SIGINT, SIGTERM or SIGHUP, and the
// process at the second. Then supervisors see their pipe close and kill their
// processes, and the next command captures the remaining work.
func OnSignals(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup means it
		signal.Notify(signals, syscall.SIGHUP)
	}
	done := make(chan struct{})
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		select {
		case s := <-signals:
			cancel(&exit.SignalError{Signal: s.(syscall.Signal)})
		case <-done:
			return
		}
		select {
		case s := <-signals:
			proc.EndChildren()
			os.Exit((&exit.SignalError{Signal: s.(syscall.Signal)}).ExitCode())
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		<-gone
		cancel(nil)
	}
}

// OutlivePipes keeps this process when a pipe that it writes to is closed: agents
// go on behind `swarm run 2>&1 | head`. Without it the runtime ends a process that
// writes to a closed standard error (package os/signal, "SIGPIPE"). A closed
// standard output still ends it; see [Sink]. Processes that it starts take SIGPIPE
// as they do elsewhere.
func OutlivePipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// endByPipe ends this process as the closed pipe of file would have.
func endByPipe(file *os.File) {
	signal.Reset(syscall.SIGPIPE)
	_, _ = file.Write([]byte{'\n'}) // does not return
}
