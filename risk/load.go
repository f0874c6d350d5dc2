package risk

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"agentswarm/risk/argv"
	"agentswarm/risk/shell"
)

// Load makes rules from the built-in rules and the rules of a user. A user's
// rules may add rules and raise the tier of a rule by its id, and lower none.
// user may be empty. If it is not, every rule is tried on its examples. Without
// a user's rules the tests of this package have tried them. Load returns an
// error for rules that cannot be read or fail their examples.
func Load(user []byte) (*Rules, error) { return LoadWith(user, nil) }

// LoadWith makes rules as [Load] does, and adds those of a repository. A
// repository's rules only raise tiers: they add rules and verbs, and remove no
// question. For a fault in them LoadWith returns a [*RepositoryError].
func LoadWith(user, repository []byte) (*Rules, error) {
	r, err := loadUnverified(user, repository)
	if err != nil {
		return nil, err
	}
	if len(user)+len(repository) == 0 {
		return r, nil // TestEveryExample holds it
	}
	if err := r.verify(); err != nil {
		return nil, err
	}
	return r, nil
}

// RepositoryError is a fault of the rules of a repository.
type RepositoryError struct{ Err error }

func (e *RepositoryError) Error() string { return e.Err.Error() }

func (e *RepositoryError) Unwrap() error { return e.Err }

// loadUnverified makes rules whose examples have not been tried.
func loadUnverified(user, repository []byte) (*Rules, error) {
	reader, err := shell.NewReader()
	if err != nil {
		return nil, err
	}
	own, grammar, err := builtIn()
	if err != nil {
		return nil, err
	}
	mine, err := readRules(user)
	if err != nil {
		return nil, err
	}
	theirs, err := readRules(repository)
	if err == nil {
		err = theirs.onlyRaises(repository)
	}
	if err != nil {
		return nil, &RepositoryError{err}
	}
	r := &Rules{
		programs: map[string][]*bound{}, effects: map[string][]*effect{}, added: map[string]bool{}, users: map[string]bool{}, foreign: map[string]bool{},
		known: setOf(own.Known), readers: setOf(own.Readers), dangers: map[string]bool{}, thin: setOf(own.Thin), generic: setOf(own.Generic), running: setOf(own.Running),
		tests: newVocabulary(), reader: reader, hash: hashOf(user, repository),
	}
	if r.verbs, err = newVerbs(mine, theirs, user, repository); err != nil {
		return nil, err
	}
	for _, file := range []*ruleFile{&own, mine, theirs} {
		if err := r.merge(file.Rule); err != nil {
			return nil, theirs.blamed(file, err)
		}
	}
	if err := r.build(grammar, slices.Concat(own.Effect, mine.Effect, theirs.Effect)); err != nil {
		return nil, err
	}
	return r, nil
}

// merge puts rules to those that are there already.
func (r *Rules) merge(more []*rule) error {
	byID := make(map[string]*rule, len(r.all)+len(more))
	for _, one := range r.all {
		byID[one.ID] = one
	}
	first := len(r.all)
	for _, one := range more {
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
		case one.line == 0 || slices.Contains(r.all[first:], there):
			return fail("appears twice")
		case len(one.Match) > 0 || one.Reason != "" || one.Filter || len(one.Unless) > 0 || len(one.Over) > 0 ||
			one.Grant != "" || one.Within != "" || len(one.Examples)+len(one.Counterexamples) > 0 || one.Instead != "":
			return fail(there.whose() + ": only its tier can be given")
		case one.Tier < there.Tier:
			return fail(fmt.Sprintf("is %s: a tier may be raised and not lowered to %s", there.Tier, one.Tier))
		}
		there.Tier = one.Tier
	}
	for _, one := range r.all[first:] {
		for _, over := range one.Over {
			switch lesser := byID[over]; {
			case lesser == nil:
				return &RuleError{Line: one.line, ID: one.ID, Why: fmt.Sprintf("there is no rule %q to stand over", over)}
			case one.line > 0 && lesser.line == 0:
				return &RuleError{Line: one.line, ID: one.ID, Why: fmt.Sprintf("%s is built in: no added rule can stand over it", over)}
			}
		}
	}
	return nil
}

// whose says where a rule is from.
func (one *rule) whose() string {
	if one.line > 0 {
		return "is the user's"
	}
	return "is built in"
}

// build makes the tables that are looked things up in.
func (r *Rules) build(file grammarFile, effects []effect) error {
	programs := map[string]*program{}
	for i := range file.Program {
		p := &file.Program[i]
		for _, name := range p.Names {
			if programs[name] != nil {
				return &RuleError{Why: fmt.Sprintf("program %s appears twice", name)}
			}
			programs[name] = &program{Names: p.Names, Inherit: p.Inherit, Grammar: *clone(&p.Grammar)}
		}
	}
	for _, one := range r.all {
		if err := r.bindAll(one, programs); err != nil {
			return one.blamed(err)
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
			if programs[name] == nil && e.line > 0 {
				r.added[name] = true
			}
			r.effects[name] = append(r.effects[name], e)
			node(programs, name, e.subs)
		}
	}
	r.grammars = programs
	return nil
}

// bindAll checks a rule, and puts it where it will be looked for.
func (r *Rules) bindAll(one *rule, programs map[string]*program) error {
	if err := r.check(one); err != nil {
		return err
	}
	switch {
	case one.foreign:
		r.foreign[one.ID] = true
	case one.line > 0:
		r.users[one.ID] = true
	}
	for i := range one.Match {
		m := &one.Match[i]
		if why := foreign(programs, m, one.line > 0); why != "" {
			return &RuleError{Line: one.line, ID: one.ID, Why: why}
		}
		r.bind(one, m, programs)
	}
	return nil
}

// blamed says whose file an error about a rule is about.
func (one *rule) blamed(err error) error {
	if one.foreign {
		return &RepositoryError{err}
	}
	return err
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
		if one.line == 0 || programs[name].added {
			programs[name].learn(m)
		}
		if programs[name].added {
			r.added[name] = true // an added rule does not hide the other effects of the program
		}
		if one.Tier > Visible {
			r.dangers[name] = true
		}
	}
}

// foreign returns the fault of a user's rule that names a subcommand unknown to
// the built-in grammar. As a subcommand, such a word would hide itself and the
// options after it from the built-in rules.
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
		if p.bare && !strings.HasSuffix(name, "*") && !slices.ContainsFunc(p.Options, func(line string) bool { return slices.Contains(strings.Split(line, ","), name) }) {
			p.Options = append(p.Options, name)
		}
	}
}

// plainOptions are those of a program that has no line in the grammar.
func plainOptions() []string { return []string{"-h,--help", "--version", "--dry-run"} }

// clone copies a grammar, so that programs that share a grammar can change
// separately.
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
