package task

import (
	"fmt"
	"slices"
)

// Verdict is what somebody thinks of an agent's work. The zero value is that
// nobody has said.
type Verdict string

// The verdicts.
const (
	Accepted Verdict = "accepted" // merge takes it, whatever its check said
	Rejected Verdict = "rejected" // merge leaves it out
)

// UnmarshalText refuses a word that is none.
func (v *Verdict) UnmarshalText(text []byte) error {
	return oneOf(v, text, "verdict", Accepted, Rejected)
}

// Span is how long an answer to a question holds. The zero value is once.
type Span string

// The spans of answers.
const (
	Once      Span = "once" // for this question
	ForTheRun Span = "run"  // for the same action of any agent of the run
)

// UnmarshalText refuses a word that is none.
func (s *Span) UnmarshalText(text []byte) error {
	return oneOf(s, text, "span", Once, ForTheRun)
}

// By is who answered a question. The zero value is nobody.
type By string

// Who may answer.
const (
	ByPerson By = "person"
	ByRule   By = "rule"   // an earlier answer that holds for the run
	ByPolicy By = "policy" // nobody could be asked
	ByEnd    By = "end"    // the agent ended first
	ByScript By = "script" // the onTool of its call, which can only deny
	ByRisk   By = "risk"   // what it would do is refused, or granted, without a question
	ByTime   By = "time"   // nobody answered in time
)

// UnmarshalText refuses a word that is none.
func (b *By) UnmarshalText(text []byte) error {
	return oneOf(b, text, "answerer", ByPerson, ByRule, ByPolicy, ByEnd, ByScript, ByRisk, ByTime)
}

// oneOf reads a word of a closed set.
func oneOf[W ~string](into *W, text []byte, what string, set ...W) error {
	if w := W(text); slices.Contains(set, w) {
		*into = w
		return nil
	}
	return fmt.Errorf("unknown %s %q", what, text)
}
