package follow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/control"
	"agentswarm/swarm/inbox"
	"agentswarm/swarm/inbox/waiting"
)

// PromptConsole takes answers to open questions from the person at the terminal of the run's owner.
type PromptConsole struct {
	Questions *OpenQuestions
	Give      func(context.Context, control.Request) error
	Notices   *session.Notices
}

// closed tells whether there is nothing more to ask. Who has no counter does
// not know, and believes the journal.
func (c *PromptConsole) closed() bool {
	if c == nil {
		return true
	}
	select {
	case <-c.Questions.Over:
		return true
	default:
		return false
	}
}

// linger waits until there is nothing more to ask.
func (c *PromptConsole) linger(ctx context.Context) {
	if c == nil {
		return
	}
	select {
	case <-ctx.Done():
	case <-c.Questions.Over:
	}
}

// keyboard is the keyboard of the terminal that a run is on. It is read in lines,
// as the terminal gives them. A line that answers no question is dropped.
type keyboard struct {
	*PromptConsole
	fd      int
	picture *Progress

	// current is the question that the picture shows first, since when.
	current string
	since   time.Time
}

// newKeyboard is that of this command's terminal; nil where there is none, or
// nothing is drawn on it.
func newKeyboard(p *cmdline.Place, at *PromptConsole, picture *Progress) *keyboard {
	if at == nil || !picture.term.Motion || !cmdline.Attended(p) {
		return nil
	}
	return &keyboard{PromptConsole: at, picture: picture, fd: int(p.Env.Stdin.(interface{ Fd() uintptr }).Fd())}
}

// keyGap is how often the keyboard is looked at, and how late its reader
// notices that the run is over.
const keyGap = 100 * time.Millisecond

// listen takes answers until ctx ends or the terminal is gone.
func (k *keyboard) listen(ctx context.Context) {
	tick := time.NewTicker(keyGap)
	defer tick.Stop()
	for {
		open := k.Questions.Waiting()
		if foreground(k.fd) {
			if len(open) > 0 {
				k.turnTo(open[0].ID)
			}
			line, err := readLine(k.fd)
			if err != nil {
				return
			}
			switch {
			case line == "" || ctx.Err() != nil:
			case len(open) > 0:
				k.take(ctx, line, open)
			default: // no question is open that it could answer
				k.picture.Typed(strings.TrimRight(line, "\r\n"))
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// foreground tells whether this process may read the terminal: in the
// background it would be stopped for it.
func foreground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// dropKeys drops keys that were typed while a picture was drawn, so that none is
// left for the shell that reads the terminal next, and clears the line below the
// picture of their echo.
func dropKeys(p *cmdline.Place, picture *Progress) {
	if !picture.Draws() || !cmdline.Attended(p) {
		return
	}
	in, isFile := p.Env.Stdin.(interface{ Fd() uintptr })
	if !isFile || !foreground(int(in.Fd())) {
		return
	}
	// Where that fails the keys stay, which is no reason to fail.
	_ = terminal.Discard(int(in.Fd()))
	_, _ = io.WriteString(p.Env.Stderr, "\r\x1b[K")
}

// turnTo records the shown question. Earlier input was not meant for it.
func (k *keyboard) turnTo(id string) {
	if k.current == id {
		return
	}
	k.current, k.since = id, time.Now()
	// Where that fails a line may be taken for an answer too soon, which the
	// time below makes unlikely.
	_ = terminal.Discard(k.fd)
}

// sightTime is how long a question must have been in sight to be answered
// without its id.
const sightTime = 500 * time.Millisecond

// take carries out a typed line.
func (k *keyboard) take(ctx context.Context, line string, open []waiting.Question) {
	k.picture.Typed(strings.TrimRight(line, "\r\n"))
	q, answer, err := typedAnswer(line, open)
	if answer == nil && err == nil {
		return
	}
	if err == nil && answer.ID == "" {
		answer.ID = q.ID
		if time.Since(k.since) < sightTime {
			err = fmt.Errorf("%s has only just been asked; look at it and answer again", q.ID)
		}
	}
	if err == nil {
		answer.Shown = q.Shown()
		err = k.Give(ctx, answer)
	}
	if err != nil {
		k.picture.Say(err.Error())
		return
	}
	k.picture.Say(outcomeText(q, answer))
}

// typedAnswer reads a typed line as an answer, and finds the open question that
// it answers. An answer with an id names its question. An empty line is no
// answer.
//
// Only yes and no may name a question. A text that only begins like them is
// refused, so that no "no, because" is ever taken for a yes.
func typedAnswer(line string, open []waiting.Question) (waiting.Question, *control.Answer, error) {
	words := strings.Fields(line)
	if len(words) == 0 || len(open) == 0 {
		return waiting.Question{}, nil, nil
	}
	first := strings.ToLower(strings.Trim(words[0], ",.;:!?"))
	switch first {
	case "y", "yes", "n", "no":
	default:
		answer, err := answerText(open[0], line)
		return open[0], answer, err
	}
	answer := &control.Answer{Allow: first[0] == 'y'}
	if len(words) == 1 {
		return open[0], answer, nil
	}
	if len(words) == 2 && answer.Allow && strings.EqualFold(words[1], "all") {
		answer.All = true
		return open[0], answer, nil
	}
	found := waiting.Named(words[1], open)
	switch {
	case len(words) > 2 || len(found) == 0:
		return waiting.Question{}, nil, fmt.Errorf("type %s alone, with the id of a question, or y all: %s", first, waiting.IDs(open))
	case len(found) > 1:
		return waiting.Question{}, nil, fmt.Errorf("%q could be %s", words[1], waiting.IDs(found))
	}
	answer.ID = found[0].ID
	return found[0], answer, nil
}

// noteOf says in a picture which questions are open and how they are
// answered; here where they can be at this terminal.
func noteOf(open []waiting.Question, here bool) (note, hint string) {
	if len(open) == 0 {
		return "", ""
	}
	q := open[0]
	note = fmt.Sprintf("%s: %s %s wants: %s", termtext.Count(len(open), "question", "questions"), q.ID, q.Who(), questionText(q.Question))
	switch {
	case !here:
		hint = fmt.Sprintf("%s answer %s yes, or no", cmdline.Program, q.ID)
	case len(open) > 1:
		hint = fmt.Sprintf("type y, n or an answer and Enter for %s; y ID or n ID for others: %s inbox", q.ID, cmdline.Program)
		if g := waiting.Groups(open)[0]; len(g) > 1 && q.Risk != nil {
			hint = fmt.Sprintf("type y, n or an answer and Enter for %s; y all for the %d that ask the same", q.ID, len(g))
		}
	default:
		hint = "type y or n, and Enter"
		if _, words := inbox.InquiryOf(&q.Questioned); words {
			hint = "type the answer, and Enter"
		}
	}
	return note, hint
}

// longestLine bounds a single read of a terminal, which keeps 4 KiB in lines.
const longestLine = 8 << 10

// readLine reads a typed line; without a line it is empty. io.EOF is a terminal
// that is gone. It does not wait.
func readLine(fd int) (string, error) {
	ready, err := pressed(fd)
	if err != nil || !ready {
		return "", err
	}
	buf := make([]byte, longestLine)
	n, err := unix.Read(fd, buf)
	switch {
	case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
		return "", nil
	case err != nil:
		return "", err
	case n == 0:
		// The end of input by Ctrl-D, which passes, or of the terminal.
		if _, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil {
			return "", io.EOF
		}
		return "\n", nil
	}
	return string(buf[:n]), nil
}

// pressed asks whether a read would not wait. It is select since poll does
// not know terminals everywhere.
func pressed(fd int) (bool, error) {
	var set unix.FdSet
	set.Set(fd)
	n, err := unix.Select(fd+1, &set, nil, nil, &unix.Timeval{})
	if errors.Is(err, unix.EINTR) {
		return false, nil
	}
	return n > 0, err
}
