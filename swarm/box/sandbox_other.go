//go:build !linux

package box

import (
	"fmt"
	"syscall"
)

// ladder is empty: there are no namespaces here.
func ladder() []Level { return nil }

// Attr returns nil: there are no namespaces here.
func Attr(Level) *syscall.SysProcAttr { return nil }

// Enter accepts None and refuses the rest.
func Enter(w Sandbox) error {
	if w.Level != None {
		return fmt.Errorf("the sandbox %s exists on Linux only", w.Level)
	}
	return nil
}
