package agent

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/event"
)

// liner is a parser and an adapter of lines, which counts the bytes that it is
// fed.
type liner struct {
	Adapter

	line   []byte
	fed    int64
	cutAt  int // the most bytes kept of a line; the rest is skipped
	cut    bool
	backed int // how often it gave a line back
	see    func(p []byte)
}

func (l *liner) Parser(*Spec) Parser { return l }

func (l *liner) Feed(p []byte) (found []event.Event) {
	l.fed += int64(len(p))
	if l.see != nil {
		l.see(p)
	}
	for {
		head, rest, ended := bytes.Cut(p, []byte{'\n'})
		l.line = append(l.line, head...)
		if len(l.line) > l.cutAt {
			l.line, l.cut = l.line[:l.cutAt:l.cutAt], true
		}
		if !ended {
			return found
		}
		found = append(found, l.End()...)
		p = rest
	}
}

func (l *liner) End() []event.Event {
	e := &event.Text{Text: string(l.line)}
	l.line, l.cut = nil, false
	return []event.Event{e}
}

func (l *liner) Release(most int) int {
	if l.cut || len(l.line) <= most {
		return 0
	}
	l.backed++
	back := len(l.line)
	l.line = nil
	return back
}

// TestReadLongLines reads a file that grows. The events are the same at all
// read positions. Only a bounded part of an incomplete line is kept. No text is
// read over and over.
func TestReadLongLines(t *testing.T) {
	t.Parallel()
	letters := func(n int) string { return strings.Repeat("abcdefg", n/7+1)[:n] }
	for _, test := range []struct {
		name  string
		lines []string
		step  int
		backs int // lines that are given back at least once
	}{
		{"short", []string{"a", "", "b c"}, 2, 0},
		{"as long as is kept", []string{letters(begun), letters(begun), ""}, 10_000, 0},
		{"long", []string{letters(900_000), "x", letters(700_000), "y"}, 33_000, 2},
		{"long without an end", []string{"x", letters(300_000)}, 7_000, 1},
		{"all at once", []string{letters(900_000), letters(100_000)}, 1 << 30, 2},
		{"longer than is read", []string{letters(2*longest + 5), "x"}, 200_000, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			text := strings.Join(test.lines, "\n")
			file := filepath.Join(t.TempDir(), "stdout")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			var got []string
			parser := &liner{cutAt: longest / 2}
			r := &reader{outcome: &Outcome{}, life: &Life{
				Adapter: parser, Spec: &Spec{}, Stdout: file,
				Observe: func(e event.Event) { got = append(got, e.(*event.Text).Text) },
			}}
			for size := 0; size < len(text); {
				size = min(size+test.step, len(text))
				r.more(int64(size))
				if kept := len(parser.line); kept > begun && !parser.cut {
					t.Fatalf("at %d bytes %d of a line are kept", size, kept)
				}
			}
			r.end()
			want := slices.Clone(test.lines)
			for i, line := range want {
				want[i] = line[:min(len(line), parser.cutAt)]
			}
			if r.err != nil || !slices.Equal(got, want) {
				t.Errorf("%d lines came, %v; want %d", len(got), r.err, len(want))
			}
			if parser.backed != test.backs {
				t.Errorf("%d lines were given back, want %d", parser.backed, test.backs)
			}
			// The returned text is the kept text and one more chunk.
			if most := int64(len(text) + test.backs*(begun+chunk)); parser.fed > most {
				t.Errorf("%d bytes were fed for %d", parser.fed, len(text))
			}
		})
	}
}

// TestReadLongAlone checks that lives hold their shared lock while a long line
// is in memory, and at no other time.
func TestReadLongAlone(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 5*begun)
	file := filepath.Join(t.TempDir(), "stdout")
	if err := os.WriteFile(file, []byte("a\n"+long+"\nb\n"+long), 0o600); err != nil {
		t.Fatal(err)
	}
	one := &turnstile{}
	parser := &liner{cutAt: longest}
	r := &reader{outcome: &Outcome{}, life: &Life{
		Adapter: parser, Spec: &Spec{}, Stdout: file, Long: one,
		Observe: func(e event.Event) {
			if one.taken {
				t.Error("it is held while others look at an event")
			}
		},
	}}
	parser.see = func(p []byte) {
		if len(p) > chunk != one.taken {
			t.Errorf("of %d bytes that are fed it is held: %t", len(p), one.taken)
		}
	}
	r.more(int64(2*len(long) + 5))
	r.end()
	if r.err != nil || one.taken || one.times != 2 {
		t.Errorf("it was taken %d times, %v", one.times, r.err)
	}
}

// turnstile is a lock of a single goroutine that counts.
type turnstile struct {
	taken bool
	times int
}

func (s *turnstile) Lock()   { s.taken, s.times = true, s.times+1 }
func (s *turnstile) Unlock() { s.taken = false }
