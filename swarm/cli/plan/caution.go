package plan

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/config"
	"agentswarm/swarm/fanout"
	"agentswarm/swarm/policy"
	"agentswarm/swarm/script"
	"agentswarm/swarm/task"
)

// CautionFlags are those of every command that runs agents.
func CautionFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "confined", Usage: "in a full sandbox, ask about destroying an agent's own files, or capture them and proceed: `ask|snapshot` (default: ask)"},
		&cli.StringSliceFlag{Name: "allow", Usage: "grant `ITEM`, such as 'push to feature/* branches', written as in AGENTS.md; may be given again"},
		&cli.StringFlag{Name: "audit", Usage: "also record decisions about SAFE actions: `all`"},
	}
}

// planCaution lays the flags over the configured policy. No file takes back the
// policy that a run got at its start.
func planCaution(p *cmdline.Place, pl *Plan, conf *config.Config) error {
	given := pl.Policy
	pl.Policy = policy.Configured(conf)
	pl.Policy.Allow, pl.Policy.Audit = given.Allow, given.Audit
	if err := p.Cautious(&pl.Policy); err != nil {
		return err
	}
	if slices.ContainsFunc(pl.workflow.Tasks, func(t fanout.Task) bool { return len(t.Allow) > 0 }) {
		if err := p.Personal("the allow of a task"); err != nil {
			return err
		}
	}
	if pl.Verb == "resume" {
		// The plan differs from the recorded policy of the run; without this
		// line only that would be read.
		planned := pl.Policy
		p.Cautious = func(c *policy.Policy) error { *c = planned; return nil }
	}
	return nil
}

// SayNotes reports settings of the repository's files that do not count, settings
// of the user's that they switch off, and a -j that does not fit.
func SayNotes(p *cmdline.Place, pl *Plan) {
	for _, e := range pl.notes {
		fmt.Fprintln(p.Env.Stderr, termtext.Line(e.Error()))
	}
	if pl.fewer != "" {
		fmt.Fprintln(p.Env.Stderr, termtext.Line(pl.fewer))
	}
}

// CheckAllow is a check of the calls of a script that refuses an allow, too,
// where it is no person's: agents do not grant anything to each other, and a
// model that hands in a script of its own would do nothing else. dispatched is
// recorded with the script, so that a resume does not grant it either.
func CheckAllow(p *cmdline.Place, dispatched bool, check func(*task.Call) error) func(*task.Call) error {
	person := sync.OnceValue(func() error {
		const what = "allow"
		if dispatched {
			return &cmdline.AgentError{What: what, Why: "a model handed this script in"}
		}
		return p.Personal(what)
	})
	return func(call *task.Call) error {
		if err := check(call); err != nil || len(call.Allow) == 0 {
			return err
		}
		err := person()
		if agent := (*cmdline.AgentError)(nil); errors.As(err, &agent) {
			return script.Refuse(script.CodePolicy, "%v", err)
		}
		return err
	}
}
