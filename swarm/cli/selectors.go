package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/selector"
	"agentswarm/swarm/store"
)

// selectorFlags are the flags of commands that take a list of agents, ended or
// not.
func selectorFlags() []cli.Flag { return append(endedFlags(), runningFlag()) }

// runningFlag picks agents for commands that act on agents at work.
func runningFlag() cli.Flag {
	return &cli.BoolFlag{Name: "running", Usage: "only agents that have not ended"}
}

// endedFlags are the flags of commands that act on the work of ended agents.
func endedFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "failed", Usage: "only agents that failed, or whose check failed"},
		&cli.BoolFlag{Name: "verified", Usage: "only agents whose check passed"},
		&cli.BoolFlag{Name: "unlanded", Usage: "only agents with a patch that did not land"},
	}
}

// readSelector reads the selector flags; a command without them has none.
func readSelector(c *cli.Context) selector.Selector {
	return selector.Selector{Failed: c.Bool("failed"), Verified: c.Bool("verified"), Unlanded: c.Bool("unlanded"), Running: c.Bool("running")}
}

// maxAddresses bounds the addresses on standard input, in bytes.
const maxAddresses = 1 << 20

// fromInput stands for the addresses on standard input.
const fromInput = "-"

// addressArguments are the arguments of a command that takes from least to most
// addresses.
func addressArguments(c *cli.Context, env cmdline.Env, least, most int) ([]string, error) {
	args := c.Args().Slice()
	if most == 1 || !slices.Contains(args, fromInput) {
		return cmdline.Arguments(c, least, most)
	}
	return inputAddresses(c.Command.Name, cmdline.Input(env), args)
}

// inputAddresses replaces the address - by the words on standard input, so that
// the output of a command can be the list of another.
func inputAddresses(verb string, stdin io.Reader, args []string) ([]string, error) {
	at := slices.Index(args, fromInput)
	if at < 0 {
		return args, nil
	}
	if slices.Contains(args[at+1:], fromInput) {
		return nil, exit.Usagef("%s: %s is given twice", verb, fromInput)
	}
	text, err := io.ReadAll(io.LimitReader(stdin, maxAddresses+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read standard input: %w", err)
	case len(text) > maxAddresses:
		return nil, exit.Usagef("%s: standard input is longer than %s", verb, termtext.Bytes(maxAddresses))
	}
	words := strings.Fields(string(text))
	if args = slices.Concat(args[:at], words, args[at+1:]); len(args) == 0 {
		return nil, &noWorkError{text: verb + ": standard input names no run and no agent"}
	}
	return args, nil
}

// noWorkError ends a command that has nothing to do. It is no failure: the
// command says so in a line, and its exit code is 0.
type noWorkError struct {
	text   string
	object any // the result with --json; nil: a [nothingObject]
}

func (e *noWorkError) Error() string { return e.text }

// nothingObject is swarm.nothing/1, described in docs/json.md.
type nothingObject struct {
	Schema string `json:"schema"`
	Reason string `json:"reason"`
}

// print tells it to a person, or as the object of --json.
func (e *noWorkError) print(env cmdline.Env, asJSON bool) error {
	if !asJSON {
		_, err := fmt.Fprintln(env.Stdout, termtext.Text(e.text))
		return err
	}
	if e.object != nil {
		return cmdline.PrintJSON(env.Stdout, e.object)
	}
	return cmdline.PrintJSON(env.Stdout, nothingObject{Schema: "swarm.nothing/1", Reason: e.text})
}

// sayLatest names the run that an address without one has meant: after another
// run the same words mean other agents.
func (s *selection) sayLatest(env cmdline.Env) {
	if s.latest {
		fmt.Fprintf(env.Stderr, "run %s, the latest\n", s.run.ID)
	}
}

// keep leaves out those that a selector picked and that the command has nothing to
// do for. Agents that are named stay: the command says why it refuses them.
func (s *selection) keep(fits func(*store.Agent) bool) {
	if !s.chosen.Empty() {
		s.named = slices.DeleteFunc(s.named, func(a *store.Agent) bool { return !fits(a) })
	}
}

// keepMergeable is keep for commands that take patches. A selector narrows what a
// merge takes by itself and is not a name: it does not pick the loser of a race,
// a rejected patch, or one that failed and was not accepted.
func (s *selection) keepMergeable(fits func(*store.Agent) bool) {
	review := reviewOf(s.view)
	s.keep(func(a *store.Agent) bool { return landing.Landable(review, a) == nil && fits(a) })
}

// nonePicked ends a command whose selector picks no agent; nil where it picks
// some, or none is given.
func (s *selection) nonePicked(verb string) error {
	if s.chosen.Empty() || len(s.named) > 0 {
		return nil
	}
	return &noWorkError{text: fmt.Sprintf("%s: nothing to do in run %s with %s", verb, s.run.ID, s.chosen)}
}

// onlyAgents reports whether agents alone are named, or a selector picks them.
func (s *selection) onlyAgents() bool {
	return !s.chosen.Empty() || len(s.named) == s.addressed
}
