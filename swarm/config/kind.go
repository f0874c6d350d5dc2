package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"agentswarm/swarm/agent"
)

// Kind says which program an agent is.
type Kind uint8

// The kinds that a configuration may name.
const (
	KindUnset Kind = iota
	KindCommand
	KindPi
	KindCodex
	KindClaude
	KindOpencode
	KindGemini
	KindQwen
	KindCopilot
	KindBuiltin
)

// kinds are all of them, a command first.
func kinds() []Kind {
	return []Kind{
		KindCommand, KindPi, KindCodex, KindClaude, KindOpencode, KindGemini, KindQwen, KindCopilot, KindBuiltin,
	}
}

// String is the word for the kind.
func (k Kind) String() string {
	switch k {
	case KindCommand:
		return agent.KindCommand
	case KindPi:
		return agent.KindPi
	case KindCodex:
		return agent.KindCodex
	case KindClaude:
		return agent.KindClaude
	case KindOpencode:
		return agent.KindOpencode
	case KindGemini:
		return agent.KindGemini
	case KindQwen:
		return agent.KindQwen
	case KindCopilot:
		return agent.KindCopilot
	case KindBuiltin:
		return agent.KindBuiltin
	default:
		return "unset"
	}
}

// UnmarshalText is the reverse of String; it accepts no unset kind.
func (k *Kind) UnmarshalText(text []byte) (err error) {
	*k, err = parseWord(string(text), kinds()...)
	return err
}

// kindNamed is the kind that an agent is by its name alone: pi is an agent
// without any table. Unset for other names.
func kindNamed(name string) Kind {
	if !slices.Contains(agent.KindNames(), name) {
		return KindUnset
	}
	var k Kind
	if err := k.UnmarshalText([]byte(name)); err != nil {
		return KindUnset
	}
	return k
}

// plain is the agent that a kind is by its name.
func plain(k Kind) definition { return definition{agent: Agent{Name: k.String(), Kind: k}} }

// driven are the keys of how a command is talked to. With an agent of another
// kind swarm knows that itself.
func driven() []string { return []string{"input", "format", "success", "pty"} }

// chosen returns the keys that agents of a kind use. For a command the error
// has its own words.
func chosen() []string { return []string{"model", "effort", "tools", "read_only", "max_turns"} }

// foreign are the keys that agents of its kind do not have.
func (d *definition) foreign() []string {
	if d.agent.Kind == KindCommand {
		return chosen()
	}
	return driven()
}

// checkKind finds a fault between the kind of an agent and its other keys. It
// returns the key to blame and the reason, which is empty if there is no fault.
func (d *definition) checkKind() (key, reason string) {
	a := &d.agent
	if own := kindNamed(a.Name); own != KindUnset && a.Kind != own {
		return "kind", fmt.Sprintf("%q is the name of a kind, and its table configures that; "+
			"choose another name for an agent of kind %q", a.Name, a.Kind)
	}
	if a.Kind == KindCommand {
		for _, key := range chosen() {
			if d.has(key) {
				return key, fmt.Sprintf("is not for kind = %q; put it into the command", a.Kind)
			}
		}
		return a.check()
	}
	for _, key := range driven() {
		if d.has(key) {
			return key, fmt.Sprintf("is for kind = %q only: swarm knows it of %q", KindCommand, a.Kind)
		}
	}
	switch {
	case d.has("command") && (len(a.Command) == 0 || strings.TrimSpace(a.Command[0]) == ""):
		return "command", "its first word, the program, is empty; leave it out for the one on your PATH"
	case a.mentions(PromptPlaceholder), a.mentions(PromptFilePlaceholder):
		return "command", fmt.Sprintf("holds the prompt, which swarm hands to %q itself; take it out", a.Kind)
	case a.Kind == KindBuiltin && d.has("command"):
		return "command", `is not for kind = "builtin", which is swarm itself`
	case a.ReadOnly && len(a.Tools) > 0 && !agent.Reads(a.Tools):
		return "tools", "holds more than " + quotedList(agent.ReadOnlyTools(), "and") + ", and read_only = true allows no more"
	}
	return "", ""
}

// intoTools reads names of tools.
func (f field) intoTools(to *[]string) error {
	if err := f.intoStrings(to); err != nil {
		return err
	}
	if len(*to) == 0 {
		return f.expected("at least one of " + quotedList(agent.AllTools(), "and"))
	}
	for i, name := range *to {
		if !slices.Contains(agent.AllTools(), name) {
			return f.wrong("expected names of tools, %s, got %s%s", quotedList(agent.AllTools(), "and"),
				strconv.Quote(clip(name)), didYouMean(name, agent.AllTools()))
		}
		if slices.Contains((*to)[:i], name) {
			return f.wrong("%q appears twice", name)
		}
	}
	return nil
}

// intoOption reads a word that an agent's program is given.
func (f field) intoOption(to *string) error {
	if err := f.intoString(to); err != nil {
		return err
	}
	if !agent.IsOption(*to) {
		return f.wrong("%s: expected a word without spaces, of at most %d characters, that does not begin with -", strconv.Quote(clip(*to)), agent.MaxOption)
	}
	return nil
}

// orUnset returns a list, or nil for an empty list, which could not be read
// back.
func orUnset(words []string) any {
	if len(words) == 0 {
		return nil
	}
	return words
}

// orUnsetWord is orUnset for a word.
func orUnsetWord(word string) any {
	if word == "" {
		return nil
	}
	return word
}
