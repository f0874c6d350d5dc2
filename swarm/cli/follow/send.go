package follow

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/control"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// NewSendCommand returns the command `swarm send`.
func NewSendCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "send",
		Usage:     "send a message to running agents",
		ArgsUsage: "[AGENT… | -] TEXT",
		Flags:     []cli.Flag{selection.RunningFlag(), cmdline.JSONFlag()},
		Description: `Sends a message to agents while they work. An agent takes messages if it has input =
"jsonl" and its session says that it can steer. --running sends to every running
agent of the run that takes messages. The text - is read from standard input. With
--json, one object a line. For an agent that has ended, use retry --feedback.

Examples:
  swarm send a3 "leave the tests alone"
  swarm send a3 a4 "leave the tests alone"
  swarm send --running "commit what you have"
  swarm send k3x9q2/a3 - < remarks.txt`,
		Action: func(c *cli.Context) error { return sendAction(c, env) },
	}
}

// sentObject is swarm.sent/1, described in docs/json.md.
type sentObject struct {
	Schema string  `json:"schema"`
	Run    string  `json:"run"`
	Agent  task.ID `json:"agent"`
	Text   string  `json:"text"`
}

func sendAction(c *cli.Context, env cmdline.Env) error {
	if err := cmdline.Personal(env, "sending messages to agents"); err != nil {
		return err
	}
	by := selection.ReadSelector(c)
	least := 2
	if !by.Empty() {
		least = 1 // the selector names the agents
	}
	args, err := cmdline.Arguments(c, least, -1)
	if err != nil {
		return err
	}
	addresses, text := args[:len(args)-1], args[len(args)-1]
	if text == selection.FromInput && slices.Contains(addresses, selection.FromInput) {
		return exit.Usagef("send: standard input is either the text or the list of agents")
	}
	if addresses, err = selection.InputAddresses("send", cmdline.Input(env), addresses); err != nil {
		return err
	}
	p, err := cmdline.Open(c, env)
	if err != nil {
		return err
	}
	s, err := selection.Run(c.Context, p, addresses)
	if err != nil {
		return err
	}
	if !by.Empty() {
		s.Named, s.Chosen = by.Pick(s.Agents()), by
	}
	if err := s.NonePicked("send"); err != nil {
		return err
	}
	if err := refuseEnded(s, addresses); err != nil {
		return err
	}
	if text, err = messageText(text, cmdline.Input(env)); err != nil {
		return err
	}
	return send(p, c, s, text)
}

// send sends a text to the selected agents. An agent that refuses it does not
// keep it from the others. The refusal is printed and is the error of the
// command, unless a selector picked the agent and another agent took the text.
func send(p *cmdline.Place, c *cli.Context, s *selection.Selection, text string) error {
	client, err := session.Reach(c.Context, p, s.Run)
	if err != nil {
		return err
	}
	defer client.Close()
	if !c.Bool("json") {
		s.PrintLatest(p.Env)
	}
	var refusals []error
	agents := selection.Distinct(s.Named)
	for _, a := range agents {
		err := WithExitCode(client.Ask(c.Context, &control.Send{Agent: a.ID, Text: text}))
		var refused *exit.Error
		switch {
		case errors.As(err, &refused):
			refusals = append(refusals, err)
			continue
		case err != nil:
			return err
		}
		if c.Bool("json") {
			err = cmdline.PrintJSON(p.Env.Stdout, sentObject{Schema: "swarm.sent/1", Run: s.Run.ID, Agent: a.ID, Text: text})
		} else {
			_, err = fmt.Fprintf(p.Env.Stdout, "sent to %s\n", termtext.Line(lander.Names([]*store.Agent{a})))
		}
		if err != nil {
			return err
		}
	}
	if len(refusals) == 0 {
		return nil
	}
	last := len(refusals) - 1
	if !s.Chosen.Empty() && len(refusals) < len(agents) {
		last++ // the selector means those that take messages
	}
	for _, err := range refusals[:last] {
		fmt.Fprintf(p.Env.Stderr, "%s: %s\n", cmdline.Program, termtext.Line(err.Error()))
	}
	if last == len(refusals) {
		return nil
	}
	return refusals[last]
}

// refuseEnded refuses agents that have ended, and a run in the place of an agent.
func refuseEnded(s *selection.Selection, addresses []string) error {
	if !s.OnlyAgents() {
		return exit.Usagef("send: %q is a run; name an agent of it, such as %s/a1", firstRun(s, addresses), s.Run.ID)
	}
	for _, a := range s.Named {
		if a.Result() != nil {
			advice := fmt.Sprintf("start it again with the message: %s retry %s/%s --feedback TEXT", cmdline.Program, s.Run.ID, a.ID)
			if task.Prompt(a.Call.Input) == "" { // a retry takes no feedback for it
				advice = fmt.Sprintf("start it again: %s retry %s/%s", cmdline.Program, s.Run.ID, a.ID)
			}
			return &exit.UsageError{
				Text:   fmt.Sprintf("send: %s has ended: %s", a.ID, task.Word(a.Status)),
				Advice: advice,
			}
		}
	}
	if s.View.Status != store.RunRunning {
		return exit.Usagef("send: run %s has ended: %s", s.Run.ID, s.View.Status)
	}
	return nil
}

// firstRun is the first address that names no agent.
func firstRun(s *selection.Selection, addresses []string) string {
	for _, text := range addresses {
		if text == s.Run.ID {
			return text
		}
	}
	return addresses[0]
}

// maxMessage bounds a text from standard input, in bytes; a control request
// takes no more.
const maxMessage = 200 << 10

// messageText is the text to send.
func messageText(text string, stdin io.Reader) (string, error) {
	if text == selection.FromInput {
		read, err := io.ReadAll(io.LimitReader(stdin, maxMessage+1))
		if err != nil {
			return "", fmt.Errorf("read standard input: %w", err)
		}
		text = strings.TrimRight(string(read), "\n")
	}
	switch {
	case strings.TrimSpace(text) == "":
		return "", exit.Usagef("send: the text is empty")
	case !utf8.ValidString(text):
		return "", exit.Usagef("send: the text is not UTF-8")
	case len(text) > maxMessage:
		return "", exit.Usagef("send: the text is longer than %s", termtext.Bytes(maxMessage))
	}
	return text, nil
}
