package agent

import (
	"errors"
	"slices"
	"sync"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/proc"
)

// Line is the open line to a running agent: its stdin, where that is kept
// open, or its terminal. Its methods may be called from several goroutines.
// The methods for readers may be called of nil, the line to an agent whose output
// is read again.
type Line struct {
	launch   Launch
	stdin    *stdin         // nil where none is kept open
	terminal *proc.Terminal // nil where it has none
	stdout   string

	mu      sync.Mutex    // guards the fields below
	can     []string      // nil until it says
	waiting int           // questions without an answer
	since   time.Time     // when the first of them was asked
	waited  time.Duration // for answers, in all
	granted time.Duration // the part of waited that has extended the time limit
	excused time.Duration // waits that its provider asked for, since the agent last continued
	heard   time.Time     // when the last answer was given
}

// ErrCannotSteer refuses a message to an agent that takes none while it works.
var ErrCannotSteer = errors.New("takes no messages while it works: " +
	"only agents with input = \"jsonl\" that say they can steer do")

// ErrNotReady refuses a message to an agent that has not announced its capabilities.
var ErrNotReady = errors.New("has not announced yet that it takes messages; try again once it has started")

// ErrNotListening refuses a message to an agent that has ended, or that does not
// read its input.
var ErrNotListening = errors.New("does not read its messages, or has ended")

// Steers is nil where the agent takes words while it works; else it says why
// not.
func (l *Line) Steers() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.stdin == nil || l.launch.Steer == nil:
		return ErrCannotSteer
	case l.can == nil:
		return ErrNotReady
	case !slices.Contains(l.can, "steer"):
		return ErrCannotSteer
	}
	return nil
}

// Steer sends the agent a word.
func (l *Line) Steer(text string) error {
	if err := l.Steers(); err != nil {
		return err
	}
	if !l.stdin.send(l.launch.Steer(text)) {
		return ErrNotListening
	}
	return nil
}

// Wrote is how many bytes the agent has written to its stdout.
func (l *Line) Wrote() int64 { return sizeOf(l.stdout) }

// Reply answers an action that the agent asked for. It reports false if the
// agent reads no messages or is ending.
func (l *Line) Reply(r Reply) bool {
	l.Answered()
	return l.launch.Reply != nil && l.send(l.launch.Reply(r))
}

// Answered notes that the agent has the answer to a question. Each question
// that Waits noted needs a call.
func (l *Line) Answered() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.waiting > 0 {
		if l.waiting--; l.waiting == 0 {
			l.waited += now.Sub(l.since)
		}
	}
	l.heard = now
}

// excuse notes that the agent has nothing to write for a while, as its provider
// told it to wait.
func (l *Line) excuse(pause time.Duration) {
	if l == nil || pause <= 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	// A chain of them ends, too.
	now := time.Now()
	until := now.Add(pause)
	if before := l.heard; before.After(now) {
		pause = until.Sub(before) // the rest of it was excused already
	}
	if pause = min(pause, MostWaits-l.excused); pause <= 0 {
		return
	}
	l.excused += pause
	if l.heard.Before(now) {
		l.heard = now
	}
	l.heard = l.heard.Add(pause)
}

// goesOn notes that the agent has done something since it waited for its
// provider.
func (l *Line) goesOn() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.excused = 0
}

// Terminal is the agent's terminal; nil where it has none.
func (l *Line) Terminal() *proc.Terminal { return l.terminal }

// Stdout returns the path of the file that holds the agent's output.
func (l *Line) Stdout() string { return l.stdout }

func (l *Line) send(message []byte) bool {
	return l.stdin != nil && l.stdin.send(message)
}

// introduce notes the abilities that the agent announces.
func (l *Line) introduce(s *event.Session) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.can = append([]string{}, s.Can...)
}

// Waits notes that the agent waits for an answer.
func (l *Line) Waits() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting++; l.waiting == 1 {
		l.since = time.Now()
	}
}

// finish tells the agent that its answer was taken.
func (l *Line) finish() {
	if l == nil || l.stdin == nil {
		return
	}
	l.stdin.send(l.launch.Finish)
	l.stdin.close()
}

// close ends the line once the process is gone.
func (l *Line) close() {
	if l == nil || l.stdin == nil {
		return
	}
	l.stdin.close()
	l.stdin.wait()
}

// recheck is how soon a limit is looked at again while a question is open:
// nothing says when it will be answered.
const recheck = time.Second

// credit returns the extra time of an attempt whose time is up, for its waits
// since the last call; 0 where it did not wait.
func (l *Line) credit() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting > 0 {
		l.granted += recheck
		return recheck
	}
	more := l.waited - l.granted
	l.granted = max(l.granted, l.waited)
	return more
}

// Waited is how long the agent has waited for answers to its questions.
func (l *Line) Waited() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting > 0 {
		return l.waited + time.Since(l.since)
	}
	return l.waited
}

// idle returns how long the agent has been silent by its own fault: 0 while it
// waits for an answer, else the time since the last answer.
func (l *Line) idle() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.waiting > 0:
		return 0
	case l.heard.IsZero():
		return 1<<63 - 1
	default:
		return time.Since(l.heard)
	}
}
