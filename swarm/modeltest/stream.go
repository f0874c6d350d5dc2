package modeltest

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// stream sends events. It stops by itself where the client is gone, or where
// the script has an end in the middle.
type stream struct {
	ctx context.Context
	w   http.ResponseWriter
	gap time.Duration
	// end is run once, after the first piece.
	end    func()
	sent   int
	pieces int
	over   bool
}

// send sends an event; an event without a name has only data.
func (s *stream) send(event string, data any) {
	if s.over {
		return
	}
	text, err := json.Marshal(data)
	if err != nil {
		panic(err) // the value is made here
	}
	s.raw(event, text)
}

func (s *stream) raw(event string, data []byte) {
	var b bytes.Buffer
	if event != "" {
		b.WriteString("event: " + event + "\n")
	}
	b.WriteString("data: ")
	b.Write(data)
	b.WriteString("\n\n")
	if _, err := s.w.Write(b.Bytes()); err != nil {
		s.over = true
		return
	}
	s.sent++
	if err := http.NewResponseController(s.w).Flush(); err != nil {
		s.over = true
	}
}

// piece sends an event that carries a piece of the answer.
func (s *stream) piece(event string, data any) {
	if s.pieces > 0 && !s.over && !pause(s.ctx, s.gap) {
		s.over = true
	}
	s.send(event, data)
	if s.pieces++; s.pieces == 1 && s.end != nil && !s.over {
		s.end()
		s.over = true
	}
}

// pause is false where the client left before it was over.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// halves are the two pieces in which arguments of a call are streamed.
func halves(text string) []string {
	half := len(text) / 2
	for half < len(text) && half > 0 && text[half]&0xC0 == 0x80 { // within a character
		half++
	}
	if half == 0 || half == len(text) {
		return []string{text}
	}
	return []string{text[:half], text[half:]}
}
