package control

import (
	"os"
	"syscall"
)

// self is the test binary.
func self() (string, error) { return os.Executable() }

// walls is nil: there are no namespaces here.
func walls() *syscall.SysProcAttr { return nil }

// setTag has no counterpart here: processes cannot be tagged.
func setTag(uint64) error { return nil }
