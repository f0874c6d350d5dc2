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
