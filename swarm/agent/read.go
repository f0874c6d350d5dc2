package agent

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"agentswarm/internal/statefile"
	"agentswarm/swarm/event"
	"agentswarm/swarm/fault"
	"agentswarm/swarm/task"
)

// reader follows the stdout file of an attempt and feeds the parser. It belongs
// to a single goroutine.
type reader struct {
	life    *Life
	launch  Launch
	outcome *Outcome
	line    *Line // nil where nothing is running

	file   *os.File
	parser Parser
	at     int64 // offset up to which the parser was fed
	// sought is how far the end of a line that begins at at was looked for;
	// 0 where none was given back.
	sought int64
	short  bool // the file ends before it should
	// answered is set while the agent has nothing more to do: it gave an answer
	// that was taken, and went on with nothing since. good is that answer, until
	// it uses a tool.
	answered bool
	good     *event.Answered
	// tools are those that were begun and have not ended, by their ids.
	tools map[string]bool
	// refused is when the agent first said that no server listens, since its model
	// last answered.
	refused time.Time
	err     error
}

const (
	// chunk is how much is read at once: it bounds memory whatever is written.
	chunk = 64 << 10
	// begun is the limit of an incomplete line that is kept in memory, in
	// bytes. A longer line is read again later: a hundred agents in the middle
	// of a long line would fill the memory.
	begun = 64 << 10
	// longest is more than any parser keeps of a line.
	longest = 4 << 20
)

// releaser is a parser that can do without the beginning of a line until the
// line has ended.
type releaser interface {
	// Release forgets the line that is begun, if it is longer than most, and
	// returns how many bytes must be fed again.
	Release(most int) (back int)
}

// briefer is a parser that can leave out data that only the user interface
// shows.
type briefer interface{ Brief() }

// parse makes the parser. It leaves out the input and output of tools: readers
// that want them have the file.
func (r *reader) parse() {
	r.parser = r.life.Adapter.Parser(r.life.Spec)
	if parser, ok := r.parser.(briefer); ok {
		parser.Brief()
	}
}

// more reads up to the given size of the file.
func (r *reader) more(size int64) {
	if r.err != nil || size <= max(r.at, r.sought) {
		return
	}
	if r.file == nil {
		if r.file, r.err = statefile.OpenOutput(r.life.Stdout); r.err != nil {
			return
		}
		r.parse()
	}
	r.short = false
	for r.at < size && r.err == nil && !r.short {
		if r.sought == 0 {
			r.feed(size)
		} else if !r.seek(size) {
			return
		}
	}
}

// feed passes the file's text up to the offset to the parser, or until the
// parser returns the beginning of a long line.
func (r *reader) feed(to int64) {
	parser, releases := r.parser.(releaser)
	r.read(r.at, to, func(p []byte) bool {
		r.at += int64(len(p))
		r.see(r.parser.Feed(p))
		if !releases {
			return true
		}
		if back := parser.Release(begun); back > 0 {
			r.sought, r.at = r.at, r.at-int64(back)
		}
		return r.sought == 0
	})
}

// seek searches the new text for the end of the returned line. It feeds the
// line once the end is there, and reports true.
func (r *reader) seek(size int64) (found bool) {
	r.read(r.sought, size, func(p []byte) bool {
		end := bytes.IndexByte(p, '\n')
		found = end >= 0
		if found {
			p = p[:end+1]
		}
		r.sought += int64(len(p))
		// Readers of a line of this length cut it, and keep little of it.
		found = found || r.sought-r.at > longest
		return !found
	})
	if found {
		r.rest()
	}
	return found
}

// rest feeds a line that was given back as far as it was looked for.
func (r *reader) rest() {
	size := r.sought - r.at
	r.sought = 0
	if r.err != nil || size <= 0 {
		return
	}
	r.at += size
	r.see(r.long(size))
}

// long reads a long line that ends at at. For a moment the line is in memory
// twice, as text and as events. A lock allows this for one agent at a time.
func (r *reader) long(size int64) []event.Event {
	if one := r.life.Long; one != nil {
		one.Lock()
		defer one.Unlock()
	}
	line := make([]byte, size)
	n, err := r.file.ReadAt(line, r.at-size)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = fmt.Errorf("read the output of an agent: %w", err)
	}
	return r.parser.Feed(line[:n])
}

// read hands a part of the file over in pieces, as long as they are taken.
func (r *reader) read(from, to int64, take func([]byte) bool) {
	buf := make([]byte, min(chunk, to-from))
	for from < to {
		n, err := r.file.ReadAt(buf[:min(int64(len(buf)), to-from)], from)
		from += int64(n)
		if !take(buf[:n]) {
			return
		}
		if errors.Is(err, io.EOF) {
			r.short = true
			return
		}
		if err != nil {
			r.err = fmt.Errorf("read the output of an agent: %w", err)
			return
		}
	}
}

// end tells the parser that there is no more, once the process is gone.
func (r *reader) end() {
	if r.file == nil {
		r.parse()
	} else {
		r.rest()
		r.err = errors.Join(r.err, r.file.Close())
	}
	r.see(r.parser.End())
	r.line.close()
}

// over notes that a time limit ended the attempt; the first limit counts. An
// agent that only had to end keeps its answer.
func (r *reader) over(limit task.ErrorKind) {
	if r.done() {
		r.linger()
		return
	}
	if r.outcome.Limit == "" && !r.outcome.Lingered {
		r.outcome.Limit = limit
	}
}

// stopped notes that the attempt is being ended. The cause may let an existing
// answer stand.
func (r *reader) stopped(cause error) {
	if r.done() {
		r.linger()
	}
	r.outcome.Stopped = cause
}

// done reports whether the agent has answered and has nothing more to do, where
// its answer decides on success.
func (r *reader) done() bool { return r.answered && r.life.Spec.Success == SuccessAnswer }

// linger notes that the agent did not end after its answer.
func (r *reader) linger() {
	r.outcome.Lingered, r.outcome.Stands = true, true
}

// see records the outcome's facts from events and passes the events on.
func (r *reader) see(events []event.Event) {
	for _, e := range events {
		r.respond(e)
		r.follow(e)
		switch e := e.(type) {
		case *event.Spent:
			r.outcome.Usage.Add(e.Usage)
			r.outcome.Worked = r.outcome.Worked || e.Usage.Tokens() > 0
		case *event.Erred:
			r.erred(e)
		case *event.Answered:
			r.take(e)
			r.outcome.Worked = true
		case *event.ToolStart:
			r.outcome.Worked = true
			if r.tools == nil {
				r.tools = map[string]bool{}
			}
			r.tools[e.ID] = true
		case *event.ToolEnd:
			delete(r.tools, e.ID)
		case *event.Retry:
			r.despair(e)
			r.line.excuse(time.Duration(max(0, min(e.RetryAfterMS, MostWaits.Milliseconds()))) * time.Millisecond)
		case *event.Text:
			r.outcome.Said = e.Text
		case *event.Session:
			r.outcome.Session = cmp.Or(e.ID, r.outcome.Session)
			r.outcome.Model = cmp.Or(e.Model, r.outcome.Model)
			r.line.introduce(e)
		case *event.Asked:
			r.ask(e)
		}
		if r.life.Observe != nil {
			r.life.Observe(e)
		}
	}
}

// follow notes the agent's current activity from an event.
func (r *reader) follow(e event.Event) {
	switch e := e.(type) {
	case *event.Retry:
		r.outcome.Waits = cmp.Or(e.Message, string(e.Kind), "it tries again")
		return
	case *event.Raw:
		return // an unknown event
	case *event.Turn, *event.ToolEnd, *event.Text:
		r.answered = false // it continues by itself
	case *event.ToolStart, *event.Asked:
		r.answered = false
		r.outgrow()
	}
	if r.outcome.Waits != "" {
		r.outcome.Waits, r.refused = "", time.Time{}
		r.line.goesOn()
	}
}

// outgrow notes that the agent has begun work after its answer. The answer then
// covers no later error. The answer of an agent that was ended stands.
func (r *reader) outgrow() {
	if !r.outcome.Lingered {
		r.outcome.Stands, r.good = false, nil
	}
}

// despair notes a request that is made again in vain: its quota is used up, or no
// server has listened for some time.
func (r *reader) despair(e *event.Retry) {
	_, nobody := fault.Unreachable(e.Message)
	switch {
	case e.Kind == task.Quota:
		r.outcome.Hopeless = e
	case !nobody || r.line == nil: // or it is read again
	case r.refused.IsZero():
		r.refused = time.Now()
	case time.Since(r.refused) >= hopelessAfter:
		r.outcome.Hopeless = e
	}
}

// take takes an answer, or has the agent asked again.
func (r *reader) take(e *event.Answered) {
	// A result after an error means that the agent got over it.
	r.outcome.Answer, r.outcome.Error, r.outcome.Stands = e, nil, r.outcome.Lingered
	r.outcome.Answers++
	r.answered, r.good = false, nil
	if !r.again(e) {
		r.line.finish()
		r.answered, r.good = true, e
	}
}

// erred takes an error. A provider's refusal after a good answer did not affect
// that answer: the user does not pay for it again.
func (r *reader) erred(e *event.Erred) {
	transient := e.Kind == task.RateLimit || e.Kind == task.Overloaded
	if r.good != nil && (transient || r.outcome.Lingered) {
		r.outcome.Stands = true
		return
	}
	r.outcome.Error, r.outcome.Stands, r.good = e, false, nil
	r.answered = false
}

// respond sends the agent the message that follows from an event.
func (r *reader) respond(e event.Event) {
	if r.launch.Respond == nil || r.line == nil {
		return // it needs nothing, or was read again
	}
	message, last := r.launch.Respond(e)
	r.line.send(message)
	if last {
		r.line.finish()
	}
}

// again asks for another answer where the answer is refused, and reports
// whether it could.
func (r *reader) again(e *event.Answered) bool {
	if r.line == nil || r.life.Refuse == nil || r.launch.Again == nil {
		return false // it was read again, or cannot be asked
	}
	text := r.life.Refuse(e)
	return text != "" && r.line.send(r.launch.Again(text))
}

// ask passes a question on. An agent without a listener gets a denial.
func (r *reader) ask(e *event.Asked) {
	if r.line == nil || r.line.stdin == nil || r.launch.Reply == nil {
		return // it was read again, or cannot be told
	}
	deny := ""
	switch {
	case r.life.Ask == nil:
		deny = "no person can be asked here"
	case r.outcome.Limit != "" || r.outcome.Stopped != nil || r.outcome.Lingered:
		deny = "this attempt is being ended"
	}
	if deny != "" {
		r.line.send(r.launch.Reply(Reply{Ask: e.ID, Reason: deny}))
		return
	}
	r.line.Waits()
	r.life.Ask(e)
}
