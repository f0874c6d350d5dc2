//go:build !linux

package box

import (
	"fmt"
	"syscall"
)

// ladder is empty: there are no namespaces here.
func ladder() []Rung { return nil }

// Attr returns nil: there are no namespaces here.
func Attr(Rung) *syscall.SysProcAttr { return nil }

// Enter accepts None and refuses the rest.
func Enter(w Walls) error {
	if w.Rung != None {
		return fmt.Errorf("the sandbox %s exists on Linux only", w.Rung)
	}
	return nil
}
