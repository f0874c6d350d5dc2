package builtincmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/risk"
	"agentswarm/swarm/ask"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/riskcmd"
	"agentswarm/swarm/policy"
)

// personGate is the gate of an agent that belongs to no run. It judges actions
// itself, and asks the person at the terminal.
type personGate struct {
	c   *cli.Context
	env cmdline.Env

	mu      sync.Mutex // lets a single question run at a time
	in      *bufio.Reader
	answers chan personAnswer
	reading bool // an answer is still to come
}

// personAnswer is a line of the terminal.
type personAnswer struct {
	text string
	err  error
}

// Pass judges an action where it would happen, as the place is by now.
func (g *personGate) Pass(ctx context.Context, a ask.Action) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	ground, err := riskcmd.OpenSurroundings(g.c, g.env)
	if err != nil {
		return fmt.Errorf("it cannot be judged: %w", err)
	}
	r := ground.JudgeAction(&a)
	reason := risk.Redact(r.Reason)
	switch r.Verdict {
	case risk.Proceed:
		return nil
	case risk.Deny:
		if r.Instead != "" {
			reason += ". Instead: " + r.Instead
		}
		return errors.New(reason)
	case risk.Ask:
		return g.ask(ctx, r, gateQuestion{&a, reason})
	default:
		panic(fmt.Sprintf("unhandled verdict %d", r.Verdict))
	}
}

// gateQuestion is an action that a person is asked about.
type gateQuestion struct {
	action *ask.Action
	reason string
}

// ask asks the person at the terminal. It refuses to ask an agent, or a process
// that an agent started.
func (g *personGate) ask(ctx context.Context, r policy.Ruling, q gateQuestion) error {
	in, isFile := g.env.Stdin.(interface{ Fd() uintptr })
	if cmdline.Personal(g.env, "allowing an action") != nil || !isFile || !cmdline.IsTerminal(in.Fd()) ||
		!terminal.Detect(g.env.Stderr, g.env.Getenv).TTY {
		return fmt.Errorf("no person can be asked here: %s", q.reason)
	}
	what := q.action.Command
	if q.action.Write != "" {
		what = "write " + q.action.Write
	}
	fmt.Fprintf(g.env.Stderr, "\n%s: %s\n  %s\nAllow it? [y/N] ", r.Tier, termtext.Line(q.reason), termtext.Line(what))
	answer, err := g.answer(ctx)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer == "y" || answer == "yes" {
		return nil
	}
	return errors.New("the user said no")
}

// answer is the next line of the terminal, unless ctx ends before: the first
// ctrl-c ends the agent also during a question. A read of a terminal cannot be
// cancelled; a read that is left over ends with the process.
func (g *personGate) answer(ctx context.Context) (string, error) {
	if g.in == nil {
		g.in, g.answers = bufio.NewReader(cmdline.Input(g.env)), make(chan personAnswer, 1)
	}
	if !g.reading {
		g.reading = true
		go func() {
			text, err := g.in.ReadString('\n')
			g.answers <- personAnswer{text, err}
		}()
	}
	var a personAnswer
	select {
	case a = <-g.answers:
		g.reading = false
	case <-ctx.Done():
	}
	if ctx.Err() != nil { // who has typed yes as well has stopped it all the same
		fmt.Fprintln(g.env.Stderr)
		return "", context.Cause(ctx)
	}
	return a.text, a.err
}
