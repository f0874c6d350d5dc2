package risk

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"agentswarm/risk/verb"
)

// newVerbs makes the tables of verbs with the words that are added.
func newVerbs(mine, theirs *ruleFile, user, repository []byte) (*verb.Tables, error) {
	if _, err := verb.New(&mine.Verbs); err != nil {
		return nil, &RuleError{Line: firstLine(user, "verbs"), Why: err.Error()}
	}
	all, err := verb.New(&mine.Verbs, &theirs.Verbs)
	if err != nil {
		return nil, &RepositoryError{&RuleError{Line: firstLine(repository, "verbs"), Why: err.Error()}}
	}
	return all, nil
}

func setOf(words []string) map[string]bool {
	all := make(map[string]bool, len(words))
	for _, w := range words {
		all[w] = true
	}
	return all
}

// readRules reads the rules of a user or of a repository.
func readRules(text []byte) (*ruleFile, error) {
	file := &ruleFile{}
	if err := decode(text, file); err != nil {
		return file, err
	}
	for _, one := range file.Rule {
		one.line = 1 // of an inline array; never that of a built-in rule
	}
	for i := range file.Effect {
		file.Effect[i].line = 1
	}
	for i, line := range headers(text, "rule") {
		if i < len(file.Rule) {
			file.Rule[i].line = line
		}
	}
	for i, line := range headers(text, "effect") {
		if i < len(file.Effect) {
			file.Effect[i].line = line
		}
	}
	if len(file.Readers)+len(file.Known)+len(file.Thin)+len(file.Generic)+len(file.Running) > 0 { // they would lower the tiers of such programs
		return file, &RuleError{Why: "known, readers, thin, generic and running are built in"}
	}
	return file, nil
}

// onlyRaises marks rules as those of a repository. Its error is a part that
// would take a question away.
func (file *ruleFile) onlyRaises(text []byte) error {
	if key := file.Verbs.Lowers(); key != "" {
		return &RuleError{Line: firstLine(text, "verbs"), Why: fmt.Sprintf("verbs.%s lowers tiers: that is for the user's own file", key)}
	}
	for _, one := range file.Rule {
		one.foreign = true
		if len(one.Over) > 0 {
			return &RuleError{Line: one.line, ID: one.ID, Why: "over lowers tiers: that is for the user's own file"}
		}
	}
	return nil
}

// blamed says whose file an error is about.
func (file *ruleFile) blamed(of *ruleFile, err error) error {
	if file == of {
		return &RepositoryError{err}
	}
	return err
}

// builtIn reads the rules and the grammar that are built in.
func builtIn() (rules ruleFile, grammar grammarFile, err error) {
	for _, name := range ruleFiles() {
		var one ruleFile
		if err := readBuiltIn(name, &one); err != nil {
			return rules, grammar, err
		}
		rules.Known, rules.Readers, rules.Thin = append(rules.Known, one.Known...), append(rules.Readers, one.Readers...), append(rules.Thin, one.Thin...)
		rules.Generic, rules.Running = append(rules.Generic, one.Generic...), append(rules.Running, one.Running...)
		rules.Rule, rules.Effect = append(rules.Rule, one.Rule...), append(rules.Effect, one.Effect...)
	}
	for _, name := range grammarFiles() {
		var one grammarFile
		if err := readBuiltIn(name, &one); err != nil {
			return rules, grammar, err
		}
		grammar.Program = append(grammar.Program, one.Program...)
	}
	return rules, grammar, nil
}

func readBuiltIn(name string, into any) error {
	text, err := dataFiles.ReadFile(name)
	if err == nil {
		err = decode(text, into)
	}
	if err != nil {
		return fmt.Errorf("built-in %s: %w", name, err)
	}
	return nil
}

// decode reads TOML of which every key is known.
func decode(text []byte, into any) error {
	d := toml.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok && len(strict.Errors) > 0 {
		line, _ := strict.Errors[0].Position()
		return &RuleError{Line: line, Why: fmt.Sprintf("%q is not a key here", strings.Join(strict.Errors[0].Key(), "."))}
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

// firstLine is the line of the table "[name]" in a text that has been decoded;
// 0: there is none.
func firstLine(text []byte, name string) int {
	p := &unstable.Parser{}
	p.Reset(text)
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.Table {
			continue
		}
		if key := e.Key(); key.Next() && string(key.Node().Data) == name {
			return p.Shape(key.Node().Raw).Start.Line
		}
	}
	return 0
}
