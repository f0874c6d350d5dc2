package inspect

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/fspath"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/command"
	"agentswarm/swarm/agent/kinds"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// NewLogsCommand returns the command `swarm logs`.
func NewLogsCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "logs",
		Usage:     "print what agents wrote",
		ArgsUsage: "[RUN | AGENT… | -]",
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "continue until the agents have ended"},
			&cli.IntFlag{Name: "tail", Usage: "print only the last `N` lines of each agent"},
			&cli.StringFlag{Name: "since", Usage: "print only lines since `TIME`, such as 10m or 2006-01-02T15:04:05Z"},
			&cli.BoolFlag{Name: "timestamps", Aliases: []string{"t"}, Usage: "begin each line with its time"},
			&cli.BoolFlag{Name: "raw", Usage: "print the agents' own output, byte for byte"},
			cmdline.JSONFlag(),
		}, selection.SelectorFlags()...),
		Description: `Prints the standard output of the current attempt of each agent; of several, each
line begins with its agent. With --json, one event a line. Times are exact to a
second.

Examples:
  swarm logs a3
  swarm logs -f
  swarm logs --failed --tail 20
  swarm logs a3 --since 10m --timestamps
  swarm logs a3 --raw > out.txt
  swarm logs k3x9q2 --json`,
		Action: func(c *cli.Context) error { return logsAction(c, env) },
	}
}

func logsAction(c *cli.Context, env cmdline.Env) error {
	window, err := readLogWindow(c, time.Now())
	if err != nil {
		return err
	}
	p, s, err := selection.Open(c, env, 0, -1)
	if err != nil {
		return err
	}
	if err := s.NonePicked("logs"); err != nil {
		return err
	}
	if !c.Bool("json") && !c.Bool("raw") && !c.Bool("follow") {
		if err := cmdline.Page(p, c); err != nil {
			return err
		}
	}
	config, err := session.EngineConfig(s.View)
	if err != nil {
		return err
	}
	l := &logger{
		out: bufio.NewWriterSize(env.Stdout, 64<<10), window: window, run: s.Run, raw: c.Bool("raw"), json: c.Bool("json"),
		all: len(s.Named) == 0 && s.Chosen.Empty(), config: config, kinds: cmdline.Kinds(env),
	}
	l.several = len(s.Agents()) > 1 ||
		len(s.Agents()) == 0 && s.View.Identity.Workflow.Kind != store.WorkflowPrompt
	l.add(s.Agents())
	if c.Bool("follow") {
		err = l.follow(c.Context)
	} else {
		err = l.drain()
	}
	if wrote := l.out.Flush(); err == nil {
		err = wrote
	}
	if err == nil && !l.raw && !l.json {
		l.printSilent(env.Stderr)
	}
	return err
}

// printSilent tells where the standard error is of agents that printed nothing else.
func (l *logger) printSilent(w io.Writer) {
	const most = 3
	silent := 0
	for _, s := range l.streams {
		if s.attempt == 0 || s.round > 0 || s.at > 0 {
			continue
		}
		if silent++; silent > most {
			continue
		}
		file := filepath.Join(l.run.Attempt(s.id, s.attempt), "stderr")
		if info, err := os.Lstat(file); err == nil && info.Size() > 0 {
			fmt.Fprintf(w, "%s: nothing on standard output; its standard error is in %s\n", s.id, termtext.Line(file))
		} else {
			fmt.Fprintf(w, "%s: no output\n", s.id)
		}
	}
	if silent > most {
		fmt.Fprintf(w, "and %s without output\n", termtext.Count(silent-most, "more agent", "more agents"))
	}
}

// logger prints the output of agents.
type logger struct {
	out       *bufio.Writer // flushed after each look
	window    logWindow
	live      bool // further lines are newer than all that were kept for the window
	run       *store.Run
	raw, json bool
	several   bool
	all       bool // of the run, those that are called later too
	config    engine.Config
	kinds     kinds.List
	streams   []*stream
	of        map[task.ID]*stream
	buf       []byte // the buffer of a read
}

// parser reads the output of an agent of a kind. The output of an unknown kind
// is read by swarm's own protocol.
func (l *logger) parser(spec *agent.Spec) agent.Parser {
	if kind, ok := l.kinds.Find(spec.Kind); ok {
		return kind.Adapter.Parser(spec)
	}
	return command.Adapter{}.Parser(spec)
}

// add begins the streams of agents that have none.
func (l *logger) add(agents []*store.Agent) {
	if l.of == nil {
		l.of, l.buf = map[task.ID]*stream{}, make([]byte, 64<<10)
	}
	for _, a := range agents {
		if l.of[a.ID] != nil {
			continue
		}
		s := &stream{id: a.ID, spec: engine.SpecThen(l.config, a), attempt: a.Attempt, sent: a.Sent}
		l.of[a.ID] = s
		l.streams = append(l.streams, s)
	}
}

// stream is the output of an agent, as far as it was read.
type stream struct {
	id      task.ID
	spec    *agent.Spec
	attempt int
	round   int   // of the attempt, from 0
	at      int64 // in the file of the round
	parser  agent.Parser
	partial []byte
	said    printed
	sent    []*event.Sent // all messages to the agent, as far as is known
	told    int           // how many of them were passed
	settled bool          // the agent has ended in this attempt: there will be no more
	done    bool          // all of that was printed but for a line without its end
	ended   bool
	marks   []proc.Mark // of the round's file
	now     time.Time   // the time of the text that is read now; zero: not known
	kept    []string    // the last lines, until they are printed
}

// logPoll is how often a followed file is looked at.
const logPoll = 100 * time.Millisecond

// follow prints until every agent has ended. The journal says when that is.
func (l *logger) follow(ctx context.Context) error {
	tick := time.NewTicker(logPoll)
	defer tick.Stop()
	tail := l.run.Tail()
	defer tail.Close()
	for {
		v, err := tail.View()
		if err != nil {
			return err
		}
		ended := v.Status != store.RunRunning
		over := ended || !l.all
		if l.all {
			l.add(v.Agents)
		}
		for _, s := range l.streams {
			a := v.Agent(s.id)
			s.sent = a.Sent
			if err := s.turn(l, a.Attempt); err != nil {
				return err
			}
			// No process writes to its files any more, and they are read below.
			s.settled = a.Result() != nil
			over = over && (a.Result() != nil || ended)
		}
		if err := l.read(); err != nil {
			return err
		}
		if over {
			return l.drain()
		}
		if err := l.release(); err != nil {
			return err
		}
		if err := l.out.Flush(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// turn goes over to a new attempt.
func (s *stream) turn(l *logger, attempt int) error {
	if attempt == s.attempt {
		return nil
	}
	if s.attempt > 0 && !s.done {
		// It may have written since it was looked at.
		if err := s.read(l); err != nil {
			return err
		}
	}
	err := s.end(l)
	*s = stream{id: s.id, spec: s.spec, attempt: attempt, sent: s.sent}
	return err
}

// drain prints all there is and ends the streams.
func (l *logger) drain() error {
	if err := l.read(); err != nil {
		return err
	}
	for _, s := range l.streams {
		if err := s.end(l); err != nil {
			return err
		}
	}
	return l.release()
}

// read prints the new output of each stream.
func (l *logger) read() error {
	for _, s := range l.streams {
		if s.attempt == 0 || s.done {
			continue
		}
		if err := s.read(l); err != nil {
			return err
		}
		s.done = s.settled
	}
	return nil
}

// read reads on in the file of the round, and in those of later ones.
func (s *stream) read(l *logger) error {
	for {
		// Asked first: a round has ended when the next has a file.
		more := fspath.Exists(s.file(l, s.round+1))
		if err := s.readRound(l); err != nil || !more {
			return err
		}
		s.round, s.at, s.parser, s.marks = s.round+1, 0, nil, nil
	}
}

// file is the output of the agent in a round. An agent that was asked again for
// an answer has several.
func (s *stream) file(l *logger, round int) string {
	name := "stdout"
	if round > 0 {
		name = fmt.Sprintf("stdout.%d", round+1)
	}
	return filepath.Join(l.run.Attempt(s.id, s.attempt), name)
}

func (s *stream) readRound(l *logger) error {
	file, err := l.run.OpenFile(s.file(l, s.round), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the output of %s: %w", s.id, err)
	}
	defer file.Close()
	if err := s.readMarks(l); err != nil {
		return err
	}
	for {
		bound, stuck := s.due(l)
		if stuck != nil {
			return stuck
		}
		bound = s.timed(bound)
		buf := l.buf
		if bound >= 0 {
			buf = buf[:min(int64(len(buf)), bound-s.at)]
		}
		n, err := file.ReadAt(buf, s.at)
		s.at += int64(n)
		if n > 0 {
			if err := s.print(l, buf[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the output of %s: %w", s.id, err)
		}
	}
}

// print prints bytes as they are, as lines, or as the events they are.
func (s *stream) print(l *logger, p []byte) error {
	switch {
	case l.raw && !l.several && !l.window.narrow():
		_, err := l.out.Write(p)
		return err
	case s.spec.Format == agent.FormatJSONL && !l.raw:
		if s.parser == nil {
			s.parser = l.parser(s.spec)
		}
		return s.events(l, s.parser.Feed(p))
	default:
		return s.lines(l, p)
	}
}

// maxPartial bounds a line that does not end.
const maxPartial = 64 << 10

// lines prints whole lines and keeps the rest.
func (s *stream) lines(l *logger, p []byte) error {
	s.partial = append(s.partial, p...)
	rest := s.partial
	for {
		line, after, ended := bytes.Cut(rest, []byte{'\n'})
		if !ended && len(rest) < maxPartial {
			break
		}
		if !ended {
			line, after = rest, nil
		}
		if err := s.line(l, string(line)); err != nil {
			return err
		}
		rest = after
	}
	s.partial = append(s.partial[:0], rest...)
	return nil
}

// line prints a line of text.
func (s *stream) line(l *logger, text string) error {
	switch {
	case l.json:
		return s.events(l, []event.Event{&event.Text{Text: text}})
	case l.raw:
	default:
		text = termtext.Line(text)
	}
	if l.several {
		text = string(s.id) + " | " + text
	}
	return l.emit(s, text+"\n")
}

// end prints the rest of a line.
func (s *stream) end(l *logger) error {
	if s.ended {
		return nil
	}
	s.ended = true
	var err error
	if s.parser != nil {
		err = s.events(l, s.parser.End())
	} else if len(s.partial) > 0 {
		err = s.line(l, string(s.partial))
	}
	return errors.Join(err, s.messages(l))
}
