// Package step lets a test end work at a named step, as if the process had died
// there. It owns no step: each package names its own.
package step

import "errors"

// Hook is called with the name of each step before the next begins. An error ends
// the work as it stands there, and nothing is cleaned up. A nil Hook does nothing.
type Hook func(name string) error

// At calls the hook. [Died] recognizes its error.
func (h Hook) At(name string) error {
	if h == nil {
		return nil
	}
	if err := h(name); err != nil {
		return &diedError{err: err}
	}
	return nil
}

// Died reports whether a hook ended the work.
func Died(err error) bool {
	var d *diedError
	return errors.As(err, &d)
}

type diedError struct{ err error }

func (e *diedError) Error() string { return e.err.Error() }
func (e *diedError) Unwrap() error { return e.err }
