package config

import (
	"math"
	"time"
)

// DefaultMaxAgents is how many agents a run may start in its life where no file
// says.
const DefaultMaxAgents = 1000

// Keys whose origin something asks for, by their dotted names.
const (
	agentKey   = "run.default_agent"
	backendKey = "workspace.backend"
	jobsKey    = "limits.jobs"
)

// runKeys are the keys of the table [run].
func runKeys() []key[Config] {
	return []key[Config]{
		{
			"default_agent", nameShape(), nil, "none: `--agent` must name one",
			"agent for prompts",
			func(c *Config, f field) error { return f.intoAgentName(&c.DefaultAgent) },
			func(c *Config) any { return c.DefaultAgent },
		}, {
			"questions", wordShape(QuestionsWait, QuestionsDeny), nil,
			"`\"wait\"` on a terminal or detached, else `\"deny\"`",
			"questions of agents wait for an answer, or are denied at once",
			func(c *Config, f field) error { return f.intoWord(&c.Questions) },
			func(c *Config) any { return c.Questions.String() },
		}, {
			"notify", scriptShape(), "", "none",
			"runs when a run ends or has a question, with JSON on standard input",
			func(c *Config, f field) error { return c.readNotify(f) },
			func(c *Config) any { return c.Notify },
		}, {
			"overlap", wordShape(OverlapWarn, OverlapSerialize, OverlapRefuse), OverlapWarn.String(), "",
			"tasks with overlapping `paths` get a warning, run one after the other, or are refused",
			func(c *Config, f field) error { return f.intoWord(&c.Overlap) },
			func(c *Config) any { return c.Overlap.String() },
		}, {
			"mention_changes", boolShape(), true, "",
			"prompts say in a line how many files have uncommitted changes that agents do not see",
			func(c *Config, f field) error {
				mention := true
				err := f.intoBool(&mention)
				c.HideChanges = !mention
				return err
			},
			func(c *Config) any { return !c.HideChanges },
		},
	}
}

// workspaceKeys are the keys of the table [workspace].
func workspaceKeys() []key[Config] {
	return []key[Config]{
		{
			"backend", wordShape(BackendAuto, BackendOverlay, BackendReflink, BackendCopy, BackendWorktree), BackendAuto.String(), "",
			"how workspaces are made; `\"auto\"`: the cheapest backend that works here",
			func(c *Config, f field) error { return f.intoWord(&c.Backend) },
			func(c *Config) any { return c.Backend.String() },
		}, {
			"warm", scriptShape(), "", "none",
			"runs once at the base before the first agent, to fill caches for all",
			func(c *Config, f field) error { return c.readScript(f, &c.Warm) },
			func(c *Config) any { return c.Warm },
		}, {
			"setup", scriptShape(), "", "none",
			"runs in each workspace before its agent",
			func(c *Config, f field) error { return c.readScript(f, &c.Setup) },
			func(c *Config) any { return c.Setup },
		}, {
			"verify", scriptShape(), "", "none",
			"checks the patch of each agent, and each merge",
			func(c *Config, f field) error { return c.readScript(f, &c.Verify) },
			func(c *Config) any { return c.Verify },
		}, {
			"max_size", sizeShape(0), sizeText(0), "none",
			"bytes that an agent may write; swarm stops an agent that writes more; `\"0B\"`: no limit",
			func(c *Config, f field) error { return c.readMaxSize(f) },
			func(c *Config) any { return sizeText(c.MaxSize) },
		},
	}
}

// numberKeys are those of the table [limits] that count agents.
func numberKeys() []key[Config] {
	return []key[Config]{
		{
			"jobs", wholeShape(1, 100), nil, "by memory, processes",
			"agents that run at once",
			func(c *Config, f field) error { return f.intoInt(&c.Jobs, 1, 100) },
			func(c *Config) any { return c.Jobs },
		}, {
			"max_agents", wholeShape(1, math.MaxInt), DefaultMaxAgents, "",
			"agents that a run starts at most",
			func(c *Config, f field) error { return readCount(c, f, &c.MaxAgents, 1, math.MaxInt) },
			func(c *Config) any { return c.MaxAgents },
		}, {
			"retries", wholeShape(0, 100), 0, "",
			"retries of a transient failure",
			func(c *Config, f field) error { return readCount(c, f, &c.Retries, 0, 100) },
			func(c *Config) any { return c.Retries },
		},
	}
}

// timeKeys are those of the table [limits] that bound how long something takes.
func timeKeys() []key[Config] {
	return []key[Config]{
		{
			"timeout", durationShape(), "0s", "none",
			"time of one attempt",
			func(c *Config, f field) error { return f.intoDuration(&c.Timeout) },
			func(c *Config) any { return durationText(c.Timeout) },
		}, {
			"idle_timeout", durationShape(), "0s", "none",
			"time without output of an agent",
			func(c *Config, f field) error { return f.intoDuration(&c.IdleTimeout) },
			func(c *Config) any { return durationText(c.IdleTimeout) },
		}, {
			"run_timeout", durationShape(), "0s", "none",
			"time of the whole run",
			func(c *Config, f field) error { return f.intoDuration(&c.RunTimeout) },
			func(c *Config) any { return durationText(c.RunTimeout) },
		},
	}
}

// budgetKeys returns the keys of the table [limits] that bound the spending of
// a run.
func budgetKeys() []key[Config] {
	return []key[Config]{
		{
			"budget_tokens", wholeShape(0, math.MaxInt), 0, "none",
			"output and reasoning tokens of a run",
			func(c *Config, f field) error {
				return readBound(c, f, &c.BudgetTokens, func(n *int) error { return f.intoInt(n, 0, math.MaxInt) })
			},
			func(c *Config) any { return c.BudgetTokens },
		}, {
			"budget_usd", amountShape(), 0.0, "none",
			"dollars of a run",
			func(c *Config, f field) error { return readBound(c, f, &c.BudgetUSD, f.intoAmount) },
			func(c *Config) any { return c.BudgetUSD },
		}, {
			"budget_time", durationShape(), "0s", "none",
			"time in which agents of a run work",
			func(c *Config, f field) error { return readBound(c, f, &c.BudgetTime, f.intoDuration) },
			func(c *Config) any { return durationText(c.BudgetTime) },
		},
	}
}

// readScript reads a script. A repository may switch off a script of the user;
// the user is told.
func (c *Config) readScript(f field, to *string) error {
	if err := f.intoString(to); err != nil {
		return err
	}
	switch {
	case f.layer == User:
		c.scripts[f.key] = *to != ""
	case *to != "":
		delete(c.off, f.key)
	case c.scripts[f.key]:
		c.off[f.key] = &Error{File: f.file, Line: f.node.line, Key: f.key, Reason: "is empty, which switches off the user's"}
	}
	return nil
}

// readNotify reads the command that calls a person. A repository cannot switch
// off the user's command. An empty script needs no approval, and a user who
// relies on the call would wait for ever.
func (c *Config) readNotify(f field) error {
	var script string
	if err := f.intoString(&script); err != nil {
		return err
	}
	switch {
	case f.layer == User:
		c.scripts[f.key] = script != ""
	case script == "" && c.scripts[f.key]:
		return c.ignore(f, nil, "a repository does not switch off the notify of the user")
	}
	c.Notify = script
	return nil
}

// readCount reads a limit of agents in a run, or of tries of an agent. A
// repository may lower the user's limit, and not raise it.
func readCount(c *Config, f field, to *int, least, most int) error {
	var n int
	if err := f.intoInt(&n, least, most); err != nil {
		return err
	}
	allowed, said := c.bounds[f.key]
	switch {
	case f.layer == User:
		c.bounds[f.key] = float64(n)
	case said && float64(n) > allowed:
		return c.ignore(f, nil, "a repository may lower how many agents the user allows, and not raise it")
	}
	*to = n
	return nil
}

// readBound reads a bound on the spending of a run; 0 is any amount. A
// repository may lower the user's bound, and neither raises nor lifts it.
func readBound[T int | float64 | time.Duration](c *Config, f field, to *T, read func(*T) error) error {
	var n T
	if err := read(&n); err != nil {
		return err
	}
	most := c.bounds[f.key]
	switch {
	case f.layer == User:
		c.bounds[f.key] = float64(n)
	case most > 0 && (n == 0 || float64(n) > most):
		return c.ignore(f, nil, "a repository may lower the budget of the user, not raise it")
	}
	*to = n
	return nil
}
