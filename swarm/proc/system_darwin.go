package proc

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// orphansStay says that a process whose parent dies goes to launchd.
const orphansStay = false

// Conceal does nothing: there is no /proc.
func Conceal() error { return nil }

// seal marks all descriptors that were inherited, so that no agent inherits
// them in turn.
func seal() error { return sealEach() }

// raiseOOMScore has no counterpart here.
func raiseOOMScore() {}

// adopt has no counterpart here; remember stands in for it.
func adopt() error { return nil }

// mark has no counterpart here: limits of others cannot be read.
func mark(uint64) error { return nil }

func signalName(s syscall.Signal) string { return unix.SignalName(s) }

// maxRSS returns bytes, in which macOS counts.
func maxRSS(use *syscall.Rusage) int64 { return use.Maxrss }

// resident is not known of others here.
func resident(int) int64 { return 0 }
