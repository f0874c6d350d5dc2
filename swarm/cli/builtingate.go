package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"agentswarm/risk"
	"agentswarm/swarm/ask"
)

// personGate is the gate of an agent that belongs to no run: its actions are
// judged here, and what asks is asked on the terminal.
type personGate struct {
	c   *cli.Context
	env Env

	mu sync.Mutex // one question at a time
	in *bufio.Reader
}

// Pass judges an action where it would happen, as the place is by now.
func (g *personGate) Pass(_ context.Context, a ask.Action) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	ground, err := openRiskGround(g.c, g.env)
	if err != nil {
		return fmt.Errorf("it cannot be judged: %w", err)
	}
	r := ground.judge(&a)
	reason := risk.Redact(r.Reason)
	if r.Instead != "" {
		reason += ". Instead: " + r.Instead
	}
	switch r.Verdict {
	case risk.Proceed:
		return nil
	case risk.Deny:
		return errors.New(reason)
	case risk.Ask:
		return g.ask(r, &a, reason)
	default:
		panic(fmt.Sprintf("unhandled verdict %d", r.Verdict))
	}
}

// ask asks the person at the terminal. An agent, and what one has started, is
// none.
func (g *personGate) ask(r riskRuling, a *ask.Action, reason string) error {
	in, isFile := g.env.Stdin.(interface{ Fd() uintptr })
	if g.env.personal("allowing an action") != nil || !isFile || !isTerminal(in.Fd()) ||
		!detect(g.env.Stderr, g.env.Getenv).TTY {
		return fmt.Errorf("nobody can be asked here: %s", reason)
	}
	what := a.Command
	if a.Write != "" {
		what = "write " + a.Write
	}
	fmt.Fprintf(g.env.Stderr, "\n%s: %s\n  %s\nAllow it? [y/N] ", r.Tier, Printable(reason), Printable(what))
	if g.in == nil {
		g.in = bufio.NewReader(g.env.input())
	}
	answer, err := g.in.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer == "y" || answer == "yes" {
		return nil
	}
	return errors.New("the user said no")
}
