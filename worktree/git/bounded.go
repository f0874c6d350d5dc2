package git

import (
	"bytes"
	"fmt"
)

// Bounded collects what is written to it, up to a limit. A write that would go
// beyond is refused, upon which a git that writes to it ends.
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

// Bytes is what was written. err is how the writer fared; where the limit was
// reached it is a [*LongError] instead, which is why the writer failed.
func (b *Bounded) Bytes(err error) ([]byte, error) {
	if b.over {
		return nil, &LongError{Limit: b.Limit}
	}
	return b.text.Bytes(), err
}
