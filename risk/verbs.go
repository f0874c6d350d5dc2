package risk

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"agentswarm/risk/argv"
	"agentswarm/risk/shell"
	"agentswarm/risk/verb"
)

// verbRule is the id of the parts that the grammar of verbs finds.
const verbRule = "verb"

// maxReadings is how many command lines a finding keeps the reading of.
const maxReadings = 32

// read reads the command line of a program by its verbs.
func (r *Rules) read(inv *shell.Invocation) verb.Reading {
	name := path.Base(inv.Path.Value)
	script := strings.Contains(inv.Path.Value, "/") && !strings.HasPrefix(inv.Path.Value, "/") || path.Ext(name) != "" && !strings.HasPrefix(name, "mkfs")
	external := strings.HasPrefix(inv.Program, "git-") && !r.listed(inv.Program)
	return r.verbs.Read(verb.Command{Program: inv.Program, Args: inv.Args, Script: script, NameOnly: external})
}

// leavesVerbs reports whether the rules for a program leave its verbs to the
// grammar. A user's rule settles the command lines that it matches. A
// repository's rule settles none.
func (c *call) leavesVerbs(parts []Part) bool {
	r := c.rules
	switch {
	case r.added[c.inv.Program]:
		return !slices.ContainsFunc(parts, func(p Part) bool { return r.users[p.Rule] })
	case r.thin[c.inv.Program]:
		return !slices.ContainsFunc(parts, func(p Part) bool { return !r.foreign[p.Rule] })
	}
	return false
}

// byVerb returns the part of a program without a rule whose words tell that it
// destroys, publishes or sends something. It returns none if a given part is as
// grave.
func (c *call) byVerb(parts []Part) []Part {
	reading := c.rules.read(c.inv)
	if len(c.text.readings) < maxReadings {
		c.text.readings = append(c.text.readings, reading)
	}
	tier := c.tierOf(&reading)
	for _, p := range parts {
		if p.Tier >= tier {
			return nil
		}
	}
	if tier == Safe {
		return nil
	}
	part := Part{
		Rule: verbRule, Tier: tier, Reason: verbReason(&reading),
		Argv: c.words(), Via: slices.Clone(c.inv.Via), Span: c.inv.Span, Plain: c.plain(),
	}
	if reading.Class >= verb.Removal {
		part.Instead = "list first what it would take away, or use its dry run"
	}
	if part.Plain && tier <= HardToReverse {
		part.Operation = &Run{Argv: part.Argv}
	}
	return []Part{part}
}

// tierOf is the tier of a reading.
func (c *call) tierOf(r *verb.Reading) Tier {
	switch r.Class {
	case verb.Destruction, verb.Removal:
		switch {
		case r.Object != "" && !r.Kept:
			return Safe
		case r.Restorable && !c.namesOutside():
			return Safe
		case r.Object != "":
			return Visible
		case r.Class == verb.Removal:
			return HardToReverse
		}
		return Destructive
	case verb.Publication, verb.Message, verb.Change:
		if c.staysHere() {
			return Safe
		}
		return Visible
	case verb.None:
	}
	return Safe
}

// namesOutside says that a word is the path of a file outside of the work
// tree.
func (c *call) namesOutside() bool {
	for _, w := range c.inv.Args {
		text := w.Value
		if _, value, ok := strings.Cut(text, "="); ok && strings.HasPrefix(text, "-") {
			text = value
		}
		if !strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "..") && !strings.HasPrefix(text, "~") {
			continue
		}
		t := resolve(argv.Word{Value: text, Known: w.Known, Glob: w.Glob}, c.inv.Cwd, removes)
		if t.outside(c.place) {
			return true
		}
	}
	return false
}

// staysHere reports whether a command line has URLs, and all of them name this
// machine.
func (c *call) staysHere() bool {
	local := false
	for _, w := range c.inv.Args {
		text := w.Value
		if _, value, ok := strings.Cut(text, "="); ok && strings.HasPrefix(text, "-") {
			text = value
		}
		if !strings.Contains(text, "://") {
			continue
		}
		if hostOf(argv.Word{Value: text, Known: w.Known}) != hostLocal {
			return false
		}
		local = true
	}
	return local
}

// verbReason names the program and the word.
func verbReason(r *verb.Reading) string {
	effect := "may be permanent"
	switch r.Class {
	case verb.Removal:
		effect = "may remove a program"
	case verb.Publication:
		effect = "may show something to others"
	case verb.Change:
		effect = "may change something that others use"
	case verb.Message:
		effect = "may send a message or money"
	case verb.Destruction, verb.None:
		if r.Object != "" {
			effect = fmt.Sprintf("may remove a %s that others use", r.Object)
		}
	}
	if r.Verb == r.Program {
		return fmt.Sprintf("%s is a program without a rule; by its name it %s", r.Program, effect)
	}
	return fmt.Sprintf("%q of %s, a program without a rule, %s", r.Verb, r.Program, effect)
}
