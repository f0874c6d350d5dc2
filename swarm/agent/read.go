package agent

import (
	"errors"
	"fmt"
	"io"
	"os"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// reader follows the stdout file of an attempt and feeds the parser. It
// belongs to one goroutine.
type reader struct {
	life    *Life
	launch  Launch
	outcome *Outcome
	line    *Line // nil where nothing is running

	file   *os.File
	parser Parser
	at     int64
	err    error
}

// chunk is how much is read at once: it bounds memory whatever is written.
const chunk = 64 << 10

// more reads up to the given size of the file.
func (r *reader) more(size int64) {
	if r.err != nil || size <= r.at {
		return
	}
	if r.file == nil {
		if r.file, r.err = os.Open(r.life.Stdout); r.err != nil {
			return
		}
		r.parser = r.life.Adapter.Parser(r.life.Spec)
	}
	buf := make([]byte, min(chunk, size-r.at))
	for r.at < size {
		n, err := r.file.ReadAt(buf[:min(int64(len(buf)), size-r.at)], r.at)
		r.at += int64(n)
		r.see(r.parser.Feed(buf[:n]))
		if errors.Is(err, io.EOF) {
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
		r.parser = r.life.Adapter.Parser(r.life.Spec)
	} else {
		r.err = errors.Join(r.err, r.file.Close())
	}
	r.see(r.parser.End())
	r.line.close()
}

// over notes that a time limit ended the attempt; the first one did.
func (r *reader) over(limit task.ErrorKind) {
	if r.outcome.Limit == "" {
		r.outcome.Limit = limit
	}
}

// see keeps what the outcome needs of events and passes them on.
func (r *reader) see(events []event.Event) {
	for _, e := range events {
		switch e := e.(type) {
		case *event.Spent:
			r.outcome.Usage.Add(e.Usage)
		case *event.Erred:
			r.outcome.Error = e
		case *event.Answered:
			// A result after an error means that the agent got over it.
			r.outcome.Answer, r.outcome.Error = e, nil
			r.outcome.Answers++
			if !r.again(e) {
				r.line.finish()
			}
		case *event.Text:
			r.outcome.Said = e.Text
		case *event.Session:
			r.line.introduce(e)
		case *event.Asked:
			r.ask(e)
		}
		if r.life.Observe != nil {
			r.life.Observe(e)
		}
	}
}

// again asks for another answer where one will not do, and reports whether it
// could.
func (r *reader) again(e *event.Answered) bool {
	if r.line == nil || r.life.Refuse == nil || r.launch.Again == nil {
		return false // it was read again, or cannot be asked
	}
	text := r.life.Refuse(e)
	return text != "" && r.line.send(r.launch.Again(text))
}

// ask passes a question on. An agent that nobody listens to must hear so.
func (r *reader) ask(e *event.Asked) {
	if r.line == nil || r.line.stdin == nil || r.launch.Reply == nil {
		return // it was read again, or cannot be told
	}
	if r.life.Ask == nil {
		r.line.send(r.launch.Reply(Reply{Ask: e.ID, Reason: "nobody can be asked here"}))
		return
	}
	r.line.wait()
	r.life.Ask(e)
}
