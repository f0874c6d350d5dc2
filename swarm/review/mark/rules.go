// Package mark finds edits that a person should read first, and says why: a
// test that is switched off, a file that steers agents or CI, a dependency, a
// symbolic link, a character that is not shown. A mark is no verdict.
//
// The rules are data, in marks.toml, and users can add to them. A rule finds
// words in added or removed lines, or names a check of this package for facts
// that words do not tell. The package calls no git and prints nothing.
package mark

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"agentswarm/swarm/review"
	"agentswarm/swarm/scope"
)

//go:embed marks.toml
var builtIn []byte

// Mark is a reason to read an edit early.
type Mark struct {
	ID     string `json:"id"`
	Weight int    `json:"weight"` // 1 to 9
	Reason string `json:"reason"`
	// Detail is the rule's finding, such as the name of a package; may be
	// empty.
	Detail string `json:"detail,omitempty"`
}

// SpreadLimit is the weight from which a mark keeps verdicts on classes away
// from its file.
const SpreadLimit = 6

// Rules find marks. They do not change and are safe for concurrent use.
type Rules struct {
	all    []*rule
	anchor map[string][]pattern // by one of their words
}

type rule struct {
	ID              string   `toml:"id"`
	Weight          int      `toml:"weight"`
	Reason          string   `toml:"reason"`
	Check           string   `toml:"check"`
	Kinds           []string `toml:"kinds"`
	Languages       []string `toml:"languages"`
	Paths           []string `toml:"paths"`
	Added           []string `toml:"added"`
	Removed         []string `toml:"removed"`
	Text            bool     `toml:"text"`
	Replaces        bool     `toml:"replaces"`
	Unless          []string `toml:"unless"`
	Examples        []string `toml:"examples"`
	Counterexamples []string `toml:"counterexamples"`
}

// pattern is a sequence of words of a rule.
type pattern struct {
	rule    *rule
	words   []string
	at      int // index of the anchor in words
	removed bool
}

// RuleError describes a faulty rule of a user.
type RuleError struct {
	File int    // which of the files that [Load] was given, from 1; 0: a built-in rule
	ID   string // empty: the error is not about a single rule
	Why  string
}

func (e *RuleError) Error() string {
	if e.ID == "" {
		return e.Why
	}
	return fmt.Sprintf("mark %s: %s", e.ID, e.Why)
}

// Load makes rules of the built-in ones and of those in further files, each of
// which may add rules and raise the weight of a rule by its id. None can take a
// mark away. Errors are of type [*RuleError].
func Load(files ...[]byte) (*Rules, error) {
	r := &Rules{anchor: map[string][]pattern{}}
	for i, text := range append([][]byte{builtIn}, files...) {
		if err := r.addFile(text, i > 0); err != nil {
			err.File = i
			return nil, err
		}
	}
	return r, nil
}

// addFile adds the rules of a file. Where they are tried, each is held to its
// examples.
func (r *Rules) addFile(text []byte, try bool) *RuleError {
	var file struct {
		Mark []*rule `toml:"mark"`
	}
	d := toml.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return &RuleError{Why: decodeProblem(err)}
	}
	from := len(r.all)
	for _, more := range file.Mark {
		if err := r.add(more); err != nil {
			return err
		}
	}
	for _, added := range r.all[from:] {
		if err := r.tryExamples(added); try && err != nil {
			return err
		}
	}
	return nil
}

func decodeProblem(err error) string {
	if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok && len(strict.Errors) > 0 {
		line, _ := strict.Errors[0].Position()
		return fmt.Sprintf("line %d: %q is not a key here", line, strings.Join(strict.Errors[0].Key(), "."))
	}
	if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ := wrong.Position()
		return fmt.Sprintf("line %d: %v", line, wrong)
	}
	return err.Error()
}

// add puts a rule to the others, or raises the weight of a rule that is there.
func (r *Rules) add(more *rule) *RuleError {
	fail := func(why string) *RuleError { return &RuleError{ID: more.ID, Why: why} }
	if more.ID == "" {
		return fail("a mark has no id")
	}
	if more.Weight < 1 || more.Weight > 9 {
		return fail("its weight must be from 1 to 9")
	}
	if at := slices.IndexFunc(r.all, func(have *rule) bool { return have.ID == more.ID }); at >= 0 {
		have := r.all[at]
		bare := rule{ID: more.ID, Weight: more.Weight}
		switch {
		case fmt.Sprint(*more) != fmt.Sprint(bare):
			return fail("is there already: only its weight can be given")
		case more.Weight < have.Weight:
			return fail(fmt.Sprintf("has the weight %d, which can be raised and not lowered", have.Weight))
		}
		have.Weight = more.Weight
		return nil
	}
	switch _, known := checks()[more.Check]; {
	case more.Reason == "":
		return fail("has no reason")
	case more.Check != "" && !known:
		return fail(fmt.Sprintf("there is no check %q", more.Check))
	case (more.Check == "") == (len(more.Added)+len(more.Removed) == 0):
		return fail("needs either a check or words that are added or removed")
	}
	if more.Check != "" && (more.Text || more.Replaces || len(more.Unless)+len(more.Examples)+len(more.Counterexamples) > 0) {
		return fail("has a check: text, replaces, unless and examples are for words")
	}
	for _, glob := range more.Paths {
		if err := scope.Validate(glob); err != nil {
			return fail(err.Error())
		}
	}
	for i, text := range append(slices.Clone(more.Added), more.Removed...) {
		p := pattern{rule: more, words: review.Words(text), removed: i >= len(more.Added)}
		if p.at = longest(p.words); len(p.words) == 0 || p.words[p.at] == "*" {
			return fail(fmt.Sprintf("%q holds no words", text))
		}
		key := p.words[p.at]
		r.anchor[key] = append(r.anchor[key], p)
	}
	r.all = append(r.all, more)
	return nil
}

// longest is the index of the longest word of a pattern: the rarest, as a rule.
func longest(words []string) int {
	at := 0
	for i, w := range words {
		if w != "*" && (words[at] == "*" || len(w) > len(words[at])) {
			at = i
		}
	}
	return at
}

// holds reports whether a rule applies to a file.
func (r *rule) holds(kind review.Kind, language, path string) bool {
	return (len(r.Kinds) == 0 || slices.Contains(r.Kinds, string(kind))) &&
		(len(r.Languages) == 0 || slices.Contains(r.Languages, language)) &&
		(len(r.Paths) == 0 || scope.Match(r.Paths, path))
}

// tryExamples checks that a rule marks its examples and not its counterexamples.
func (r *Rules) tryExamples(of *rule) *RuleError {
	if of.Check != "" {
		return nil
	}
	for i, line := range append(slices.Clone(of.Examples), of.Counterexamples...) {
		found := false
		language := ""
		if len(of.Languages) > 0 {
			language = of.Languages[0]
		} else if len(of.Paths) > 0 {
			language = review.Language(of.Paths[0])
		}
		for _, removed := range []bool{false, true} {
			for _, m := range r.matches([]string{line}, language) {
				found = found || m.rule == of && m.removed == removed
			}
		}
		if want := i < len(of.Examples); found != want {
			return &RuleError{ID: of.ID, Why: fmt.Sprintf("of its examples %q is not as it should be", line)}
		}
	}
	return nil
}

// match is a place where the words of a rule stand.
type match struct {
	pattern
	line int
}

// matches finds the words of all rules in lines of a language, wherever their
// rules hold. Each occurrence is a match.
func (r *Rules) matches(lines []string, language string) []match {
	var all []match
	code := codeReader{language: language}
	for n, line := range lines {
		whole := review.Words(line)
		bare := whole
		if plain := code.line(line); plain != line {
			bare = review.Words(plain)
		}
		all = r.appendMatches(all, n, whole, true)
		all = r.appendMatches(all, n, bare, false)
	}
	return all
}

func (r *Rules) appendMatches(all []match, line int, words []string, text bool) []match {
	for i, w := range words {
		for _, p := range r.anchor[w] {
			if p.rule.Text == text && p.stands(words, i-p.at) && !slices.ContainsFunc(p.rule.Unless, func(w string) bool { return slices.Contains(words, w) }) {
				all = append(all, match{p, line})
			}
		}
	}
	return all
}

// stands reports whether the words of a pattern stand at an index.
func (p *pattern) stands(words []string, from int) bool {
	if from < 0 || from+len(p.words) > len(words) {
		return false
	}
	for i, w := range p.words {
		if w != words[from+i] && (w != "*" || !isWord(words[from+i])) {
			return false
		}
	}
	return true
}

func isWord(text string) bool {
	c := text[0]
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
