package wire

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/event"
)

// reading is Lines that take each line as a text, and pass over those that
// begin with a minus.
func reading() *Lines {
	return &Lines{
		Pass: func(head []byte) bool { return bytes.HasPrefix(head, []byte("-")) },
		Read: func(line []byte) []event.Event { return []event.Event{&event.Text{Text: string(line)}} },
		Cut: func(head, tail []byte) []event.Event {
			return []event.Event{&event.Text{Text: "cut " + string(head[:4]) + "…" + string(tail[len(tail)-4:])}}
		},
	}
}

func texts(events []event.Event) (all []string) {
	for _, e := range events {
		all = append(all, e.(*event.Text).Text)
	}
	return all
}

// TestLines holds that lines are the same wherever the stream is cut, and also
// where those that are begun are given back.
func TestLines(t *testing.T) {
	t.Parallel()
	long := "long" + strings.Repeat("x", MaxLine) + "last"
	stream := "one\r\n\n  \n-passed" + strings.Repeat("y", 3*headSize) + "\n" + strings.Repeat("z", 5*headSize) +
		"\n-\n" + long + "\nend"
	want := []string{"one", strings.Repeat("z", 5*headSize), "cut long…last", "end"}
	for _, size := range []int{1 << 30, 100_000, 4096, 129, 128, 127} {
		for _, release := range []bool{false, true} {
			s, got := reading(), []event.Event(nil)
			for at := 0; at < len(stream); {
				to := min(len(stream), at+size)
				got = append(got, s.Feed([]byte(stream[at:to]))...)
				at = to
				if release && size >= 4096 && to < 4096 {
					at -= s.Release(10)
				}
			}
			got = append(got, s.End()...)
			if !slices.Equal(texts(got), want) {
				t.Errorf("in pieces of %d, released %t: it read %d lines", size, release, len(got))
			}
		}
	}
}

// TestRelease holds that a line that was given back is read from its beginning.
func TestRelease(t *testing.T) {
	t.Parallel()
	s := reading()
	begun := strings.Repeat("a", 1000)
	if found := s.Feed([]byte(begun)); len(found) > 0 {
		t.Errorf("it read %q", texts(found))
	}
	if back := s.Release(2000); back != 0 {
		t.Errorf("it gave %d bytes of a short line back", back)
	}
	if back := s.Release(100); back != 1000 {
		t.Errorf("it gave %d bytes back", back)
	}
	if got := texts(s.Feed([]byte(begun + "b\n"))); !slices.Equal(got, []string{begun + "b"}) {
		t.Errorf("it read %q", got)
	}
}

func FuzzLines(f *testing.F) {
	f.Add("a\n-b\nc", 2)
	f.Add(strings.Repeat("k", 300)+"\r\n", 7)
	f.Fuzz(func(t *testing.T, stream string, size int) {
		if size < 1 || size > 1<<20 {
			return
		}
		whole := reading()
		want := append(whole.Feed([]byte(stream)), whole.End()...)
		s, got := reading(), []event.Event(nil)
		for piece := range slices.Chunk([]byte(stream), size) {
			got = append(got, s.Feed(piece)...)
		}
		if got = append(got, s.End()...); !slices.Equal(texts(got), texts(want)) {
			t.Errorf("in pieces of %d: %q, want %q", size, texts(got), texts(want))
		}
	})
}

// TestKeepsLittle holds that no long line stays in memory once it has ended.
func TestKeepsLittle(t *testing.T) {
	t.Parallel()
	for _, line := range []string{strings.Repeat("y", MaxLine-1), strings.Repeat("y", 2*MaxLine), "-" + strings.Repeat("y", 2*MaxLine)} {
		s := reading()
		for piece := range slices.Chunk([]byte(line+"\n"), 100_001) {
			s.Feed(piece)
		}
		if cap(s.line) > kept {
			t.Errorf("of a line of %d bytes %d are kept", len(line), cap(s.line))
		}
	}
}
