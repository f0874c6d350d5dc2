package selection

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/selector"
	"agentswarm/swarm/store"
)

// SelectorFlags returns the flags of commands that take a list of agents, ended or not.
func SelectorFlags() []cli.Flag { return append(EndedFlags(), RunningFlag()) }

// RunningFlag returns the flag of commands that act on running agents.
func RunningFlag() cli.Flag {
	return &cli.BoolFlag{Name: "running", Usage: "only agents that have not ended"}
}

// EndedFlags returns the flags of commands that act on the work of ended agents.
func EndedFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "failed", Usage: "only agents that failed, or whose check failed"},
		&cli.BoolFlag{Name: "verified", Usage: "only agents whose check passed"},
		&cli.BoolFlag{Name: "unlanded", Usage: "only agents with a patch that did not land"},
	}
}

// ReadSelector reads the selector flags; a command without them has none.
func ReadSelector(c *cli.Context) selector.Selector {
	return selector.Selector{Failed: c.Bool("failed"), Verified: c.Bool("verified"), Unlanded: c.Bool("unlanded"), Running: c.Bool("running")}
}

// maxAddresses bounds the addresses on standard input, in bytes.
const maxAddresses = 1 << 20

// FromInput stands for the addresses on standard input.
const FromInput = "-"

// AddressArguments returns the addresses of a command that takes from least to most of them. It
// returns a usage error for another number.
func AddressArguments(c *cli.Context, env cmdline.Env, least, most int) ([]string, error) {
	args := c.Args().Slice()
	if most == 1 || !slices.Contains(args, FromInput) {
		return cmdline.Arguments(c, least, most)
	}
	return InputAddresses(c.Command.Name, cmdline.Input(env), args)
}

// InputAddresses replaces the address - by the words on standard input. It returns a usage
// error if there are none or too many.
func InputAddresses(verb string, stdin io.Reader, args []string) ([]string, error) {
	at := slices.Index(args, FromInput)
	if at < 0 {
		return args, nil
	}
	if slices.Contains(args[at+1:], FromInput) {
		return nil, exit.Usagef("%s: %s is given twice", verb, FromInput)
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
		return nil, &NoWorkError{Text: verb + ": standard input names no run and no agent"}
	}
	return args, nil
}

// NoWorkError ends a command that has nothing to do. It is no failure: the
// command says so in a line, and its exit code is 0.
type NoWorkError struct {
	Text   string
	Object any // the result with --json; nil: a [nothingObject]
}

func (e *NoWorkError) Error() string { return e.Text }

// nothingObject is swarm.nothing/1, described in docs/json.md.
type nothingObject struct {
	Schema string `json:"schema"`
	Reason string `json:"reason"`
}

// Print writes it as a line or as the object of --json. It returns the error of the writer.
func (e *NoWorkError) Print(env cmdline.Env, asJSON bool) error {
	if !asJSON {
		_, err := fmt.Fprintln(env.Stdout, termtext.Text(e.Text))
		return err
	}
	if e.Object != nil {
		return cmdline.PrintJSON(env.Stdout, e.Object)
	}
	return cmdline.PrintJSON(env.Stdout, nothingObject{Schema: "swarm.nothing/1", Reason: e.Text})
}

// PrintLatest names the run that an address without a run has meant: after
// another run the same words mean other agents.
func (s *Selection) PrintLatest(env cmdline.Env) {
	if s.Latest {
		fmt.Fprintf(env.Stderr, "run %s, the latest\n", s.Run.ID)
	}
}

// Keep leaves out those that a selector picked and that the command has nothing to
// do for. Agents that are named stay: the command says why it refuses them.
func (s *Selection) Keep(fits func(*store.Agent) bool) {
	if !s.Chosen.Empty() {
		s.Named = slices.DeleteFunc(s.Named, func(a *store.Agent) bool { return !fits(a) })
	}
}

// KeepMergeable is keep for commands that take patches. A selector narrows the
// patches of a merge and is not a name. It does not pick the loser of a race, a
// rejected patch, or the patch of a failed agent that was not accepted.
func (s *Selection) KeepMergeable(fits func(*store.Agent) bool) {
	review := session.ReviewOf(s.View)
	s.Keep(func(a *store.Agent) bool { return landing.Landable(review, a) == nil && fits(a) })
}

// NonePicked returns a NoWorkError if the selector picks no agent. It returns nil if it picks
// some, or none is given.
func (s *Selection) NonePicked(verb string) error {
	if s.Chosen.Empty() || len(s.Named) > 0 {
		return nil
	}
	return &NoWorkError{Text: fmt.Sprintf("%s: nothing to do in run %s with %s", verb, s.Run.ID, s.Chosen)}
}

// OnlyAgents reports whether agents alone are named, or a selector picks them.
func (s *Selection) OnlyAgents() bool {
	return !s.Chosen.Empty() || len(s.Named) == s.addressed
}
