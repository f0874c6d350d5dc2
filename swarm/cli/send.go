package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/control"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

func newSendCommand(env Env) *cli.Command {
	return &cli.Command{
		Name:      "send",
		Usage:     "send a message to a running agent",
		ArgsUsage: "AGENT TEXT",
		Flags:     []cli.Flag{jsonFlag()},
		Description: `Sends a text to an agent while it works, if it takes any: one with input =
"jsonl" whose session says that it can steer. The text - is read from standard
input. What the agent makes of it is its own business; retry starts it again
with a remark.

Examples:
  swarm send a3 "leave the tests alone"
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

func sendAction(c *cli.Context, env Env) error {
	if err := env.personal("sending words to agents"); err != nil {
		return err
	}
	args, err := arguments(c, 2, 2)
	if err != nil {
		return err
	}
	p, err := openPlace(c, env)
	if err != nil {
		return err
	}
	s, err := p.selectRun(c.Context, args[:1])
	if err != nil {
		return err
	}
	a, err := s.atWork(args[0])
	if err != nil {
		return err
	}
	text, err := wordOf(args[1], env.input())
	if err != nil {
		return err
	}
	client, err := p.reach(c.Context, s.run)
	if err != nil {
		return err
	}
	err = carried(client.Ask(c.Context, &control.Send{Agent: a.ID, Text: text}))
	if err = errors.Join(err, client.Close()); err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(env.Stdout, sentObject{
			Schema: "swarm.sent/1", Run: s.run.ID, Agent: a.ID, Text: text,
		})
	}
	_, err = fmt.Fprintf(env.Stdout, "sent to %s\n", Printable(labels([]*store.Agent{a})))
	return err
}

// atWork is the one agent that was named, if it could be at work.
func (s *selection) atWork(address string) (*store.Agent, error) {
	if len(s.named) != 1 {
		return nil, usagef("send: %q is a run; name an agent of it, such as %s/a1", address, s.run.ID)
	}
	a := s.named[0]
	switch {
	case a.Result() != nil:
		return nil, &UsageError{
			Text:   fmt.Sprintf("send: %s has ended: %s", a.ID, task.Word(a.Status)),
			Advice: "a word reaches agents only while they work",
		}
	case s.view.Status != store.RunRunning:
		return nil, usagef("send: run %s has ended: %s", s.run.ID, s.view.Status)
	}
	return a, nil
}

// mostWord bounds a text from standard input, in bytes; a control request
// takes no more.
const mostWord = 200 << 10

// wordOf is the text to send.
func wordOf(text string, stdin io.Reader) (string, error) {
	if text == "-" {
		read, err := io.ReadAll(io.LimitReader(stdin, mostWord+1))
		if err != nil {
			return "", fmt.Errorf("read standard input: %w", err)
		}
		text = strings.TrimRight(string(read), "\n")
	}
	switch {
	case strings.TrimSpace(text) == "":
		return "", usagef("send: the text is empty")
	case !utf8.ValidString(text):
		return "", usagef("send: the text is not UTF-8")
	case len(text) > mostWord:
		return "", usagef("send: the text is longer than %s", Bytes(mostWord))
	}
	return text, nil
}
