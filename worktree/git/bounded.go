package git

import (
	"bytes"
	"fmt"
)

// Bounded collects written bytes up to a limit. It refuses a write beyond the
// limit, and the git that writes to it ends.
type Bounded struct {
	Limit int // required, in bytes

	text bytes.Buffer
	over bool
}

// LongError says that git had more to say than the caller wants to hold.
type LongError struct{ Limit int }

func (e *LongError) Error() string { return fmt.Sprintf("more than %d bytes", e.Limit) }

func (b *Bounded) Write(p []byte) (int, error) {
	if b.over = b.over || b.text.Len()+len(p) > b.Limit; b.over {
		return 0, &LongError{Limit: b.Limit}
	}
	return b.text.Write(p)
}

// Bytes returns the collected bytes. err is the error of the writer. If the
// limit was reached Bytes returns a [*LongError] in its place, as that made the
// writer fail.
func (b *Bounded) Bytes(err error) ([]byte, error) {
	if b.over {
		return nil, &LongError{Limit: b.Limit}
	}
	return b.text.Bytes(), err
}
