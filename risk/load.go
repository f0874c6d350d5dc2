package risk

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"agentswarm/risk/argv"
	"agentswarm/risk/shell"
)

// Load makes rules of the ones that are built in and of those of a user, which
// may add rules and raise the tier of one by its id, and lower none. user may
// be empty. Every rule is tried on its own examples.
func Load(user []byte) (*Rules, error) {
	r, err := loadUnverified(user)
	if err != nil {
		return nil, err
	}
	if err := r.verify(); err != nil {
		return nil, err
	}
	return r, nil
}

// loadUnverified makes rules whose examples have not been tried.
func loadUnverified(user []byte) (*Rules, error) {
	reader, err := shell.NewReader()
	if err != nil {
		return nil, err
	}
	var own, more ruleFile
	var grammar grammarFile
	if err := decode(rulesText, &own); err != nil {
		return nil, fmt.Errorf("built-in rules: %w", err)
	}
	if err := decode(grammarText, &grammar); err != nil {
		return nil, fmt.Errorf("built-in grammar: %w", err)
	}
	if err := decode(user, &more); err != nil {
		return nil, err
	}
	for i, line := range headers(user, "rule") {
		if i < len(more.Rule) {
			more.Rule[i].line = line
		}
	}
	r := &Rules{
		programs: map[string][]*bound{}, effects: map[string][]*effect{},
		known: map[string]bool{}, readers: map[string]bool{}, dangers: map[string]bool{},
		tests: newVocabulary(), reader: reader, hash: hashOf(user),
	}
	if err := r.merge(own, more); err != nil {
		return nil, err
	}
	for i, line := range headers(user, "effect") {
		if i < len(more.Effect) {
			more.Effect[i].line = line
		}
	}
	if err := r.build(grammar, slices.Concat(own.Effect, more.Effect)); err != nil {
		return nil, err
	}
	return r, nil
}

// decode reads TOML of which every key is known.
func decode(text []byte, into any) error {
	d := toml.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok && len(strict.Errors) > 0 {
		line, _ := strict.Errors[0].Position()
		return &RuleError{Line: line, Why: fmt.Sprintf("%q is no key here", strings.Join(strict.Errors[0].Key(), "."))}
	}
	if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ := wrong.Position()
		return &RuleError{Line: line, Why: wrong.Error()}
	}
	return err
}

// headers are the lines of the "[[name]]" in a text that has been decoded.
func headers(text []byte, name string) []int {
	var lines []int
	p := &unstable.Parser{}
	p.Reset(text)
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.ArrayTable {
			continue
		}
		key := e.Key()
		if !key.Next() || string(key.Node().Data) != name || !key.IsLast() {
			continue
		}
		lines = append(lines, p.Shape(key.Node().Raw).Start.Line)
	}
	return lines
}

// merge puts the rules of a user to the built-in ones.
func (r *Rules) merge(own, more ruleFile) error {
	byID := map[string]*rule{}
	for i, one := range slices.Concat(own.Rule, more.Rule) {
		fail := func(why string) error { return &RuleError{Line: one.line, ID: one.ID, Why: why} }
		there := byID[one.ID]
		switch {
		case one.ID == "":
			return fail("has no id")
		case one.Tier == Unclassified:
			return fail("has no tier")
		case there == nil:
			byID[one.ID] = one
			r.all = append(r.all, one)
			continue
		case i < len(own.Rule) || there.line > 0:
			return fail("is there twice")
		case len(one.Match) > 0 || one.Reason != "" || one.Filter || len(one.Unless) > 0 || len(one.Over) > 0 ||
			one.Grant != "" || one.Within != "" || len(one.Examples)+len(one.Counterexamples) > 0 || one.Instead != "":
			return fail("is built in: only its tier can be given")
		case one.Tier < there.Tier:
			return fail(fmt.Sprintf("is %s: a tier may be raised and not lowered to %s", there.Tier, one.Tier))
		}
		there.Tier = one.Tier
	}
	for _, one := range r.all {
		for _, over := range one.Over {
			switch lesser := byID[over]; {
			case lesser == nil:
				return &RuleError{Line: one.line, ID: one.ID, Why: fmt.Sprintf("there is no rule %q to stand over", over)}
			case one.line > 0 && lesser.line == 0:
				return &RuleError{Line: one.line, ID: one.ID, Why: fmt.Sprintf("%s is built in: no added rule can stand over it", over)}
			}
		}
	}
	for _, name := range own.Known {
		r.known[name] = true
	}
	for _, name := range own.Readers {
		r.readers[name] = true
	}
	if len(more.Readers)+len(more.Known) > 0 { // they would lower what such programs do
		return &RuleError{Why: "known and readers are built in"}
	}
	return nil
}

// build makes the tables that are looked things up in.
func (r *Rules) build(file grammarFile, effects []effect) error {
	programs := map[string]*program{}
	for i := range file.Program {
		p := &file.Program[i]
		for _, name := range p.Names {
			if programs[name] != nil {
				return &RuleError{Why: fmt.Sprintf("program %s is there twice", name)}
			}
			programs[name] = &program{Inherit: p.Inherit, Grammar: *clone(&p.Grammar)}
		}
	}
	for _, one := range r.all {
		if err := r.check(one); err != nil {
			return err
		}
		for i := range one.Match {
			m := &one.Match[i]
			if why := foreign(programs, m, one.line > 0); why != "" {
				return &RuleError{Line: one.line, ID: one.ID, Why: why}
			}
			r.bind(one, m, programs)
		}
	}
	for i := range effects {
		e := &effects[i]
		e.match = match{Flags: e.Flags, With: e.With, Without: e.Without, When: e.When, Sure: true}
		e.subs = paths(e.Sub)
		if why := e.wrong(); why != "" {
			return &RuleError{Line: e.line, Why: why}
		}
		if why := r.tests.unknownLine(e.When); why != "" {
			return &RuleError{Line: e.line, Why: why}
		}
		if why := foreign(programs, &match{Program: e.Program, Sub: e.Sub}, e.line > 0); why != "" {
			return &RuleError{Line: e.line, Why: why}
		}
		for _, name := range e.Program {
			r.effects[name] = append(r.effects[name], e)
			node(programs, name, e.subs)
		}
	}
	r.grammars = make(map[string]*argv.Grammar, len(programs))
	for name, p := range programs {
		if p.Inherit {
			inherit(&p.Grammar)
		}
		if err := p.Prepare(); err != nil {
			return &RuleError{Why: fmt.Sprintf("program %s: %v", name, err)}
		}
		r.grammars[name] = &p.Grammar
	}
	return nil
}

// bind puts a rule where it will be looked for.
func (r *Rules) bind(one *rule, m *match, programs map[string]*program) {
	b := &bound{rule: one, match: m, subs: paths(m.Sub)}
	if len(m.Target) > 0 {
		r.targets = append(r.targets, b)
		return
	}
	for _, name := range m.Program {
		r.programs[name] = append(r.programs[name], b)
		if name == "*" {
			continue
		}
		if programs[name] == nil {
			programs[name] = &program{bare: true, added: one.line > 0, Inherit: true, Grammar: argv.Grammar{Options: plainOptions()}}
		}
		node(programs, name, b.subs)
		programs[name].learn(m)
		if one.Tier > Visible {
			r.dangers[name] = true
		}
	}
}

// foreign says what is wrong with the programs within programs that a user's
// rule names: to make a word such a program would hide it, and the options
// after it, from the rules that are built in.
func foreign(programs map[string]*program, m *match, user bool) string {
	for _, name := range m.Program {
		p := programs[name]
		if !user || p == nil || p.added {
			continue
		}
		for _, path := range paths(m.Sub) {
			g := &p.Grammar
			for _, word := range path {
				if g = g.Sub[word]; g == nil {
					return fmt.Sprintf("%s has no %q by the built-in grammar: name it by first or words", name, word)
				}
			}
		}
	}
	return ""
}

// paths are the words of programs within programs.
func paths(subs []string) [][]string {
	all := make([][]string, 0, len(subs))
	for _, s := range subs {
		all = append(all, strings.Fields(s))
	}
	return all
}

// node sees to it that a program knows the programs within it that rules
// name.
func node(programs map[string]*program, name string, subs [][]string) {
	p := programs[name]
	if p == nil {
		p = &program{Inherit: true, Grammar: argv.Grammar{Options: plainOptions()}}
		programs[name] = p
	}
	for _, path := range subs {
		g := &p.Grammar
		for _, word := range path {
			if g.Sub == nil {
				g.Sub = map[string]*argv.Grammar{}
			}
			if g.Sub[word] == nil {
				g.Sub[word] = &argv.Grammar{Exact: g.Exact, Single: g.Single, Leading: g.Leading}
			}
			g = g.Sub[word]
		}
	}
}

// learn makes the options that a rule names ones of a program that has no line
// in the grammar.
func (p *program) learn(m *match) {
	for _, name := range slices.Concat(m.Flags, m.With, m.Without) {
		if p.bare && !slices.ContainsFunc(p.Options, func(line string) bool { return slices.Contains(strings.Split(line, ","), name) }) {
			p.Options = append(p.Options, name)
		}
	}
}

// plainOptions are those of a program that has no line in the grammar.
func plainOptions() []string { return []string{"-h,--help", "--version", "--dry-run"} }

// clone copies a grammar, so that programs that share one can grow apart.
func clone(g *argv.Grammar) *argv.Grammar {
	c := &argv.Grammar{Options: slices.Clone(g.Options), Leading: g.Leading, Exact: g.Exact, Single: g.Single}
	if g.Sub != nil {
		c.Sub = make(map[string]*argv.Grammar, len(g.Sub))
		for name, sub := range g.Sub {
			c.Sub[name] = clone(sub)
		}
	}
	return c
}

// inherit gives the options of a grammar to those below it that have no such
// of their own.
func inherit(g *argv.Grammar) {
	for _, name := range slices.Sorted(maps.Keys(g.Sub)) {
		sub := g.Sub[name]
		taken := map[string]bool{}
		for _, line := range sub.Options {
			for _, n := range strings.Split(strings.TrimRight(line, ":?"), ",") {
				taken[n] = true
			}
		}
		for _, line := range g.Options {
			names := strings.Split(strings.TrimRight(line, ":?"), ",")
			if !slices.ContainsFunc(names, func(n string) bool { return taken[n] }) {
				sub.Options = append(sub.Options, line)
			}
		}
		inherit(sub)
	}
}
