package config

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2/unstable"

	"agentswarm/swarm/hook"
)

// DefaultHookTimeout is how long a command of [hooks] may take where no file
// says.
const DefaultHookTimeout = 30 * time.Second

// Hooks are the commands that run on events.
type Hooks struct {
	RunStart, AgentStart, AgentEnd, RunEnd HookCommand
	Timeout                                time.Duration // of each, but for [Hooks.Timeouts]; 0: no file says

	patience time.Duration // the user's own timeout; 0: none is given
}

// Timeouts are how long the user's own commands may take, by their events, where
// a repository says how long its own may; nil: Timeout is for all of them.
func (h Hooks) Timeouts() map[hook.Event]time.Duration {
	var all map[hook.Event]time.Duration
	own := cmp.Or(h.patience, DefaultHookTimeout)
	for event, c := range h.byEvent() {
		if !c.personal || c.Argv() == nil || own == cmp.Or(h.Timeout, DefaultHookTimeout) {
			continue
		}
		if all == nil {
			all = map[hook.Event]time.Duration{}
		}
		all[event] = own
	}
	return all
}

// byEvent are the commands, in the order of the events.
func (h Hooks) byEvent() iter.Seq2[hook.Event, HookCommand] {
	return func(yield func(hook.Event, HookCommand) bool) {
		for i, c := range []HookCommand{h.RunStart, h.AgentStart, h.AgentEnd, h.RunEnd} {
			if !yield(hook.Configured()[i], c) {
				return
			}
		}
	}
}

// HookCommand is a script for sh -c, or a program and its arguments. The zero
// value is none.
type HookCommand struct {
	Script string
	Words  []string // where there are any, there is no script

	personal bool // it is the user's own
}

// Argv returns the command line; nil: none.
func (h HookCommand) Argv() []string {
	switch {
	case len(h.Words) > 0:
		return slices.Clone(h.Words)
	case h.Script != "":
		return []string{"sh", "-c", h.Script}
	default:
		return nil
	}
}

// value is the command as a file has it.
func (h HookCommand) value() any {
	if len(h.Words) > 0 {
		return h.Words
	}
	return h.Script
}

// text returns the quoted command that a person approves before it runs.
func (h HookCommand) text() string {
	if len(h.Words) > 0 {
		return quotedWords(h.Words)
	}
	return quoteLines(h.Script)
}

// intoHook reads a script or a list of words.
func (f field) intoHook(to *HookCommand) error {
	var h HookCommand
	if f.node.kind == unstable.Array {
		if err := f.intoStrings(&h.Words); err != nil {
			return err
		}
		if len(h.Words) == 0 || strings.TrimSpace(h.Words[0]) == "" {
			return f.wrong("its first word, the program, is empty")
		}
	} else if f.node.kind != unstable.String {
		return f.expected(`a script, or a list of words such as ["program", "argument"]`)
	} else if err := f.intoString(&h.Script); err != nil {
		return err
	}
	*to = h
	return nil
}

// readHook reads the command of an event. An empty command needs no approval,
// so that of a repository leaves a hook of the user as it is: the user relies
// on it.
func (c *Config) readHook(f field, to *HookCommand) error {
	var h HookCommand
	if err := f.intoHook(&h); err != nil {
		return err
	}
	none := h.Argv() == nil
	switch {
	case f.layer == User:
		c.scripts[f.key], h.personal = !none, true
	case none && c.scripts[f.key]:
		return c.ignore(f, nil, "a repository does not switch off a hook of the user")
	}
	*to = h
	return nil
}

// hookShape is a script or a list of words.
func hookShape() shape {
	words := text()
	first := text()
	first["pattern"] = `[^\s]`
	return shape{"script, or list of words", object{"anyOf": []object{
		text(), {"type": "array", "minItems": 1, "prefixItems": []object{first}, "items": words},
	}}}
}

// hookKeys are the keys of the table [hooks].
func hookKeys() []key[Config] {
	one := func(event hook.Event, meaning string, in func(*Config) *HookCommand) key[Config] {
		return key[Config]{
			string(event), hookShape(), "", "none", meaning,
			func(c *Config, f field) error { return c.readHook(f, in(c)) },
			func(c *Config) any { return in(c).value() },
		}
	}
	return []key[Config]{
		one(hook.RunStart, "runs before a run, and may forbid it",
			func(c *Config) *HookCommand { return &c.Hooks.RunStart }),
		one(hook.AgentStart, "runs before each attempt of an agent, and may forbid it",
			func(c *Config) *HookCommand { return &c.Hooks.AgentStart }),
		one(hook.AgentEnd, "runs after each attempt of an agent",
			func(c *Config) *HookCommand { return &c.Hooks.AgentEnd }),
		one(hook.RunEnd, "runs after a run",
			func(c *Config) *HookCommand { return &c.Hooks.RunEnd }),
		{
			"timeout", patienceShape(), durationText(DefaultHookTimeout), "",
			"time of each hook, after which it has failed; that of a repository holds for its own hooks",
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
	if f.layer == User {
		c.Hooks.patience = c.Hooks.Timeout
	}
	return nil
}

// unknownHook returns the name here of an event that another program names
// differently.
func unknownHook(name string) string {
	if event, known := hook.Means(name); known {
		return otherName(event)
	}
	return belongs(name, "hooks")
}

// otherName returns the message with the name here of another program's event.
func otherName(event hook.Event) string {
	switch event {
	case hook.RunStart, hook.AgentStart, hook.AgentEnd, hook.RunEnd:
		return fmt.Sprintf("unknown key; it is called %s here", event)
	case hook.BeforeTool:
		return "unknown key; [risk] decides about actions of agents"
	case hook.Elsewhere:
		return "unknown key; there is no such event here"
	default:
		panic("unhandled event " + string(event))
	}
}
