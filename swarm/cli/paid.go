package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"agentswarm/swarm/engine"
)

// paidJobs is how many agents that cost money run at once, where nobody says.
const paidJobs = 8

// unasked is how many agents that cost money start without a question.
const unasked = 10

// paid reports whether any agent that a run starts costs money, as a rule. Of
// those of a script only the one of calls that name none is known.
func (p *place) paid(pl *plan) bool {
	known := p.env.kinds().ByName()
	for name, spec := range pl.config.Agents {
		if known[spec.Kind].Paid && (pl.script == nil || pl.script.Agent == name) {
			return true
		}
	}
	return false
}

// ErrDeclined says that somebody was asked whether a run may start, and said
// no.
var ErrDeclined = errors.New("not started")

// confirmPaid shows a person what many agents that cost money are about to do,
// and asks once. Where nobody sits at a terminal nobody is asked.
func (p *place) confirmPaid(pl *plan, yes bool) error {
	known := p.env.kinds().ByName()
	counts, paid := map[string]int{}, 0
	for _, call := range pl.calls {
		spec := pl.config.Agents[call.Agent]
		if spec == nil || !known[spec.Kind].Paid {
			continue
		}
		paid++
		counts[strings.TrimSpace(spec.Name+" "+engine.SpecOf(pl.config, call).Model)]++
	}
	if paid <= unasked || yes {
		return nil
	}
	var lines []string
	for _, who := range slices.Sorted(maps.Keys(counts)) {
		lines = append(lines, fmt.Sprintf("%s: %s", Printable(who), Count(counts[who], "agent", "agents")))
	}
	budget := totalText(pl.config.Budget)
	if budget == "" {
		budget = "none"
	}
	return p.env.askToStart(append(lines, fmt.Sprintf("%d at once; budget: %s", pl.config.Jobs, budget))...)
}

// askToStart shows what is about to start and asks once. Where nobody sits at
// a terminal nobody is asked.
func (env Env) askToStart(lines ...string) error {
	in, isFile := env.Stdin.(interface{ Fd() uintptr })
	if !isFile || !detect(env.Stderr, env.Getenv).TTY || !isTerminal(in.Fd()) {
		return nil
	}
	for _, line := range lines {
		fmt.Fprintln(env.Stderr, line)
	}
	fmt.Fprint(env.Stderr, "Start them? [y/N] ")
	answer, err := bufio.NewReader(env.input()).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return &ExitError{Code: CodeApproval, Err: ErrDeclined}
	}
	return nil
}
