package risk

import (
	"path"
	"slices"
	"strings"

	"agentswarm/risk/shell"
)

// maxSuspects is how many words of a program are looked at as programs. Each
// is read with all words after it.
const maxSuspects = 32

// maxSuspected is how deep suspects are looked for in the words of suspects.
// The work is [maxSuspects] to the power of it.
const maxSuspected = 2

// suspects returns the part of a program without a rule whose words hold the
// command line of a dangerous program. The program may run that command line.
func (c *call) suspects() []Part {
	if c.text.suspected == maxSuspected {
		return nil // an outer program looks at the same words
	}
	c.text.suspected++
	defer func() { c.text.suspected-- }()
	left := maxSuspects
	for i, w := range c.inv.Args {
		if !w.Known {
			continue
		}
		name := path.Base(w.Value)
		if !c.rules.dangers[name] || c.rules.generic[name] && w.Value == name || i+1 == len(c.inv.Args) && !alone(name) {
			continue
		}
		if left--; left < 0 {
			return []Part{opaque(shell.Opaque{
				Why: c.inv.Program + " is given more names of programs than are looked at", Span: c.inv.Span, Via: c.inv.Via,
			})}
		}
		inner := *c.inv
		inner.Program, inner.Path, inner.Args = name, w, c.inv.Args[i+1:]
		inner.Via = append(slices.Clone(c.inv.Via), c.inv.Program)
		inner.Plain = false
		worst := Part{}
		for _, p := range c.rules.judgeAmong(&inner, c.place, c.text) {
			if p.Tier > worst.Tier || worst.Rule == "" {
				worst = p
			}
		}
		if worst.Rule == "" {
			continue
		}
		found := Part{
			Rule: "suspect", Tier: worst.Tier, Blocked: worst.Blocked, Span: c.inv.Span,
			Reason:  c.inv.Program + " may run the program in its words: " + worst.Reason,
			Instead: worst.Instead, Argv: c.words(), Via: slices.Clone(c.inv.Via), Plain: c.plain(),
		}
		if found.Plain && found.Tier <= HardToReverse {
			found.Operation = &Run{Argv: found.Argv}
		}
		return []Part{found}
	}
	return nil
}

// alone says that a program does harm without a word.
func alone(name string) bool { return slices.Contains([]string{"reboot", "poweroff", "halt"}, name) }

// isDeployName says that a name has "deploy", "release" or "publish" in it as a
// word of its own.
func isDeployName(name string) bool {
	name = path.Base(name)
	words := strings.FieldsFunc(name, func(r rune) bool {
		return r != '\'' && (r < '0' || r > '9' && r < 'A' || r > 'Z' && r < 'a' || r > 'z')
	})
	return slices.ContainsFunc(words, func(w string) bool {
		switch strings.ToLower(w) {
		case "deploy", "release", "publish", "deployment":
			return true
		}
		return false
	})
}

// firstDeploys says that the first operand is such a name, or may be.
func firstDeploys(c *call) bool {
	w, ok := c.first()
	return ok && (isUnknown(w) || isDeployName(w.Value))
}

// runsDeployScript says that an interpreter is given a file of such a name.
func runsDeployScript(c *call) bool {
	w, ok := c.first()
	return ok && w.Known && !c.line.Has("-c", "-e", "-r", "-p", "-n", "--eval", "--check") && isDeployName(w.Value)
}

// isScriptDryRun reports whether a script runs without effect.
func isScriptDryRun(c *call) bool {
	for _, w := range c.inv.Args {
		if w.Known && (w.Value == "--dry-run" || w.Value == "--help") {
			return true
		}
	}
	return false
}

// isProbe says that a signal is none, or that only names are asked for. After
// another signal "-0" is a process group.
func isProbe(c *call) bool {
	values := c.line.Values("--signal", "-n")
	if len(values) > 0 {
		return len(values) == 1 && values[0].Known && values[0].Value == "0"
	}
	for i, o := range c.line.Options {
		switch {
		case !o.Listed, o.Name == "--kill":
			return false
		case o.Name == "--list" || o.Name == "--table" || o.Name == "--probe":
			return i == 0 && o.At == 0 || c.inv.Program != "kill"
		}
	}
	return false
}
