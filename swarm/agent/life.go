package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/task"
)

// Life is an attempt at running an agent, from its start to its end.
type Life struct {
	Launcher *proc.Launcher // required
	Adapter  Adapter        // required
	Spec     *Spec          // required
	Request  Request        // required
	State    string         // the folder of Request.State, if that is elsewhere for the agent

	Run            string
	Dir            string   // required: the workspace
	Env            []string // the whole environment
	Stdout, Stderr string   // required: files that must not exist yet
	OutputLimit    int64    // bytes; 0 is the default of proc

	// Sandbox is the supervisor's description of the sandbox.
	Sandbox json.RawMessage
	// Door is where the supervisor lets visitors in; empty: nowhere.
	Door string

	// Stall is how long the agent may write nothing while none of its tools runs;
	// 0 is for as long as at any time.
	Stall time.Duration
	// Linger is how long the agent may go on after its answer without a word; 0 is
	// [Linger], and less than that for as long as it likes.
	Linger time.Duration

	// Long is locked while a long line of the agent's output is in memory, and
	// only while that line is read. Lives that share it bound their memory
	// together. It may be nil.
	Long sync.Locker

	// Started is called with the supervisor's identity before the agent begins;
	// its error ends the attempt.
	Started func(pid int, start uint64) error
	// Opened is called once with the line to the agent. It may be nil.
	Opened func(*Line)
	// Ask is called with each action that the agent wants to be allowed; the
	// answer comes by the line. Where it is nil every action is denied.
	Ask func(*event.Asked)
	// Refuse is called with each answer of an agent that can be asked again.
	// The agent is asked the text that it returns; empty accepts the
	// answer. Where it is nil every answer is taken.
	Refuse func(*event.Answered) (again string)
	// Observe gets each event as it is read, without the input and output of
	// tools and without the text of unknown events. It may be nil.
	Observe func(event.Event)
}

// Outcome is how an attempt ended, before its work was looked at.
type Outcome struct {
	Exit   proc.Exit
	Usage  task.Usage
	Answer *event.Answered // the last; nil where the agent gave none
	// Answers is how many it gave.
	Answers int
	// Session is the id of the conversation, and Model the model that answered,
	// as far as the agent said.
	Session, Model string
	// Worked is set where the model answered a request.
	Worked bool
	// Said is the last text that was no answer.
	Said  string
	Error *event.Erred // the last error it reported, if no answer followed
	// Hopeless is a request that the agent makes again though its quota is used
	// up. It is ended for that.
	Hopeless *event.Retry
	// Limit is Timeout or IdleTimeout where such a limit ended the attempt.
	Limit task.ErrorKind
	// Stalled is how long it wrote nothing while it waited for its model, where that
	// ended the attempt.
	Stalled time.Duration
	// Stopped is the cause of the context where that ended the attempt.
	Stopped error
	// Lingered is set where the agent had answered, said nothing more and did
	// not end by itself before it was ended. If it was stopped, the cause of
	// the stop decides whether its answer counts.
	Lingered bool
	// Stands is set where the answer counts, however its process ended after
	// that.
	Stands bool
	// Waits is the agent's last message about its provider, if the agent did
	// nothing else since.
	Waits string
}

// Live runs the attempt. It returns an error only for a failure of swarm: a
// failed agent is an outcome.
//
// When ctx ends, the agent gets TERM, the grace, KILL, and its output is still
// read to the end.
func (l *Life) Live(ctx context.Context) (*Outcome, error) {
	launch, err := l.Adapter.Launch(l.Request)
	if err != nil {
		return nil, err
	}
	if err := launch.Write(cmp.Or(l.State, l.Request.State)); err != nil {
		return nil, err
	}
	p, err := l.Launcher.Start(ctx, proc.Spec{
		Run: l.Run, Argv: launch.Argv, Env: launch.Environ(l.Env), Dir: l.Dir,
		Stdin: launch.Stdin, Pipe: launch.Open,
		Stdout: l.Stdout, Stderr: l.Stderr, Times: true, OutputLimit: l.OutputLimit,
		Sandbox: l.Sandbox, Door: l.Door, Terminal: l.size(), Started: l.Started,
	})
	if err != nil {
		return nil, err
	}
	out := &Outcome{}
	read := &reader{life: l, launch: launch, outcome: out}
	line := &Line{launch: launch, terminal: p.Terminal(), stdout: l.Stdout}
	if launch.Open {
		line.stdin = openStdin(p)
		line.stdin.send(launch.Feed)
	}
	read.line = line
	if l.Opened != nil {
		l.Opened(line)
	}
	l.watch(ctx, p, read)
	out.Exit = p.Wait()
	if out.Exit.Reason == proc.Lost {
		out.Exit.StdoutBytes = sizeOf(l.Stdout) // no report of the size
	}
	read.more(out.Exit.StdoutBytes)
	if out.Exit.Reason == proc.Lost && read.done() {
		read.linger() // whatever became of it, it had only to end
	}
	read.end()
	if read.err != nil {
		// The agent ran and its work is there: only its answer is not known.
		out.Error = &event.Erred{Kind: task.Other, Message: read.err.Error()}
	}
	return out, nil
}

// sizeOf is how large a file is; 0 where there is none.
func sizeOf(file string) int64 {
	info, err := os.Stat(file)
	if err != nil {
		return 0
	}
	return info.Size()
}

// size returns the initial size of the agent's terminal; nil for no terminal. A
// person who attaches brings another size.
func (l *Life) size() *proc.Size {
	if !l.Spec.PTY {
		return nil
	}
	return &proc.Size{Rows: 24, Cols: 80}
}

// Judge reports whether the attempt succeeded, once the caller knows whether it
// changed anything. For a failure it returns the kind and the reason.
func (o *Outcome) Judge(spec *Spec, changed bool) (ok bool, kind task.ErrorKind, reason string) {
	switch {
	case o.Limit == task.Timeout:
		return false, task.Timeout, fmt.Sprintf("ran longer than %s", spec.Timeout)
	case o.Limit == task.IdleTimeout:
		if o.Waits != "" {
			return false, task.IdleTimeout, fmt.Sprintf(
				"did nothing but wait for its provider, for longer than %s and its idle time-out of %s: %s",
				MostWaits, spec.IdleTimeout, o.Waits)
		}
		if o.Stalled > 0 {
			return false, task.IdleTimeout, fmt.Sprintf("its model sent nothing for %s", o.Stalled)
		}
		return false, task.IdleTimeout, fmt.Sprintf("wrote nothing for %s", spec.IdleTimeout)
	}
	if h := o.Hopeless; h != nil && o.Answer == nil {
		return false, h.Kind, message(h.Message, "its provider refuses it")
	}
	stands := o.Stands && o.Answer != nil && spec.Success == SuccessAnswer
	switch o.Exit.Reason {
	case proc.Lost:
		if !stands {
			return false, task.Lost, message(o.Exit.Text, "its supervisor was killed")
		}
	case proc.StartFailed:
		return false, task.StartFailed, message(o.Exit.Text, "did not start")
	case proc.OutputLimit:
		return false, task.OutputExceeded, message(o.Exit.Text, "wrote too much")
	case proc.Exited, proc.Disk:
	}
	switch {
	case stands:
		// No later output was about the task.
	case o.Exit.Signal != "":
		return false, task.Killed, "ended by " + o.Exit.Signal
	case o.Error != nil:
		return false, o.Error.Kind, message(o.Error.Message, "the agent reported an error")
	case o.Exit.Code != 0:
		return false, task.Other, fmt.Sprintf("exit status %d", o.Exit.Code)
	}
	switch {
	case spec.Success == SuccessExit:
		return true, "", ""
	case o.Answer == nil:
		return false, task.NoResult, "exit status 0, but no result"
	case o.Answer.Text == "" && len(o.Answer.Structured) == 0 && !changed:
		return false, task.NoResult, "an empty result and no change"
	}
	return true, "", ""
}

func message(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
