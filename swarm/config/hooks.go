package config

import (
	"fmt"
	"time"

	"agentswarm/swarm/hook"
)

// DefaultHookTimeout is how long a command of [hooks] may take where no file
// says.
const DefaultHookTimeout = 30 * time.Second

// Hooks are the commands that are told of what happens, scripts for sh -c.
// Empty: none.
type Hooks struct {
	RunStart, AgentStart, AgentEnd, RunEnd string
	Timeout                                time.Duration // of each; 0: no file says
}

// hookKeys are the keys of the table [hooks].
func hookKeys() []key[Config] {
	one := func(event hook.Event, meaning string, in func(*Config) *string) key[Config] {
		return key[Config]{
			string(event), scriptShape(), "", "none", meaning,
			func(c *Config, f field) error { return f.intoString(in(c)) },
			func(c *Config) any { return *in(c) },
		}
	}
	return []key[Config]{
		one(hook.RunStart, "run by `sh -c`, with JSON on its standard input, before a run begins; it may forbid it",
			func(c *Config) *string { return &c.Hooks.RunStart }),
		one(hook.AgentStart, "the same before each attempt of an agent, which it may forbid",
			func(c *Config) *string { return &c.Hooks.AgentStart }),
		one(hook.AgentEnd, "the same once an attempt of an agent has ended",
			func(c *Config) *string { return &c.Hooks.AgentEnd }),
		one(hook.RunEnd, "the same once the run has ended",
			func(c *Config) *string { return &c.Hooks.RunEnd }),
		{
			"timeout", patienceShape(), durationText(DefaultHookTimeout), "",
			"how long each of them may take; one that takes longer has failed",
			func(c *Config, f field) error { return c.readHookTimeout(f) },
			func(c *Config) any { return durationText(c.Hooks.Timeout) },
		},
	}
}

func (c *Config) readHookTimeout(f field) error {
	if err := f.intoDuration(&c.Hooks.Timeout); err != nil {
		return err
	}
	if c.Hooks.Timeout <= 0 {
		return f.expected(`a duration above zero such as "90s" or "1h30m"`)
	}
	return nil
}

// mergeHooks reads the table [hooks]. A name that another program has for one
// of the events is told by ours.
func (c *Config) mergeHooks(f field) error {
	keys := map[string]reader{}
	for _, k := range hookKeys() {
		keys[k.name] = func(f field) error {
			c.origins["hooks."+k.name] = f.origin()
			return k.read(c, f)
		}
	}
	for _, name := range f.node.names {
		if event, known := hook.Means(name); known && keys[name] == nil {
			keys[name] = func(f field) error { return f.wrong("%s", otherName(event)) }
		}
	}
	elsewhere := above()
	delete(elsewhere, "timeout")
	return f.table(tableKeys{keys: keys, elsewhere: elsewhere})
}

// otherName says what an event of another program is called here.
func otherName(event hook.Event) string {
	switch event {
	case hook.RunStart, hook.AgentStart, hook.AgentEnd, hook.RunEnd:
		return fmt.Sprintf("unknown key; it is called %s here", event)
	case hook.BeforeTool:
		return "unknown key; what agents do is judged by risk, see [risk]"
	case hook.Elsewhere:
		return "unknown key; nobody is told of that event here"
	default:
		panic("unhandled event " + string(event))
	}
}
