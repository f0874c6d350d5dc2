// Package refusal has the error of a request that is refused: the user, the run or the
// repository has to change before it can be carried out, and nothing was changed.
package refusal

import "fmt"

// Error is a request that was refused.
type Error struct {
	Text   string // required: the reason, in a single line
	Advice string // a command or a change that helps; may be empty
}

// Error is the reason.
func (e *Error) Error() string { return e.Text }

// Hint is the advice.
func (e *Error) Hint() string { return e.Advice }

// New makes a refusal without advice.
func New(format string, args ...any) error {
	return &Error{Text: fmt.Sprintf(format, args...)}
}

// Cause is an error of another package that refuses a request.
type Cause struct{ Err error }

// Error is that of the cause.
func (e *Cause) Error() string { return e.Err.Error() }

// Unwrap is the cause.
func (e *Cause) Unwrap() error { return e.Err }

// Of makes a refusal of an error; nil stays nil.
func Of(err error) error {
	if err == nil {
		return nil
	}
	return &Cause{Err: err}
}
