package cmdline

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// IsTerminal reports whether a descriptor is a terminal.
func IsTerminal(fd uintptr) bool { return term.IsTerminal(int(fd)) }

// Readable is a name or an argument for people. JSON holds no bytes that are
// not UTF-8; the workflow has the bytes that a resume needs.
func Readable(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// AwaitInput waits until there is something to read at in; false where wake
// ended first. It is select and not poll, which macOS does not have for
// terminals.
func AwaitInput(in, wake int) (bool, error) {
	const most = 1024
	if in >= most || wake >= most {
		return false, io.ErrNoProgress
	}
	for {
		var ready unix.FdSet
		ready.Set(in)
		ready.Set(wake)
		_, err := unix.Select(max(in, wake)+1, &ready, nil, nil, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return err == nil && !ready.IsSet(wake), err
	}
}

// TakeSignals takes over the signals that end a command, for as long as another
// program has the terminal. They arrive on the channel and do nothing more.
// more are further signals for the caller. After giveBack each signal has its
// default effect.
func TakeSignals(more ...os.Signal) (signals <-chan os.Signal, giveBack func()) {
	ours := []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) { // nohup means it
		ours = append(ours, syscall.SIGHUP)
	}
	signal.Reset(ours...)
	c := make(chan os.Signal, 16)
	signal.Notify(c, slices.Concat(ours, more)...)
	return c, func() { signal.Stop(c) }
}
