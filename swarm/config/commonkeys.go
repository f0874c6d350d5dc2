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
			"the agent that a prompt goes to",
			func(c *Config, f field) error { return f.intoAgentName(&c.DefaultAgent) },
			func(c *Config) any { return c.DefaultAgent },
		}, {
			"questions", wordShape(QuestionsWait, QuestionsDeny), nil,
			"`\"wait\"` on a terminal or detached, else `\"deny\"`",
			"whether an agent that asks something waits for an answer or is told no at once",
			func(c *Config, f field) error { return f.intoWord(&c.Questions) },
			func(c *Config) any { return c.Questions.String() },
		}, {
			"notify", scriptShape(), "", "none",
			"run by `sh -c`, with JSON on its standard input, when a run ends or needs somebody",
			func(c *Config, f field) error { return c.readNotify(f) },
			func(c *Config) any { return c.Notify },
		}, {
			"overlap", wordShape(OverlapWarn, OverlapSerialize, OverlapRefuse), OverlapWarn.String(), "",
			"what happens to tasks whose `paths` overlap: they are named, run one after the other, or refused",
			func(c *Config, f field) error { return f.intoWord(&c.Overlap) },
			func(c *Config) any { return c.Overlap.String() },
		},
	}
}

// workspaceKeys are the keys of the table [workspace].
func workspaceKeys() []key[Config] {
	return []key[Config]{
		{
			"backend", wordShape(BackendAuto, BackendOverlay, BackendReflink, BackendCopy, BackendWorktree), BackendAuto.String(), "",
			"how workspaces are made; `\"auto\"`: the cheapest way that works here",
			func(c *Config, f field) error { return f.intoWord(&c.Backend) },
			func(c *Config) any { return c.Backend.String() },
		}, {
			"warm", scriptShape(), "", "none",
			"run by `sh -c` once before the first agent, at the base, to fill the caches that all agents stand on",
			func(c *Config, f field) error { return c.readScript(f, &c.Warm) },
			func(c *Config) any { return c.Warm },
		}, {
			"setup", scriptShape(), "", "none",
			"run by `sh -c` in each workspace before its agent",
			func(c *Config, f field) error { return c.readScript(f, &c.Setup) },
			func(c *Config) any { return c.Setup },
		}, {
			"verify", scriptShape(), "", "none",
			"run by `sh -c` on the work of each agent, and on what a merge comes to",
			func(c *Config, f field) error { return c.readScript(f, &c.Verify) },
			func(c *Config) any { return c.Verify },
		},
	}
}

// numberKeys are those of the table [limits] that count agents.
func numberKeys() []key[Config] {
	return []key[Config]{
		{
			"jobs", wholeShape(1, 100), nil, "what memory and cores allow",
			"how many agents run at once",
			func(c *Config, f field) error { return f.intoInt(&c.Jobs, 1, 100) },
			func(c *Config) any { return c.Jobs },
		}, {
			"max_agents", wholeShape(1, math.MaxInt), DefaultMaxAgents, "",
			"how many agents a run may start in its life",
			func(c *Config, f field) error { return readCount(c, f, &c.MaxAgents, 1, math.MaxInt) },
			func(c *Config) any { return c.MaxAgents },
		}, {
			"retries", wholeShape(0, 100), 0, "",
			"how often an agent whose failure may pass is tried again",
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
			"how long one attempt of an agent may take; `\"0s\"`: no limit",
			func(c *Config, f field) error { return f.intoDuration(&c.Timeout) },
			func(c *Config) any { return durationText(c.Timeout) },
		}, {
			"idle_timeout", durationShape(), "0s", "none",
			"how long an agent may write nothing; `\"0s\"`: no limit",
			func(c *Config, f field) error { return f.intoDuration(&c.IdleTimeout) },
			func(c *Config) any { return durationText(c.IdleTimeout) },
		}, {
			"run_timeout", durationShape(), "0s", "none",
			"how long the whole run may take; `\"0s\"`: no limit",
			func(c *Config, f field) error { return f.intoDuration(&c.RunTimeout) },
			func(c *Config) any { return durationText(c.RunTimeout) },
		},
	}
}

// budgetKeys are those of the table [limits] that bound what a run spends.
func budgetKeys() []key[Config] {
	return []key[Config]{
		{
			"budget_tokens", wholeShape(0, math.MaxInt), 0, "none",
			"how many tokens of output and reasoning the agents of a run may use in its life; `0`: no limit",
			func(c *Config, f field) error {
				return readBound(c, f, &c.BudgetTokens, func(n *int) error { return f.intoInt(n, 0, math.MaxInt) })
			},
			func(c *Config) any { return c.BudgetTokens },
		}, {
			"budget_usd", amountShape(), 0.0, "none",
			"how many dollars they may cost; `0`: no limit",
			func(c *Config, f field) error { return readBound(c, f, &c.BudgetUSD, f.intoAmount) },
			func(c *Config) any { return c.BudgetUSD },
		}, {
			"budget_time", durationShape(), "0s", "none",
			"how long agents of a run may be at work in its life, any number at once; `\"0s\"`: no limit",
			func(c *Config, f field) error { return readBound(c, f, &c.BudgetTime, f.intoDuration) },
			func(c *Config) any { return durationText(c.BudgetTime) },
		},
	}
}

// readScript reads a script. A repository may switch off one of the user, who is
// told so.
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

// readNotify reads what a person is called by. Nobody is asked about an empty
// script, and who relies on being called would wait for ever.
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

// readCount reads how many agents a run may start, or how often one. A
// repository may lower what the user says, and not raise it.
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

// readBound reads what a run may spend; 0 is any amount. A repository may lower
// what the user allows, and neither raises nor lifts it.
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
		return c.ignore(f, nil, "a repository may lower what the user lets a run spend, and not raise it")
	}
	*to = n
	return nil
}
