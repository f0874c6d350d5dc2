package risk

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"sync"

	"agentswarm/risk/argv"
	"agentswarm/risk/shell"
	"agentswarm/risk/verb"
)

//go:embed grammar.toml grammar_more.toml rules.toml rules_vcs.toml rules_system.toml rules_services.toml
var dataFiles embed.FS

// grammarFiles and ruleFiles are the built-in files, in their order.
func grammarFiles() []string { return []string{"grammar.toml", "grammar_more.toml"} }

func ruleFiles() []string {
	return []string{"rules.toml", "rules_vcs.toml", "rules_system.toml", "rules_services.toml"}
}

// Rules judge actions. They do not change once they are loaded, so goroutines
// may share them.
type Rules struct {
	grammars map[string]*program // by the program's name
	programs map[string][]*bound // the rules for a program, in their order
	targets  []*bound            // the rules for files, for any program
	effects  map[string][]*effect
	known    map[string]bool // programs that no rule needs to look at
	readers  map[string]bool // tools of agents that only read
	dangers  map[string]bool // programs that a rule above VISIBLE looks at
	all      []*rule
	generic  map[string]bool // names of programs that are common words
	added    map[string]bool // programs that only added rules look at
	running  map[string]bool // programs with rules that may run another program
	users    map[string]bool // the ids of the rules of a user
	foreign  map[string]bool // the ids of the rules of a repository
	thin     map[string]bool // programs whose rules cover only some of their verbs
	verbs    *verb.Tables    // reads programs without a rule
	tests    vocabulary
	reader   *shell.Reader
	hash     string
}

// rule is an entry of the rule files.
type rule struct {
	ID     string `toml:"id"`
	Tier   Tier   `toml:"tier"`
	Reason string `toml:"reason"`
	// Instead is an action that an agent can take in place of this one.
	Instead string `toml:"instead"`
	// Filter says that the action reaches files that work trees share. It is
	// refused if the place shares them.
	Filter bool    `toml:"filter"`
	Match  []match `toml:"match"` // any of them is enough
	// Unless names tests that take a command line out of the rule. The default
	// is "dry_run" and "help".
	Unless []string `toml:"unless"`
	// Over names less specific rules. If this rule matches, they are left out.
	Over []string `toml:"over"`
	// Grant is the kind of grant that can be for it: push, forge, modify,
	// amend or downgrade.
	Grant string `toml:"grant"`
	// Within says where its effects lie: "processes" for the agent's own,
	// "paths" where its operands say, "targets" where the files it changes
	// are that matched, "changes" where all are that it changes, "tree" for the
	// files of the work tree. Nothing said: elsewhere.
	Within          string   `toml:"within"`
	Examples        []string `toml:"examples"`
	Counterexamples []string `toml:"counterexamples"`

	line    int  // in the text it comes from; 0: it is built in
	foreign bool // it is a repository's
}

// match says which command lines a rule is for. All that it says must hold.
type match struct {
	// Program are names of programs; "*" are those that nothing is known of.
	Program []string `toml:"program"`
	// Sub are programs within the program, as "stash drop".
	Sub []string `toml:"sub"`
	// Flags are options; the line must have any of them. A star at the end
	// stands for any end.
	Flags   []string `toml:"flags"`
	With    []string `toml:"with"`    // and any of these
	Without []string `toml:"without"` // and none of these
	// Sure says that an unknown word does not count as a flag.
	Sure bool `toml:"sure"`
	// First lists the values of the first operand, Words those of any operand.
	First []string `toml:"first"`
	Words []string `toml:"words"`
	// Second lists the values of the second operand.
	Second []string `toml:"second"`
	// Short says that First and Second may be shortened to any beginning.
	Short bool `toml:"short"`
	// Operand lists tests; some operand must pass any of them.
	Operand []string `toml:"operand"`
	// When are tests of the whole line; it must pass all.
	When []string `toml:"when"`
	// Effect and Target are for rules about files. Effect lists the kinds of
	// change (write, append, create, remove), Target the tests; a file must
	// pass any of them.
	Effect []string `toml:"effect"`
	Target []string `toml:"target"`
}

// bound is a rule with its match for a program.
type bound struct {
	*rule
	match *match
	subs  [][]string // match.Sub, in words
}

// effect says which words of a command line are files that it changes.
type effect struct {
	Program []string `toml:"program"`
	Sub     []string `toml:"sub"`
	Flags   []string `toml:"flags"`
	With    []string `toml:"with"`
	Without []string `toml:"without"`
	When    []string `toml:"when"`
	Write   []string `toml:"write"`
	Append  []string `toml:"append"`
	Create  []string `toml:"create"`
	Remove  []string `toml:"remove"`
	// MayWrite and MayRemove are places whose files are not named.
	MayWrite  []string `toml:"may_write"`
	MayRemove []string `toml:"may_remove"`
	// Edit says that a write changes the file in place, and keeps its content.
	Edit bool `toml:"edit"`

	match match
	subs  [][]string
	line  int // in the text of a user; 0: it is built in
}

// ruleFile is the form of the rules.
type ruleFile struct {
	Known   []string `toml:"known"`
	Readers []string `toml:"readers"`
	// Thin are programs whose rules cover only some of their verbs. Where no
	// rule matches, the grammar of verbs reads them.
	Thin []string `toml:"thin"`
	// Generic are names of programs that are common words as well.
	Generic []string `toml:"generic"`
	// Running are programs with rules that may run another program.
	Running []string `toml:"running"`

	Rule   []*rule    `toml:"rule"`
	Effect []effect   `toml:"effect"`
	Verbs  verb.Added `toml:"verbs"`
}

// grammarFile is the form of the grammar, and of the programs that a user
// adds.
type grammarFile struct {
	Program []program `toml:"program"`
}

// program is the grammar of programs that take the same options.
type program struct {
	Names []string `toml:"names"`
	// Inherit gives its options to the programs within it.
	Inherit bool `toml:"inherit"`
	argv.Grammar

	bare  bool // it has no line in the grammar
	added bool // by a rule of a user

	prepare sync.Once
}

// prepared returns the grammar with its tables, which the first call makes: a
// run asks about a few of several hundred programs. The grammars are built in,
// so an option in no known form is a fault of this package.
func (p *program) prepared() *argv.Grammar {
	p.prepare.Do(func() {
		if p.Inherit {
			inherit(&p.Grammar)
		}
		if err := p.Prepare(); err != nil {
			panic(fmt.Sprintf("risk: grammar of %v: %v", p.Names, err))
		}
	})
	return &p.Grammar
}

// RuleError is a rule that cannot stand.
type RuleError struct {
	Line int // in the text it comes from; 0: not known
	ID   string
	Why  string
}

func (e *RuleError) Error() string {
	switch {
	case e.Line > 0 && e.ID != "":
		return fmt.Sprintf("line %d: rule %s: %s", e.Line, e.ID, e.Why)
	case e.Line > 0:
		return fmt.Sprintf("line %d: %s", e.Line, e.Why)
	case e.ID != "":
		return fmt.Sprintf("rule %s: %s", e.ID, e.Why)
	}
	return e.Why
}

// Hash tells these rules from others: it is made of all their text.
func (r *Rules) Hash() string { return r.hash }

// hashOf is the hash of the texts that rules are made of.
func hashOf(user, repository []byte) string {
	h := sha256.New()
	texts := [][]byte{verb.Text(), user, repository}
	for _, name := range slices.Concat(grammarFiles(), ruleFiles()) {
		text, _ := dataFiles.ReadFile(name) // embedded files always can be read
		texts = append(texts, text)
	}
	for _, text := range texts {
		fmt.Fprintf(h, "%d\n", len(text))
		h.Write(text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Programs returns, in order, the names of programs that a rule looks at when
// they run, or that remove files. Other programs are judged only by the files
// they write to.
func (r *Rules) Programs() []string {
	all := map[string]bool{}
	for name := range r.programs {
		all[name] = true
	}
	for name, effects := range r.effects {
		if slices.ContainsFunc(effects, func(e *effect) bool { return len(e.Remove) > 0 }) {
			all[name] = true
		}
	}
	delete(all, "*") // those that nothing is known of
	return slices.Sorted(maps.Keys(all))
}
