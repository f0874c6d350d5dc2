package cli

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// takeSignals takes the signals that end a command over from [onSignals], for
// as long as somebody else has the terminal: they arrive on the channel and
// do nothing more. more are further ones that the caller wants to hear of.
// When they are given back each does what it does by default.
func takeSignals(more ...os.Signal) (signals <-chan os.Signal, giveBack func()) {
	ours := []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) { // nohup means it
		ours = append(ours, syscall.SIGHUP)
	}
	signal.Reset(ours...)
	c := make(chan os.Signal, 16)
	signal.Notify(c, slices.Concat(ours, more)...)
	return c, func() { signal.Stop(c) }
}
