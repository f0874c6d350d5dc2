package risk

import (
	"cmp"
	"slices"
	"strings"

	"agentswarm/risk/argv"
	"agentswarm/risk/shell"
)

// parsed returns the command line of an invocation, parsed by its grammar. An
// option that the grammar does not know may take a value. If the word after
// such an option stands in the place of a subcommand, parsed tries both
// readings.
func (r *Rules) parsed(inv *shell.Invocation) *argv.Line {
	g := &argv.Grammar{}
	if p := r.grammars[inv.Program]; p != nil {
		g = p.prepared()
	}
	args := inv.Args
	if strings.HasSuffix(inv.Program, "tar") && len(args) > 0 && args[0].Value != "" && args[0].Value[0] != '-' {
		args = slices.Clone(args) // "xf" is "-xf"
		args[0].Value = "-" + args[0].Value
	}
	if inv.Program == "chmod" {
		args = withModes(args)
	}
	given := g.Parse(args)
	line := given
	var apart []argv.Option // those that stand before the program within the program
	for range 4 {
		if len(g.Sub) == 0 || len(line.Sub) > 0 || len(line.Operands) == 0 {
			return given
		}
		at := slices.IndexFunc(args, func(w argv.Word) bool { return w.Known && w.Value != "" && w.Value[0] != '-' })
		if at < 1 || args[at].Value != line.Operands[0].Value || !strings.HasPrefix(args[at-1].Value, "-") ||
			!slices.ContainsFunc(line.Options, func(o argv.Option) bool { return o.At == at-1 && !o.Listed && !o.Valued }) {
			return given
		}
		for _, o := range line.Options {
			if o.At == at-1 {
				apart = append(apart, o)
			}
		}
		args = slices.Delete(slices.Clone(args), at-1, at+1)
		again := g.Parse(args)
		if len(again.Sub) > 0 {
			for i := range again.Options {
				again.Options[i].At += 2 // the positions in the given words
			}
			again.Options = append(again.Options, apart...)
			return again
		}
		line = again
	}
	return given
}

// withModes returns the words of chmod. A mode that takes rights away, such as
// "-x", becomes "a-x", so that it is not read as an option.
func withModes(args []argv.Word) []argv.Word {
	args = slices.Clone(args)
	for i, w := range args {
		if w.Value == "--" {
			break
		}
		if rights, ok := strings.CutPrefix(w.Value, "-"); ok && rights != "" && strings.Trim(rights, "rwxXst,+=-ugo01234567") == "" && rights[0] != '-' {
			args[i].Value = "a" + w.Value
		}
	}
	return args
}

// listed says that something is known of a program.
func (r *Rules) listed(program string) bool { return r.grammars[program] != nil || r.known[program] }

// judge returns the parts of an invocation above SAFE.
func (r *Rules) judge(inv *shell.Invocation, p Place) []Part {
	return r.judgeAmong(inv, &p, &siblings{})
}

// maxJudged bounds the command lines that are judged of a text, with those that
// are looked for in the words of others. Beyond it a person is asked.
const maxJudged = 20_000

// judgeAmong judges an invocation among the other commands of its text. A
// program that passes its words to another program is judged as that program.
func (r *Rules) judgeAmong(inv *shell.Invocation, p *Place, text *siblings) []Part {
	if inv.Shadowed {
		return nil
	}
	switch text.judged++; {
	case text.judged > maxJudged+1:
		return nil // it is asked about already
	case text.judged > maxJudged:
		return []Part{opaque(shell.Opaque{Why: "it holds more command lines than are judged", Span: inv.Span, Via: inv.Via})}
	}
	next := delegate(inv)
	if next == nil {
		return r.judgeProgram(inv, p, text)
	}
	parts := r.judgeAmong(next, p, text)
	if inv.Program == "git" { // its own options may do something, too
		parts = r.settle(append(r.judgeProgram(inv, p, text), parts...))
	}
	return parts
}

// judgeProgram judges an invocation by the rules of its own program.
func (r *Rules) judgeProgram(inv *shell.Invocation, p *Place, text *siblings) []Part {
	c := &call{rules: r, inv: inv, line: r.parsed(inv), place: p, text: text}
	c.targets = c.changes()
	parts := c.unresolved()
	name, listed := inv.Program, r.listed(inv.Program)
	if !listed {
		name = "*"
	}
	rules := r.programs[name]
	if r.added[name] {
		rules = slices.Concat(rules, r.programs["*"])
	}
	for _, b := range rules {
		if !has(parts, b.ID) && b.matches(c) {
			parts = c.add(parts, b.rule, nil)
		}
	}
	parts = c.addTargets(parts)
	if !listed || r.added[name] || r.running[name] {
		parts = append(parts, c.suspects()...)
	}
	if !listed || c.leavesVerbs(parts) {
		parts = append(parts, c.byVerb(parts)...)
	}
	c.lose()
	return r.settle(parts)
}

// maxLosses bounds the losses that are kept of a text.
const maxLosses = 10_000

// lose keeps the losses of a call that is judged.
func (c *call) lose() {
	if len(c.text.losses) < maxLosses {
		c.text.losses = append(c.text.losses, c.losses()...)
	}
}

// addTargets adds the parts of the files that a call changes.
func (c *call) addTargets(parts []Part) []Part {
	for _, b := range c.rules.targets {
		if has(parts, b.ID) {
			continue
		}
		if hits := b.hits(c); len(hits) > 0 {
			parts = c.add(parts, b.rule, hits)
		}
	}
	return parts
}

func has(parts []Part, id string) bool {
	return slices.ContainsFunc(parts, func(p Part) bool { return p.Rule == id })
}

// add adds a part; none for a rule of the filter that is SAFE where nothing is
// shared.
func (c *call) add(parts []Part, one *rule, hits []*target) []Part {
	part := Part{
		Rule: one.ID, Tier: one.Tier, Reason: one.Reason, Instead: one.Instead,
		Argv: c.words(), Via: slices.Clone(c.inv.Via), Span: c.inv.Span,
		Blocked: one.Filter && c.place.Shared && !c.inv.Remote,
		Plain:   c.plain(),
	}
	if part.Tier == Safe && !part.Blocked {
		return parts
	}
	c.blame(one, hits)
	part.Within = c.contained(one.Within, hits)
	if !part.Blocked { // which no grant lifts
		part.Operation, part.Kind = c.operation(one, hits), one.Grant
		if _, run := part.Operation.(*Run); part.Operation == nil || run && one.Grant != "" {
			part.Ungranted = c.ungranted()
		}
	}
	return append(parts, part)
}

// settle leaves out the parts that a more specific rule replaces.
func (r *Rules) settle(parts []Part) []Part {
	if len(parts) < 2 {
		return parts
	}
	over := map[string]bool{}
	for _, one := range r.all {
		if has(parts, one.ID) {
			for _, id := range one.Over {
				over[id] = true
			}
		}
	}
	kept := parts[:0:0]
	for _, p := range parts {
		blocked := p.Blocked && !slices.ContainsFunc(parts, func(o Part) bool { return o.Blocked && !over[o.Rule] })
		if !over[p.Rule] || blocked {
			kept = append(kept, p)
		}
	}
	return kept
}

// unresolved adds the part of a call of which it is not known which program
// within the program it is: the worst that can stand there.
func (c *call) unresolved() []Part {
	w, ok := c.first()
	if !ok || w.Known || c.line.Dashes == 0 {
		return nil
	}
	var worst *rule
	for _, b := range c.rules.programs[c.inv.Program] {
		for _, path := range b.subs {
			deeper := len(path) > len(c.line.Sub) && slices.Equal(path[:len(c.line.Sub)], c.line.Sub)
			if deeper && (worst == nil || worst.Tier < b.Tier) {
				worst = b.rule
			}
		}
	}
	if worst == nil || worst.Tier == Safe && !c.place.Shared {
		return nil
	}
	return []Part{{
		Rule: "unresolved", Tier: worst.Tier, Argv: c.words(), Via: slices.Clone(c.inv.Via), Span: c.inv.Span,
		Reason:  "it is not known which command of " + c.inv.Program + " it is",
		Instead: "write the command out",
		Blocked: c.place.Shared && c.inv.Program == "git" && !c.inv.Remote,
	}}
}

// words returns the words of the command line, with "…" for the unknown rest of
// a word.
func (c *call) words() []string {
	all := make([]string, 0, len(c.inv.Args)+1)
	for _, w := range append([]argv.Word{c.inv.Path}, c.inv.Args...) {
		text := w.Value
		if !w.Known && !w.Glob {
			text += "…"
		}
		all = append(all, text)
	}
	if all[0] == "" {
		all[0] = c.inv.Program
	}
	return all
}

// plain says that the whole text is this call, that all of it is known, and
// that it runs at the top of the work tree.
func (c *call) plain() bool {
	_, known := argv.Text(c.inv.Args)
	return c.inv.Plain && known && c.inv.Path.Known && !c.inv.Path.Glob && c.ordinary() &&
		c.inv.Cwd.Path == c.place.Root && c.place.Root != ""
}

// ordinary reports whether a call stands by itself. It has no wrapper, no
// change of folder, and no variable that could change its effect.
func (c *call) ordinary() bool {
	for _, a := range c.inv.Assigns {
		if !isHarmless(a.Name) {
			return false
		}
	}
	return len(c.inv.Via) == 0 && !c.inv.Remote && !c.inv.Shadowed && c.inv.Cwd.Known && !c.inv.Cwd.Moved
}

// isHarmless says that a variable only changes how a program speaks.
func isHarmless(name string) bool {
	if strings.HasPrefix(name, "GIT_AUTHOR_") || strings.HasPrefix(name, "GIT_COMMITTER_") {
		return true
	}
	return slices.Contains([]string{"CI", "LANG", "LC_ALL", "TZ", "NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS", "GIT_TERMINAL_PROMPT"}, name)
}

// contained says that all effects lie where the agent may do as it likes.
func (c *call) contained(where string, hits []*target) bool {
	if c.inv.Remote {
		return false
	}
	switch where {
	case "processes":
		return true
	case "targets":
		return !slices.ContainsFunc(hits, func(t *target) bool { return !c.own(t) })
	case "paths":
		for _, w := range c.line.Operands {
			t := resolve(w, c.inv.Cwd, removes)
			if !c.own(&t) {
				return false
			}
		}
		return c.contained("changes", nil)
	case "changes":
		return !slices.ContainsFunc(c.targets, func(t target) bool { return !t.untracked && !c.own(&t) })
	case "tree":
		return c.inv.Cwd.Known && c.place.areaOf(c.inv.Cwd.Path) == areaTree && !c.line.Has("-C", "--git-dir", "--work-tree", "-c") &&
			len(c.inv.Assigns) == 0 && c.contained("changes", nil)
	}
	return false
}

// own says that a file is the agent's own, and not all of its work tree, to
// which its git dir belongs.
func (c *call) own(t *target) bool {
	if t.path == "" || t.path == c.place.Root && !t.partial || inside(t.path, c.place.Root) && t.path != c.place.Root {
		return false
	}
	a := c.place.areaOf(t.path)
	return a == areaTree || a == areaTmp
}

// operation returns the operation of a call that a grant could cover.
func (c *call) operation(one *rule, hits []*target) Operation {
	if one.Tier > HardToReverse {
		return nil
	}
	var op Operation
	if _, known := argv.Text(c.inv.Args); c.ordinary() && known {
		switch one.Grant {
		case "push":
			op = orNil(c.push())
		case "forge":
			op = orNil(c.forge())
		case "modify":
			op = orNil(c.modify(hits))
		case "amend":
			if c.gitOrdinary() {
				op = &Amend{}
			}
		case "downgrade":
			op = &Downgrade{}
		}
	}
	if op == nil && c.plain() {
		return &Run{Argv: c.words()}
	}
	return op
}

// orNil keeps a nil pointer from becoming an operation.
func orNil[T any, P interface {
	*T
	Operation
}](p P) Operation {
	if p == nil {
		return nil
	}
	return p
}

// modify are the files of a change, if all of it is known.
func (c *call) modify(hits []*target) *Modify {
	var paths []string
	for _, t := range hits {
		file, ok := c.place.below(t.path)
		if !ok || file == "" || t.partial || t.remote || t.moved {
			return nil
		}
		paths = append(paths, file)
	}
	slices.Sort(paths)
	return &Modify{Paths: slices.Compact(paths)}
}

// byText orders parts as they stand in the text.
func byText(a, b Part) int { return cmp.Compare(a.Span.Start, b.Span.Start) }
