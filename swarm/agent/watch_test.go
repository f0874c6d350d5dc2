package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/proc"
)

// script is a process that has printed some lines, with an adapter and a parser
// of them. The line "answer" is an answer, "tool" a call, and any other line a
// text.
type script struct {
	Adapter
	output chan proc.Progress
	ended  bool
}

func (s *script) Output() <-chan proc.Progress { return s.output }

// Stop ends it at once.
func (s *script) Stop() { s.end() }

func (s *script) end() {
	if !s.ended {
		s.ended = true
		close(s.output)
	}
}

func (s *script) Parser(*Spec) Parser { return s }

func (s *script) Feed(p []byte) (found []event.Event) {
	for word := range strings.FieldsSeq(string(p)) {
		switch word {
		case "answer":
			found = append(found, &event.Answered{Text: word})
		case "tool":
			found = append(found, &event.ToolStart{Name: word})
		default:
			found = append(found, &event.Text{Text: word})
		}
	}
	return found
}

func (*script) End() []event.Event { return nil }

// TestWatchHearsFirst checks that an agent's output and end count even if a
// limit or a stop comes at the same moment. A select would take any of them, so
// each is tried often.
func TestWatchHearsFirst(t *testing.T) {
	t.Parallel()
	first, both := "answer\n", "answer\ntool\n"
	for _, test := range []struct {
		name   string
		stdout string
		spec   Spec
		// begin runs before the watch, and see runs after each event.
		begin func(*script, *Life, context.CancelFunc)
		see   func(*script, *Life, event.Event)
		want  func(*Outcome) bool
	}{
		{
			"an answer at its time-out", first, Spec{Timeout: 1},
			func(s *script, _ *Life, _ context.CancelFunc) { s.output <- proc.Progress{Stdout: int64(len(first))} }, nil,
			func(o *Outcome) bool { return o.Limit == "" && o.Lingered },
		},
		{
			"its end at its time-out", "", Spec{Timeout: 1}, func(s *script, _ *Life, _ context.CancelFunc) { s.end() }, nil,
			func(o *Outcome) bool { return o.Limit == "" && !o.Lingered },
		},
		{
			"its end at its idle time-out", "", Spec{IdleTimeout: 1}, func(s *script, _ *Life, _ context.CancelFunc) { s.end() }, nil,
			func(o *Outcome) bool { return o.Limit == "" && !o.Lingered },
		},
		{
			"a word at its idle time-out", "word\n", Spec{IdleTimeout: 1},
			func(s *script, _ *Life, _ context.CancelFunc) { s.output <- proc.Progress{Stdout: 5} },
			func(s *script, l *Life, _ event.Event) { l.Spec.IdleTimeout = time.Hour; s.end() },
			func(o *Outcome) bool { return o.Limit == "" && o.Said == "word" },
		},
		{
			"a tool as it has lingered", both, Spec{},
			func(s *script, l *Life, _ context.CancelFunc) {
				l.Linger = 1
				s.output <- proc.Progress{Stdout: int64(len(first))}
			},
			func(s *script, _ *Life, e event.Event) {
				if _, answered := e.(*event.Answered); answered {
					s.output <- proc.Progress{Stdout: int64(len(both))}
				} else {
					s.end()
				}
			},
			func(o *Outcome) bool { return !o.Lingered && o.Answer != nil },
		},
		{
			"an answer as it is stopped", first, Spec{},
			func(s *script, _ *Life, stop context.CancelFunc) {
				s.output <- proc.Progress{Stdout: int64(len(first))}
				stop()
			}, nil,
			func(o *Outcome) bool { return o.Stopped != nil && o.Lingered },
		},
		{
			"its end as it is stopped", "", Spec{}, func(s *script, _ *Life, stop context.CancelFunc) { s.end(); stop() }, nil,
			func(o *Outcome) bool { return o.Stopped == nil },
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "stdout")
			if err := os.WriteFile(file, []byte(test.stdout), 0o600); err != nil {
				t.Fatal(err)
			}
			for range 50 {
				s := &script{output: make(chan proc.Progress, 1)}
				spec := test.spec
				spec.Success = SuccessAnswer
				l := &Life{Adapter: s, Spec: &spec, Stdout: file, Linger: -1}
				if test.see != nil {
					l.Observe = func(e event.Event) { test.see(s, l, e) }
				}
				read := &reader{life: l, outcome: &Outcome{}, line: &Line{}}
				ctx, stop := context.WithCancelCause(t.Context())
				test.begin(s, l, func() { stop(errors.New("enough")) })
				l.watch(ctx, s, read)
				stop(nil)
				read.end()
				if !test.want(read.outcome) {
					t.Fatalf("it comes to %+v", read.outcome)
				}
			}
		})
	}
}
