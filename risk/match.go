package risk

import (
	"slices"
	"strings"

	"agentswarm/risk/argv"
	"agentswarm/risk/shell"
	"agentswarm/risk/verb"
)

// call is a program that would start, with the state that rules test.
type call struct {
	rules   *Rules
	inv     *shell.Invocation
	line    *argv.Line
	place   *Place
	text    *siblings
	targets []target
}

// siblings is the effect of the other commands of a text on the state that a
// push depends on.
type siblings struct {
	// moves says that it may change which branch is checked out, alters that
	// it may change where a push leads to.
	moves, alters bool
	// forces says that it sets pushes to force.
	forces bool
	// readings are how the command lines were read to which the grammar of
	// verbs applies.
	readings []verb.Reading
	// judged is how many command lines were judged.
	judged int
	// losses are the files that calls delete or overwrite.
	losses []Loss
	// links are those that the text makes.
	links links
	// suspected is the number of programs around the judged program. Each of
	// them was taken from the words of the program around it.
	suspected int
}

// first is the first operand; false: there is none.
func (c *call) first() (argv.Word, bool) {
	if len(c.line.Operands) == 0 {
		return argv.Word{}, false
	}
	return c.line.Operands[0], true
}

// matches says whether a rule is for this call.
func (b *bound) matches(c *call) bool {
	m := b.match
	switch {
	case !within(b.subs, c.line.Sub),
		len(m.Flags) > 0 && !c.flag(m.Flags, m.Sure),
		len(m.With) > 0 && !c.flag(m.With, m.Sure),
		len(m.Without) > 0 && c.surely(m.Without...),
		len(m.First) > 0 && (!c.isAt(0, m.First, m.Short) || b.isBehindSub(c)),
		len(m.Second) > 0 && !c.isAt(1, m.Second, m.Short),
		len(m.Words) > 0 && !c.anyWord(m.Words),
		len(m.Operand) > 0 && !c.operand(m.Operand):
		return false
	}
	return c.passes(m.When) && !b.excused(c)
}

// isBehindSub reports whether the first operand stands behind a command of the
// program although the rule names none, and is not known. The rule names the
// first word of the line then: the "$@" of `yarn add "$@"` is no "workspace".
func (b *bound) isBehindSub(c *call) bool {
	return len(b.subs) == 0 && len(c.line.Sub) > 0 && !c.line.Operands[0].Known
}

// passes says that a call passes all of these tests.
func (c *call) passes(tests []string) bool {
	return !slices.ContainsFunc(tests, func(name string) bool { return !c.rules.tests.line[name](c) })
}

// within reports whether the subcommands of a line equal or extend a listed
// path.
func within(subs [][]string, have []string) bool {
	if len(subs) == 0 {
		return true
	}
	return slices.ContainsFunc(subs, func(want []string) bool {
		return len(want) <= len(have) && slices.Equal(want, have[:len(want)])
	})
}

// flag reports whether a call has any of the options, or may have it.
func (c *call) flag(names []string, sure bool) bool {
	return c.line.Has(names...) || c.line.Unsure && !sure || slices.ContainsFunc(names, c.hasBeginning) || slices.ContainsFunc(names, c.isWritten)
}

// isWritten says whether a long option stands there by its whole name. A grammar that
// lacks it may take it for the beginning of another: --delete for --delete-only.
func (c *call) isWritten(name string) bool {
	return strings.HasPrefix(name, "--") && slices.ContainsFunc(c.line.Options, func(o argv.Option) bool {
		if o.At < 0 || o.At >= len(c.inv.Args) || o.Negated {
			return false
		}
		word, _, _ := strings.Cut(c.inv.Args[o.At].Value, "=")
		return word == name
	})
}

// hasBeginning says whether an option begins as a name that ends in a star.
func (c *call) hasBeginning(name string) bool {
	begins, ok := strings.CutSuffix(name, "*")
	return ok && slices.ContainsFunc(c.line.Options, func(o argv.Option) bool { return strings.HasPrefix(o.Name, begins) })
}

// surely reports whether a call certainly has any of the options. No later word
// takes it back, and its word has no other meaning.
func (c *call) surely(names ...string) bool {
	found := false
	for i, o := range c.line.Options {
		if !slices.Contains(names, o.Name) {
			continue
		}
		if o.Negated || o.Valued && isOff(o.Value) {
			return false
		}
		long := o.At < len(c.inv.Args) && strings.HasPrefix(c.inv.Args[o.At].Value, "--")
		ambiguous := long && slices.ContainsFunc(c.line.Options, func(other argv.Option) bool {
			return other.At == o.At && other.Name != o.Name
		})
		found = found || !ambiguous && !c.swallowed(i)
	}
	return found
}

// isOff says that the value of an option may switch it off.
func isOff(w argv.Word) bool {
	return !w.Known || slices.Contains([]string{"none", "false", "no", "0", "off"}, strings.ToLower(w.Value))
}

// swallowed says that the word of an option may be the value of the word
// before it.
func (c *call) swallowed(i int) bool {
	at := c.line.Options[i].At - 1
	if at < 0 || at >= len(c.inv.Args) {
		return false
	}
	before := c.inv.Args[at]
	if !before.Known {
		return true
	}
	if len(before.Value) < 2 || before.Value[0] != '-' || before.Value == "--" || strings.Contains(before.Value, "=") {
		return false
	}
	return slices.ContainsFunc(c.line.Options, func(o argv.Option) bool { return o.At == at && !o.Listed && !o.Valued })
}

// isUnknown says that nothing is known of a word.
func isUnknown(w argv.Word) bool { return w.Value == "" && !w.Known }

// mayBe reports whether a word equals any of the words, or may equal it.
func mayBe(w argv.Word, words []string) bool {
	if w.Known {
		return slices.Contains(words, w.Value)
	}
	return !w.Glob && slices.ContainsFunc(words, func(one string) bool { return strings.HasPrefix(one, w.Value) })
}

// isAt reports whether the operand at an index equals any of the words, or may
// equal it. short also accepts the beginning of a word.
func (c *call) isAt(at int, words []string, short bool) bool {
	if at >= len(c.line.Operands) {
		return false
	}
	w := c.line.Operands[at]
	if short && w.Known && w.Value != "" {
		return slices.ContainsFunc(words, func(one string) bool { return strings.HasPrefix(one, w.Value) })
	}
	return mayBe(w, words)
}

// anyWord reports whether an operand equals any of the words, or may equal it.
func (c *call) anyWord(words []string) bool {
	return slices.ContainsFunc(c.line.Operands, func(w argv.Word) bool { return mayBe(w, words) })
}

// operand reports whether an operand passes any of the tests.
func (c *call) operand(names []string) bool {
	for _, w := range c.line.Operands {
		for _, name := range names {
			if c.rules.tests.operand[name](c, w) {
				return true
			}
		}
	}
	return false
}

// excused says that something takes the line out of the rule.
func (r *rule) excused(c *call) bool {
	unless := r.Unless
	if unless == nil {
		unless = []string{"dry_run", "help"}
	}
	return slices.ContainsFunc(unless, func(name string) bool { return c.rules.tests.line[name](c) })
}

// hits are the targets that a rule about files is for.
func (b *bound) hits(c *call) []*target {
	if b.excused(c) {
		return nil
	}
	var found []*target
	for i := range c.targets {
		t := &c.targets[i]
		if t.untracked || !slices.Contains(b.match.Effect, string(t.kind)) {
			continue
		}
		if slices.ContainsFunc(b.match.Target, func(name string) bool { return c.rules.tests.target[name](c.place, t) }) {
			found = append(found, t)
		}
	}
	return found
}
