package hook

import (
	"context"
	"fmt"
	"io"

	"agentswarm/swarm/ask"
)

// Streams are the streams of a hook.
type Streams struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Socket         string // of the agent; empty: it was given none
}

// Run asks about the announced actions of the agent, and returns the exit code:
// 0, without output, if they are allowed.
func (d Dialect) Run(ctx context.Context, s Streams) int {
	text, err := io.ReadAll(io.LimitReader(s.Stdin, MaxInput+1))
	if err != nil {
		return d.deny(s, "what the agent said could not be read: "+err.Error())
	}
	actions, err := d.Read(text)
	switch {
	case err != nil:
		return d.deny(s, "what the agent said could not be read: "+err.Error())
	case len(actions) == 0:
		return 0
	case s.Socket == "":
		return d.deny(s, "no person can be asked: "+ask.Variable+" names no socket, so this is not an agent of a run")
	}
	answer, err := ask.Ask(ctx, s.Socket, ask.Request{Actions: actions})
	switch {
	case err != nil:
		return d.deny(s, "no person can be asked: "+err.Error())
	case answer.Allow:
		return 0
	}
	reason := answer.Reason
	if reason == "" {
		reason = "it was refused"
	}
	if answer.Instead != "" {
		reason += ". Instead: " + answer.Instead
	}
	return d.deny(s, reason)
}

func (d Dialect) deny(s Streams, reason string) int {
	stdout, stderr, code := d.denial(reason)
	if stdout != "" {
		fmt.Fprintln(s.Stdout, stdout)
	}
	fmt.Fprintln(s.Stderr, "swarm: "+stderr)
	return code
}
