package plan

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/config"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/inbox"
)

// ContactFlags are those of every command that runs agents.
func ContactFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "questions", Usage: "let questions of agents wait for an answer, or deny them at once: `wait|deny` (default: wait on a terminal or detached)"},
		&cli.DurationFlag{Name: "question-timeout", Usage: "deny an action that is not answered within `TIME` (default: 10m)"},
		&cli.StringFlag{Name: "notify", Usage: "run `CMD` by sh -c at questions and the end of the run, with JSON on standard input"},
	}
}

// configuredContact has the values of the configuration files.
func configuredContact(c *config.Config) session.Contact {
	a := session.Contact{Notify: c.Notify}
	if c.Questions != config.QuestionsUnset {
		a.Questions = inbox.Policy(c.Questions.String())
	}
	return a
}

// contactGiven has the values of the flags.
type contactGiven struct {
	questions inbox.Policy  // empty: nothing
	notify    *string       // nil: nothing
	patience  time.Duration // with a question about an action; 0: nothing
}

func readContactFlags(c *cli.Context) (contactGiven, error) {
	var g contactGiven
	if c.IsSet("questions") {
		if err := g.questions.UnmarshalText([]byte(c.String("questions"))); err != nil {
			return g, exit.Usagef("%s: --questions %v", c.Command.Name, err)
		}
	}
	if c.IsSet("question-timeout") {
		if g.patience = c.Duration("question-timeout"); g.patience <= 0 {
			return g, exit.Usagef("%s: --question-timeout %s: want a duration above zero, such as 30m", c.Command.Name, g.patience)
		}
	}
	if c.IsSet("notify") {
		text := c.String("notify")
		g.notify = &text
	}
	return g, nil
}

// Lay lays the flags over the configured or recorded values.
func (g contactGiven) Lay(c *session.Contact) {
	if g.questions != "" {
		c.Questions = g.questions
	}
	if g.notify != nil {
		c.Notify = *g.notify
	}
}

// layPatience lays the time that questions about actions wait over the
// configured or recorded time.
func (g contactGiven) layPatience(c *engine.Config) {
	if g.patience != 0 {
		c.QuestionTime = g.patience
	}
}

// AskingPolicy decides how questions are treated. Without another setting they
// wait if a person can see them now or later.
func AskingPolicy(p *cmdline.Place, a session.Contact) inbox.Policy {
	switch {
	case a.Questions != "":
		return a.Questions
	case p.Env.Getenv(DetachedVar) != "":
		return inbox.Wait
	case cmdline.Attended(p):
		return inbox.Wait
	default:
		return inbox.Deny
	}
}

// SayQuestions reports how questions are treated, if agents can ask any.
func SayQuestions(p *cmdline.Place, c engine.Config, policy inbox.Policy) {
	for _, spec := range c.Agents {
		if spec.Input != agent.InputJSONL {
			continue
		}
		if policy == inbox.Wait {
			fmt.Fprintf(p.Env.Stderr, "questions: wait in the inbox; see `%s inbox`\n", p.Env.Calls)
		} else {
			fmt.Fprintln(p.Env.Stderr, "questions: denied at once (--questions wait lets them wait)")
		}
		return
	}
}
