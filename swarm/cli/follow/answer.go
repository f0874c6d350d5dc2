package follow

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/config"
	"agentswarm/swarm/control"
	"agentswarm/swarm/event"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/inbox"
	"agentswarm/swarm/inbox/waiting"
	"agentswarm/swarm/task"
)

// NewAnswerCommand returns the command `swarm answer`.
func NewAnswerCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "answer",
		Usage:     "answer a question of an agent",
		ArgsUsage: "ID [yes|no|TEXT]",
		Flags:     append(answerFlags(), allFlag()),
		Description: `Answers one question of the inbox. A request for permission takes yes or no;
"yes, TEXT" and "no, TEXT" also pass the text to the agent. Any other text is
refused. A question that asks for words takes any text. Without an answer the
command shows the question and asks for one, on a terminal. An id may be
shortened while it means one question.

An answer also holds for other agents that ask for the same action now. A yes to a
DESTRUCTIVE action holds for one agent, unless --all is given.

With --for run the answer holds for the same action of any agent of the run; what
is DESTRUCTIVE when it is asked is not allowed by it.

Examples:
  swarm answer k3x9q2-1 yes
  swarm answer 2 no --reason "not on a Friday"
  swarm answer 3 "yes, but only the staging database"
  swarm answer k3x9q2-3 "the staging database"
  swarm answer k3x9q2-4`,
		Action: func(c *cli.Context) error {
			args, err := cmdline.Arguments(c, 1, 2)
			if err != nil {
				return err
			}
			return answerAction(c, env, func(p *cmdline.Place, all []waiting.Question) (*control.Answer, error) {
				if len(args) == 2 {
					return answerText(all[0], args[1])
				}
				return askAnswer(p, all[0])
			}, args[:1]...)
		},
	}
}

// NewApproveCommand returns the command `swarm approve`.
func NewApproveCommand(env cmdline.Env) *cli.Command {
	return shortCommand(env, "approve", "allow what agents ask for", true)
}

// NewDenyCommand returns the command `swarm deny`.
func NewDenyCommand(env cmdline.Env) *cli.Command {
	return shortCommand(env, "deny", "deny what agents ask for", false)
}

// shortCommand is `answer` with the answer in its name, for several questions.
func shortCommand(env cmdline.Env, name, usage string, allow bool) *cli.Command {
	flags, note := answerFlags(), ""
	if allow {
		flags = append(flags, allFlag())
		note = ` A
DESTRUCTIVE action is allowed for one agent, unless --all is given.`
	}
	return &cli.Command{
		Name: name, Usage: usage, ArgsUsage: "ID…", Flags: flags,
		Description: fmt.Sprintf(`Gives each named question of the inbox the same answer. The answer also holds for
other agents of the run that ask for the same action now.%[2]s

Examples:
  swarm %[1]s k3x9q2-1
  swarm %[1]s k3x9q2-1 k3x9q2-2 --for run`, name, note),
		Action: func(c *cli.Context) error {
			args, err := cmdline.Arguments(c, 1, -1)
			if err != nil {
				return err
			}
			return answerAction(c, env, func(*cmdline.Place, []waiting.Question) (*control.Answer, error) {
				return &control.Answer{Allow: allow}, nil
			}, args...)
		},
	}
}

func answerFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "for", Usage: "answer this question, or the same action of every agent of the run: `once|run`"},
		&cli.StringFlag{Name: "reason", Usage: "reason, which the agent gets"},
		&cli.StringFlag{Name: "confined", Usage: "save the value as risk.confined in your own configuration: `ask|snapshot`"},
		cmdline.JSONFlag(),
	}
}

// answerText reads the text of an answer to a question.
func answerText(q waiting.Question, text string) (*control.Answer, error) {
	switch {
	case strings.TrimSpace(text) == "":
		return nil, exit.Usagef("the answer is empty; say yes, no, or what the agent should know")
	case !utf8.ValidString(text):
		return nil, exit.Usagef("the answer is not UTF-8")
	}
	d, err := inbox.Decide(&q.Questioned, text)
	if unclear := (*inbox.UnclearError)(nil); errors.As(err, &unclear) && q.Doubt == nil {
		return nil, &exit.UsageError{Text: unclear.Error(), Advice: unclear.Hint()}
	}
	return &control.Answer{Allow: d.Allow, Text: d.Text, Reason: d.Reason}, nil
}

// answerAction finds the questions, gets the answer and gives it. Nothing is
// answered before all of the questions are known to wait.
func answerAction(c *cli.Context, env cmdline.Env, get func(*cmdline.Place, []waiting.Question) (*control.Answer, error), ids ...string) error {
	if err := cmdline.Personal(env, "answering questions"); err != nil {
		return err
	}
	span, err := answerSpan(c)
	if err != nil {
		return err
	}
	var confined config.Confined
	if c.IsSet("confined") {
		if err := confined.UnmarshalText([]byte(c.String("confined"))); err != nil {
			return exit.Usagef("%s: --confined %q: want ask or snapshot", c.Command.Name, c.String("confined"))
		}
	}
	p, err := cmdline.Open(c, env)
	if err != nil {
		return err
	}
	all, err := findQuestions(p, ids)
	if err != nil {
		return err
	}
	answer, err := get(p, all)
	if err != nil {
		return err
	}
	answer.For, answer.Reason = span, cmp.Or(c.String("reason"), answer.Reason)
	answer.All, answer.Snapshot = c.Bool("all"), confined == config.ConfinedSnapshot
	if confined != config.ConfinedUnset {
		if err := allOwn(all); err != nil {
			return err
		}
	}
	if err := giveAll(p, c, all, answer); err != nil || confined == config.ConfinedUnset {
		return err
	}
	return rememberConfined(p, confined)
}

// answerSpan is for how long an answer is to hold, with all that the flags of
// an answer say looked at.
func answerSpan(c *cli.Context) (span task.Span, err error) {
	if c.IsSet("for") {
		if err := span.UnmarshalText([]byte(c.String("for"))); err != nil {
			return span, exit.Usagef("%s: --for %q: want once or run", c.Command.Name, c.String("for"))
		}
	}
	if !utf8.ValidString(c.String("reason")) {
		return span, exit.Usagef("%s: --reason is not UTF-8", c.Command.Name)
	}
	return span, nil
}

// giveAll gives the same answer to several questions. It reports each result up
// to the first question that could not be answered.
func giveAll(p *cmdline.Place, c *cli.Context, all []waiting.Question, answer *control.Answer) (err error) {
	given := answeredObject{Schema: "swarm.answered/1", Answers: []answerObject{}}
	for i, q := range all {
		answer.ID, answer.Shown = q.ID, q.Shown()
		err = give(c.Context, p, q, answer)
		reply := &event.Replied{Allow: answer.Allow, For: answer.For, All: answer.All}
		before := func(other waiting.Question) bool { return q.AnsweredBy(other, reply) }
		if exit.CodeOf(err) == exit.Usage && slices.ContainsFunc(all[:i], before) {
			err = nil // an earlier answer of this loop answered it, too
		}
		if err != nil {
			break
		}
		given.add(q, answer)
		if !c.Bool("json") {
			fmt.Fprintln(p.Env.Stdout, outcomeText(q, answer))
		}
	}
	if c.Bool("json") && len(given.Answers) > 0 {
		err = errors.Join(cmdline.PrintJSON(p.Env.Stdout, given), err)
	}
	return err
}

// give takes an answer to the process that owns the run.
func give(ctx context.Context, p *cmdline.Place, q waiting.Question, answer *control.Answer) error {
	run, err := p.State.Run(q.Run)
	if err != nil {
		return err
	}
	client, err := session.Reach(ctx, p, run)
	if err != nil {
		return err
	}
	err = WithExitCode(client.Ask(ctx, answer))
	// The owner of the run knows better than its file whether it is open.
	unseen := &inbox.OtherError{ID: q.ID, Unseen: true}
	if q.Doubt != nil && exit.CodeOf(err) == exit.Usage && err.Error() != unseen.Error() {
		err = q.Doubt
	}
	return errors.Join(err, client.Close())
}

// WithExitCode gives an error from the owner of a run its exit code: a refused request is a usage
// error, and a refused peer needs approval. It returns any other error unchanged.
func WithExitCode(err error) error {
	var refused *control.RefusedError
	var answer *control.AnswerError
	switch {
	case errors.As(err, &refused):
		return &exit.Error{Code: exit.Approval, Err: err}
	case errors.As(err, &answer):
		return &exit.Error{Code: exit.Usage, Err: err}
	default:
		return err
	}
}

// outcomeText is an answer in a line.
func outcomeText(q waiting.Question, a *control.Answer) string {
	word := "denied"
	if a.Allow {
		word = "allowed"
	}
	line := q.ID + " " + word
	if len(a.Told) > 1 {
		line += fmt.Sprintf(" for %s: %s", termtext.Count(len(a.Told), "agent", "agents"), waiting.Ranges(a.Told))
		if a.For == task.ForTheRun {
			line += ", and for the run"
		}
		return line
	}
	_, inquiry := inbox.InquiryOf(&q.Questioned)
	if inquiry && a.Text != "" {
		line = q.ID + " answered: " + termtext.Line(a.Text)
	} else if q.Question.Agent == "" && q.Doubt == nil {
		line = q.ID + " answered: " + cmdline.YesOrNo(a.Allow)
	} else if q.Question.Agent != "" {
		line += ": " + termtext.Line(q.Who())
	}
	if a.For == task.ForTheRun {
		line += ", for the run"
	}
	return line
}

// askAnswer shows a question in full and asks the person at the terminal.
func askAnswer(p *cmdline.Place, q waiting.Question) (*control.Answer, error) {
	if q.Doubt != nil {
		return nil, q.Doubt
	}
	if !cmdline.Attended(p) {
		return nil, &exit.UsageError{
			Text:   "answer: what is the answer to " + q.ID + "?",
			Advice: fmt.Sprintf("`%s answer %s yes`, no, or the text of an answer", p.Env.Calls, q.ID),
		}
	}
	tier, reason := foundText(q.Risk)
	action := q.Action
	if q.Risk != nil {
		action = plainAction(action)
	}
	wants, choices := tier+wholeAction(action)+reason, "y or n"
	if in, ok := inbox.InquiryOf(&q.Questioned); ok {
		wants = termtext.Text(in.Question)
		if len(in.Choices) > 0 {
			choices = termtext.Line(strings.Join(in.Choices, ", "))
		}
	}
	fmt.Fprintf(p.Env.Stderr, "%s of run %s asked %s and wants:\n%s\nAnswer %s: ",
		termtext.Line(q.Who()), q.Run, termtext.Ago(time.Now(), q.Time), wants, choices)
	line, err := bufio.NewReader(cmdline.Input(p.Env)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	return answerText(q, line)
}

// findQuestions finds open questions by their ids.
func findQuestions(p *cmdline.Place, ids []string) ([]waiting.Question, error) {
	all, err := inboxWatcher(p).Find(ids)
	for i := range all {
		all[i].Doubt = refusedName(all[i].Doubt)
	}
	return all, refusedName(err)
}

// refusedName is refused for a name that means no open question.
func refusedName(err error) error {
	if of := (*waiting.NameError)(nil); errors.As(err, &of) {
		return cmdline.Refused(err)
	}
	return err
}
